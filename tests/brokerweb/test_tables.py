"""A table to take away says the same in each of its forms, and nothing that a spreadsheet would carry out."""

from __future__ import annotations

import csv
import io
import json

import pyarrow.parquet as pq
import pytest

from brokerweb.kit.tables import FORMS, Table, written
from overlay.core.errors import InvalidSetting

TABLE = Table(
    ["label", "p95_us", "payload", "replicas", "held"],
    [["ring", 1, 64, [1, 2], True], ["=cmd()", 1.25, "varied", [], None], ["mesh", None, None, None, False]],
)


def test_every_form_has_all_rows_in_full_precision() -> None:
    assert json.loads(written(TABLE, "json")) == TABLE.objects()
    rows = list(csv.reader(io.StringIO(written(TABLE, "csv").decode())))
    assert rows == [
        ["label", "p95_us", "payload", "replicas", "held"],
        ["ring", "1", "64", "1 2", "True"],
        ["'=cmd()", "1.25", "varied", "", ""],
        ["mesh", "", "", "", "False"],
    ]
    table = pq.read_table(io.BytesIO(written(TABLE, "parquet")))
    assert table.column("label").to_pylist() == ["ring", "=cmd()", "mesh"]
    assert table.column("p95_us").to_pylist() == [1.0, 1.25, None]
    assert table.column("payload").to_pylist() == ["64", "varied", None], "a number here and a word there is text"
    assert table.column("replicas").to_pylist() == [[1, 2], [], None]


def test_a_table_without_rows_has_its_heads() -> None:
    empty = Table(["run", "p95_us"], [])
    assert written(empty, "csv") == b"run,p95_us\r\n"
    assert json.loads(written(empty, "json")) == []
    assert pq.read_table(io.BytesIO(written(empty, "parquet"))).column_names == ["run", "p95_us"]


def test_another_form_is_refused_by_name() -> None:
    with pytest.raises(InvalidSetting, match="must be csv, json, parquet, not 'pdf'"):
        written(TABLE, "pdf")
    assert list(FORMS.values()) == ["CSV", "JSON", "Parquet"]
