"""The one writer and reader of facts: an append-only file per process, framed and checksummed.

Counterparts: ``overlay.journal.facts`` defines what is written; ``telemetry`` reads it; ``overlay.journal.frames`` is
how it lies in the file. The body of a frame is::

    msgpack [kind, field, field, ...]

A reader takes what is whole and says how many bytes were not. Fields are positional: a newer writer may append fields
with defaults, never reorder them. There are fewer than 15, so that an array's head is one byte and the kind the next: a
reader passes over the kinds that it does not want.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import MISSING, fields
from operator import attrgetter
from pathlib import Path
from typing import Any
from zlib import crc32

import msgpack

from overlay.journal.facts import KINDS, Fact, Start
from overlay.journal.frames import HEAD, MAX_FRAME_BYTES, write_out

_KIND_OF = {kind: index for index, kind in enumerate(KINDS)}
_VALUES_OF = {kind: attrgetter(*(field.name for field in fields(kind))) for kind in KINDS}
_FIELDS = {
    index: (len(fields(kind)), [field.default for field in fields(kind) if field.default is not MISSING])
    for index, kind in enumerate(KINDS)
}
"""By kind, how many fields a fact has, and the defaults of the last of them."""
assert all(count < 15 for count, _ in _FIELDS.values())

CHUNK_BYTES = 1 << 20
"""So much of a journal is read at once."""

BUFFER_BYTES = 1 << 18
"""Unflushed facts go to the file beyond this, so that a burst between two flushes cannot fill the memory."""


class JournalWriter:
    """Appends facts to ``path``, beginning with ``start``. A full disk surfaces as ``OSError`` from ``flush``."""

    def __init__(self, path: Path, start: Start | None = None) -> None:
        """Without ``start`` the file is not opened before ``begin``: who is to be forked has no process id yet."""
        path.parent.mkdir(parents=True, exist_ok=True)
        _cut_torn_end(path)
        self._path = str(path)
        self._file: int | None = None
        self._buffer = bytearray()
        self._pack = msgpack.Packer(autoreset=True).pack
        if start is not None:
            self.begin(start)

    def begin(self, start: Start) -> None:
        # Straight to the system: what flush() wrote is the kernel's, and survives this process.
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            self.write(start)
            self.flush()
        except OSError:
            self.abandon()
            raise

    def write(self, fact: Fact) -> None:
        """Queue one fact for the next flush."""
        kind = type(fact)
        body = self._pack((_KIND_OF[kind], *_VALUES_OF[kind](fact)))
        self._buffer += HEAD.pack(len(body), crc32(body))
        self._buffer += body
        if len(self._buffer) >= BUFFER_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand everything queued to the kernel."""
        if self._buffer:
            assert self._file is not None, "it was closed, or has not begun"
            write_out(self._file, self._buffer, self._path)

    def close(self) -> None:
        """Flush and close; writing afterwards is an error of ours."""
        try:
            self.flush()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close without what is queued; the next writer of this path cuts off half a frame that may stand there."""
        self._buffer.clear()
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _cut_torn_end(path: Path) -> None:
    """A restarted process goes on with the journal of its predecessor; behind a torn frame nobody could read it."""
    if not path.exists():
        return
    journal = Journal(path, kinds=[Start])
    for _ in journal:
        pass
    if journal.bad_bytes:
        os.truncate(path, journal.offset)


class Journal:
    """Iterates over the whole facts of ``path`` from ``offset``; ``offset`` follows to the end of the last one read.

    With ``kinds``, over the facts of these only. The others are passed over with their checksums looked at, at a tenth
    of what reading them costs.
    """

    def __init__(self, path: Path, offset: int = 0, kinds: Collection[type] = ()) -> None:
        self.path = path
        self.offset = offset
        self.bad_bytes = 0
        """Bytes at the end that are no whole frame, once iteration has ended."""
        self.is_damaged = False
        """Whether those bytes are wrong, rather than merely the beginning of a frame."""
        self._kinds = frozenset(_KIND_OF[kind] for kind in kinds)

    def __iter__(self) -> Iterator[Fact]:
        for kind, values in self.rows():
            yield KINDS[kind](*values)

    def rows(self) -> Iterator[tuple[int, list[Any]]]:
        """The same as ``(index in KINDS, all field values)``: most of reading a million facts is making objects."""
        self.is_damaged = False
        with self.path.open("rb") as file:
            file.seek(self.offset)
            kept = b""
            while not self.is_damaged and (read := file.read(CHUNK_BYTES)):
                kept += read
                began = self.offset
                yield from self._rows_in(kept)
                kept = kept[self.offset - began :]
            self.bad_bytes = file.seek(0, os.SEEK_END) - self.offset

    def _rows_in(self, data: bytes) -> Iterator[tuple[int, list[Any]]]:
        """The rows of ``data``, which begins at ``offset``, as far as frames are whole."""
        base, at, size, wanted = self.offset, 0, len(data), self._kinds
        while at + HEAD.size <= size:
            length, checksum = HEAD.unpack_from(data, at)
            end = at + HEAD.size + length
            if length <= MAX_FRAME_BYTES and end > size:
                return
            body = data[at + HEAD.size : end]
            if not 0 < length <= MAX_FRAME_BYTES or crc32(body) != checksum:
                self.is_damaged = True
                return
            if not wanted or (length > 1 and body[1] in wanted):
                row = _decode(body)
                if row is None:
                    self.is_damaged = True
                    return
                self.offset = base + end
                yield row
            at = end
            self.offset = base + end


def read_journal(path: Path) -> Journal:
    """Every whole fact of ``path``; afterwards its ``bad_bytes`` says how long a torn or damaged end was left out."""
    return Journal(path)


class JournalTail:
    """Reads a journal while it grows. A frame that is not whole yet is left for the next call."""

    def __init__(self, path: Path, kinds: Collection[type] = ()) -> None:
        self._journal = Journal(path, kinds=kinds)

    def read_new(self) -> list[Fact]:
        """The facts that were flushed since the last call; none while the file does not exist."""
        try:
            return list(self._journal)
        except FileNotFoundError:
            return []

    @property
    def bad_bytes(self) -> int:
        """Bytes given up because they are no frame; nothing behind them can be read."""
        return self._journal.bad_bytes if self._journal.is_damaged else 0


def _decode(body: bytes) -> tuple[int, list[Any]] | None:
    try:
        kind, *values = msgpack.unpackb(body)
        count, defaults = _FIELDS[kind]
    except (ValueError, TypeError, KeyError, msgpack.UnpackException):
        return None  # the checksum is right and the content is not ours: damage all the same
    if len(values) != count:
        if not 0 < count - len(values) <= len(defaults):
            return None
        values += defaults[len(values) - count :]
    return kind, values
