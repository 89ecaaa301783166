"""Table exports: rows of plain values as CSV, JSON or Parquet, with units in the column names.

Used for every table of pages: runs, comparisons, configurations of experiments and reports, queries and brokers of
runs.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.http import HttpResponse

from brokerweb.kit.spreadsheets import harmless
from overlay.core.errors import InvalidSetting

CSV, JSON, PARQUET = "csv", "json", "parquet"
CONTENT_TYPES: Mapping[str, str] = {
    CSV: "text/csv; charset=utf-8",
    JSON: "application/json",
    PARQUET: "application/vnd.apache.parquet",
}
FORMS: Mapping[str, str] = {CSV: "CSV", JSON: "JSON", PARQUET: "Parquet"}
"""Format names on pages."""


@dataclass(frozen=True, slots=True)
class Table:
    """Column names, and one list of values per row in full precision; ``None`` if not measured."""

    names: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def objects(self) -> list[dict[str, Any]]:
        """One object per row."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]


def written(table: Table, form: str) -> bytes:
    """The table as a file. Raises ``InvalidSetting``."""
    return {CSV: _csv, JSON: _json, PARQUET: _parquet}[checked(form)](table)


def download(content: bytes, form: str, name: str) -> HttpResponse:
    """The file as a download, named ``name`` plus the format's extension."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    if form == PARQUET:
        headers["Content-Encoding"] = "identity"  # already compressed
    return HttpResponse(content, content_type=CONTENT_TYPES[form], headers=headers)


def checked(form: str) -> str:
    """Raises ``InvalidSetting`` for an unknown format."""
    if form not in CONTENT_TYPES:
        raise InvalidSetting("format", f"must be {', '.join(CONTENT_TYPES)}, not {form!r:.40}")
    return form


def _csv(table: Table) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(table.names)
    writer.writerows([[harmless(_in_a_cell(value)) for value in row] for row in table.rows])
    return file.getvalue().encode()


def _in_a_cell(value: Any) -> Any:
    """Several values in one cell are separated by spaces."""
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _json(table: Table) -> bytes:
    return json.dumps(table.objects(), ensure_ascii=False, indent=1).encode()


def _parquet(table: Table) -> bytes:
    arrays = [_column([row[at] for row in table.rows]) for at in range(len(table.names))]
    file = io.BytesIO()
    pq.write_table(pa.table(arrays, names=list(table.names)), file, compression="zstd")
    return file.getvalue()


def _column(values: Sequence[Any]) -> pa.Array:
    """A column of one type: floats if some numbers are fractions, strings if types are mixed."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return pa.array([None if value is None else float(value) for value in values])
    if len(kinds) > 1:
        return pa.array([None if value is None else str(value) for value in values])
    return pa.array(values)
