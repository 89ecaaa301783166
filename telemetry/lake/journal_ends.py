"""Reads the newest facts of a journal without reading all of it.

Counterpart: ``overlay.journal.journal`` reads from the start of a frame; this module finds one near the end. The start
of a frame is not marked, so it is recognised by a length and a checksum that match the following bytes.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any
from zlib import crc32

from overlay.journal.frames import HEAD, MAX_FRAME_BYTES
from overlay.journal.journal import Journal

SEARCHED = 1 << 17
"""Maximum bytes searched for a frame, much more than the longest frame that processes write."""


def near_end(path: Path, most_bytes: int) -> int:
    """The start of a complete frame, at most ``most_bytes`` before the end; the end itself if none is found."""
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
    """Reads a growing journal, starting near its end."""

    def __init__(self, path: Path, kinds: Collection[type], most_bytes: int) -> None:
        self._path = path
        self._kinds = kinds
        self._most_bytes = most_bytes
        self._journal: Journal | None = None

    def read_new(self) -> list[Any]:
        """The facts flushed since the last call; none if the file does not exist yet."""
        try:
            if self._journal is None:
                self._journal = Journal(self._path, near_end(self._path, self._most_bytes), self._kinds)
            return list(self._journal)
        except FileNotFoundError:
            return []

    @property
    def bad_bytes(self) -> int:
        """Damaged bytes; nothing after them can be read."""
        return self._journal.bad_bytes if self._journal is not None and self._journal.is_damaged else 0
