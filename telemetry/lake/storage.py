"""Files that are whole or absent: written beside their place, flushed to the disk, then renamed over it."""

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
    """A binary file that appears at ``path`` only once the block ended well. Raises ``StorageError``.

    The temporary name ends in the process id, so that two writers of one file end with one whole version of it.
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
        error.filename = str(path)  # not the temporary one, nor none
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
    """``value`` as indented JSON. A NaN is a mistake of ours (see ``plain``) and raises ``ValueError``."""
    text = json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False)
    with whole_file(path) as file:
        file.write(text.encode() + b"\n")


def plain(value: Any) -> Any:
    """``value`` with numpy's scalars and arrays as Python's own, and NaN and infinities as ``None``."""
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
