"""Reads the rows of a run from its Parquet files in batches, with bounded memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from brokerweb.kit.spreadsheets import harmless
from telemetry.lake.parquet import batches, column_names, row_count
from telemetry.lake.runs import Lake

BATCH = 4_096


def parquet_path(run: Run) -> Path | None:
    """The Parquet file of its samples; exists once the run is collected."""
    path = Lake(settings.LAKE).part("samples", run.pk)
    return path if path.is_file() else None


def tables(run: Run) -> dict[str, Path]:
    """The Parquet files of a collected run by table, those of its system's own tables included."""
    lake = Lake(settings.LAKE)
    paths = {name: lake.part(name, run.pk) for name in lake.tables_of(run.pk)}
    return {name: path for name, path in paths.items() if path.is_file()}


def count(path: Path) -> int:
    """Number of rows in a file. Raises ``StorageError`` if it is damaged, as everything that reads it."""
    return row_count(path)


def rows(path: Path, offset: int = 0, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """Rows in file order. Batches before ``offset`` are read but not converted."""
    left = count(path) - offset if limit is None else limit
    for batch in batches(path, BATCH):
        if left <= 0:
            return
        if offset >= batch.num_rows:
            offset -= batch.num_rows
            continue
        chosen = batch.slice(offset, left).to_pylist()
        offset, left = 0, left - len(chosen)
        yield from chosen


def csv_lines(path: Path) -> Iterator[bytes]:
    """CSV with a header line, one batch at a time."""
    yield _csv([column_names(path)])
    for batch in batches(path, BATCH):
        yield _csv([[harmless(value) for value in row.values()] for row in batch.to_pylist()])


def _csv(lines: list[list[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    return text.getvalue().encode()
