"""A list of runs to take away: the columns on the screen in its order, units in their names, in full precision."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.db.models import QuerySet

from brokerweb.experiments.models import Run
from brokerweb.runlist import columns
from brokerweb.runlist.columns import Column, Read
from brokerweb.spreadsheets import harmless
from overlay.errors import InvalidSetting

CSV, JSON, PARQUET = "csv", "json", "parquet"
CONTENT_TYPES: Mapping[str, str] = {
    CSV: "text/csv; charset=utf-8",
    JSON: "application/json",
    PARQUET: "application/vnd.apache.parquet",
}
MOST_ROWS = 10_000

_FIRST: tuple[tuple[str, Read], ...] = (
    ("run", lambda run: str(run.pk)),
    ("experiment", lambda run: run.experiment.name),
    ("engine", lambda run: str(run.engine)),
)
"""What tells a row from the others, whatever the columns."""


def exported(rows: QuerySet[Run], chosen: Sequence[Column], form: str) -> bytes:
    """``rows`` as a file of ``form``. Raises ``InvalidSetting``."""
    if form not in CONTENT_TYPES:
        raise InvalidSetting("format", f"must be {', '.join(CONTENT_TYPES)}, not {form!r:.40}")
    count = rows.count()
    if count > MOST_ROWS:
        raise InvalidSetting("q", f"chooses {count:,} runs; a file holds at most {MOST_ROWS:,}: narrow the filter")
    names, table = rows_of(rows, chosen)
    return {CSV: _csv, JSON: _json, PARQUET: _parquet}[form](names, table)


def rows_of(rows: QuerySet[Run], chosen: Sequence[Column]) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns, and a list of values for each run."""
    reads = list(_FIRST)
    for column in chosen:
        reads += [(name, read) for name, read in column.exported if name not in [known for known, _ in reads]]
    found = columns.reading(rows, chosen)
    return [name for name, _ in reads], [[read(run) for _, read in reads] for run in found]


def _csv(names: list[str], table: list[list[Any]]) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(names)
    writer.writerows([[harmless(value) for value in row] for row in table])
    return file.getvalue().encode()


def as_json(names: list[str], table: list[list[Any]]) -> list[dict[str, Any]]:
    """An object for each run."""
    return [dict(zip(names, row, strict=True)) for row in table]


def _json(names: list[str], table: list[list[Any]]) -> bytes:
    return json.dumps(as_json(names, table), ensure_ascii=False, indent=1).encode()


def _parquet(names: list[str], table: list[list[Any]]) -> bytes:
    arrays = [_array([row[index] for row in table]) for index in range(len(names))]
    file = io.BytesIO()
    pq.write_table(pa.table(arrays, names=names), file)
    return file.getvalue()


def _array(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a setting that one run says as a word and another as a number
        return pa.array([None if value is None else str(value) for value in values])
