"""The messages of a run, a row each, of systems that list them: written when it is collected, ``traces.parquet``.

Every schema has ``id``; the other columns are the system's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from telemetry.lake.records import own_table
from telemetry.lake.runs import Lake, RunFiles
from telemetry.lake.storage import whole_file


def write(rows: pa.Table, files: RunFiles) -> None:
    """Raises ``StorageError`` and leaves no partial file."""
    with whole_file(files.traces_path) as file:
        pq.write_table(rows, file, compression="zstd")


def read(files: RunFiles, columns: Sequence[str] | None = None) -> pa.Table | None:
    """``None`` before the run is collected."""
    if not files.traces_path.is_file():
        return None
    return pq.read_table(files.traces_path, partitioning=None, columns=None if columns is None else [*columns])


def find(files: RunFiles, message: str) -> dict[str, Any] | None:
    """The row of one message."""
    if not files.traces_path.is_file():
        return None
    rows: list[dict[str, Any]]
    rows = pq.read_table(files.traces_path, partitioning=None, filters=[("id", "=", message)]).to_pylist()
    return rows[0] if rows else None


def own_rows(lake: Lake, run: str, system: str, table: str, filters: list[Any]) -> list[dict[str, Any]]:
    """Of a table that only one system has; none if it was not written."""
    path = lake.part(own_table(system, table), run)
    return list(pq.read_table(path, partitioning=None, filters=filters).to_pylist()) if path.is_file() else []
