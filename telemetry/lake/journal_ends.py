"""The newest facts of a journal without its beginning: looking at what goes on must not cost all that ever was.

Counterpart: ``overlay.journal.journal`` reads from a frame's beginning; here one is found near the end. Nothing marks
where frames begin, so a place counts as one where a length and a checksum agree with what follows.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any
from zlib import crc32

from overlay.journal.frames import HEAD, MAX_FRAME_BYTES
from overlay.journal.journal import Journal

SEARCHED = 1 << 17
"""So many bytes are searched for a frame at most; the longest that processes write are far below."""


def near_end(path: Path, most_bytes: int) -> int:
    """Where a whole frame begins, ``most_bytes`` before the end or later; the end itself where none is found."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size <= most_bytes:
            return 0
        begin = size - most_bytes
        file.seek(begin)
        data = file.read(min(most_bytes, SEARCHED))
    for at in range(len(data) - HEAD.size):
        length, checksum = HEAD.unpack_from(data, at)
        body = at + HEAD.size
        if 0 < length <= min(MAX_FRAME_BYTES, len(data) - body) and crc32(data[body : body + length]) == checksum:
            return begin + at
    return size


class EndTail:
    """Reads a journal while it grows, beginning near the end that it has at the first look."""

    def __init__(self, path: Path, kinds: Collection[type], most_bytes: int) -> None:
        self._path = path
        self._kinds = kinds
        self._most_bytes = most_bytes
        self._journal: Journal | None = None

    def read_new(self) -> list[Any]:
        """The facts that were flushed since the last call; none while the file does not exist."""
        try:
            if self._journal is None:
                self._journal = Journal(self._path, near_end(self._path, self._most_bytes), self._kinds)
            return list(self._journal)
        except FileNotFoundError:
            return []

    @property
    def bad_bytes(self) -> int:
        """Bytes given up because they are no frame; nothing behind them can be read."""
        return self._journal.bad_bytes if self._journal is not None and self._journal.is_damaged else 0
