"""Opens the Parquet files of runs. A file that is damaged, for example cut by a full disk, raises ``StorageError``.

All readers of stored files outside Spark use this module, so that people get a sentence with the file and what to do,
and not Arrow's words about bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from telemetry.errors import StorageError

MAGIC = b"PAR1"
"""The first and last bytes of a complete file."""
WHAT_TO_DO = "Its data cannot be restored: rerun the run with the same seed, or delete its experiment."


def read_table(path: Path, columns: Sequence[str] | None = None, filters: Any = None) -> pa.Table:
    """The rows of one file, as ``pyarrow.parquet.read_table``. Raises ``StorageError``."""
    with reading(path):
        return pq.read_table(path, partitioning=None, columns=columns, filters=filters)


def column_names(path: Path) -> list[str]:
    """The names of its columns. Raises ``StorageError``."""
    with reading(path):
        return list(pq.read_schema(path).names)


def row_count(path: Path) -> int:
    """Number of rows, from the end of the file. Raises ``StorageError``."""
    with reading(path):
        return int(pq.read_metadata(path).num_rows)


def batches(path: Path, batch_size: int) -> Iterator[pa.RecordBatch]:
    """The rows in file order, with one batch in memory. Raises ``StorageError``."""
    with reading(path), pq.ParquetFile(path) as file:
        yield from file.iter_batches(batch_size=batch_size)


def check_complete(paths: Iterable[Path]) -> None:
    """Raises ``StorageError`` that names every file whose end cannot be read. The rows are not read."""
    sentences = []
    for path in paths:
        try:
            row_count(path)
        except StorageError as error:
            sentences.append(str(error))
    if sentences:
        raise StorageError(" ".join(sentences))


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise ``StorageError`` for what Arrow raises inside the block about the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise StorageError(f"The file {path} was deleted meanwhile. Reload the page.") from error
    except PermissionError as error:
        raise StorageError(f"The file {path} cannot be read: {error.strerror}.") from error
    except (pa.ArrowException, OSError) as error:  # Arrow raises OSError for damaged pages, too
        raise StorageError(f"The file {path} is damaged: {_what_is_wrong(path, error)}. {WHAT_TO_DO}") from error


def _what_is_wrong(path: Path, error: Exception) -> str:
    if not _has_end(path):
        return "its end is missing, as after a full disk or a crash"
    return str(error).strip().partition("\n")[0][:200].rstrip(".") or type(error).__name__


def _has_end(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            length = file.seek(0, os.SEEK_END)
            file.seek(max(0, length - len(MAGIC)))
            return file.read() == MAGIC
    except OSError:
        return True
