"""Files of the lake that a full disk or a crash has cut."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from telemetry.errors import StorageError
from telemetry.lake import parquet
from telemetry.lake.configurations import choose
from telemetry.lake.runs import Lake
from telemetry.spark.report import write_comparison

READERS: dict[str, Callable[[Path], Any]] = {
    "rows": parquet.read_table,
    "columns": parquet.column_names,
    "count": parquet.row_count,
    "batches": lambda path: list(parquet.batches(path, 10)),
    "check": lambda path: parquet.check_complete([path]),
}
IS_CUT = "is damaged: its end is missing, as after a full disk or a crash. Its data cannot be restored: rerun the run"


def written(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"n": range(1_000), "name": [f"broker {n}" for n in range(1_000)]}), path)
    return path


def cut(path: Path, share: float = 0.5) -> Path:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    return path


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999])
def test_a_file_that_was_cut_is_named_with_what_to_do(reader: str, share: float, tmp_path: Path) -> None:
    path = cut(written(tmp_path / "part-0.parquet"), share)
    with pytest.raises(StorageError, match=f"{re.escape(str(path))} {IS_CUT}"):
        READERS[reader](path)


def test_a_file_that_is_damaged_inside_is_named_too(tmp_path: Path) -> None:
    path = written(tmp_path / "part-0.parquet")
    data = bytearray(path.read_bytes())
    data[4:200] = bytes(196)
    path.write_bytes(data)
    with pytest.raises(StorageError, match=f"{re.escape(str(path))} is damaged: .+ Its data cannot"):
        parquet.read_table(path)


def test_a_file_that_is_gone_is_not_called_damaged(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"was deleted meanwhile"):
        parquet.row_count(tmp_path / "part-0.parquet")


def test_a_complete_file_is_read_by_all(tmp_path: Path) -> None:
    path = written(tmp_path / "part-0.parquet")
    assert parquet.column_names(path) == ["n", "name"]
    assert parquet.row_count(path) == 1_000 == sum(batch.num_rows for batch in parquet.batches(path, 64))
    assert parquet.read_table(path, ["n"], [("n", "<", 3)]).to_pydict() == {"n": [0, 1, 2]}


def test_a_report_names_every_damaged_file_before_spark_starts(tmp_path: Path) -> None:
    lake, said = Lake(tmp_path / "lake"), list[str]()
    runs = [choose({"run": run}, {"seed": run}) for run in ("r1", "r2", "r3")]
    for run in runs:
        for table in ("samples", "ticks"):
            written(lake.part(table, run.run))
    damaged = [cut(lake.part("samples", "r1")), cut(lake.part("ticks", "r3"))]
    with pytest.raises(StorageError) as raised:
        write_comparison(runs, lake, tmp_path / "out", title="", now=datetime.now(UTC), var=tmp_path, say=said.append)
    assert [str(path) in str(raised.value) for path in damaged] == [True, True]
    assert not said, "Spark was started"
    assert not (tmp_path / "out").exists()
