"""Atomic files: written under a temporary name, flushed to the disk, then renamed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from overlay.core.errors import describe_os_error
from telemetry.errors import StorageError


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that appears at ``path`` only if the block succeeds. Raises ``StorageError``.

    The temporary name ends in the process id, so with two writers the file is one complete version.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _flush_directory(path.parent)
    except OSError as error:
        error.filename = str(path)  # instead of the temporary name or none
        raise StorageError(describe_os_error(error)) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _flush_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as indented JSON. A NaN is a bug (see ``plain``) and raises ``ValueError``."""
    text = json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False)
    with whole_file(path) as file:
        file.write(text.encode() + b"\n")


def plain(value: Any) -> Any:
    """``value`` with numpy's scalars and arrays converted to Python's, and NaN and infinities to ``None``."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    to_python: Callable[[], Any] | None = getattr(value, "tolist", None)
    if to_python is not None:
        return plain(to_python())
    if isinstance(value, float) and not (float("-inf") < value < float("inf")):
        return None
    return value
