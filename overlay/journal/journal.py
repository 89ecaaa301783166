"""The writer and the reader of facts: an append-only file per process, with checksums.

Counterparts: ``overlay.journal.facts`` defines the facts; ``telemetry`` reads them; ``overlay.journal.frames`` defines
the file format. The body of a frame is::

    msgpack [kind, field, field, ...]

Readers return all complete frames and report the number of other bytes. Fields are positional: newer versions may
append fields with defaults, but never reorder them. There are fewer than 15, so the head of the array is one byte and
the kind is the next one. Readers can thus skip unwanted kinds.
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
"""By kind: the number of fields of a fact, and the defaults of the last fields."""
assert all(count < 15 for count, _ in _FIELDS.values())

CHUNK_BYTES = 1 << 20
"""Bytes of a journal read at once."""

BUFFER_BYTES = 1 << 18
"""Above this size unflushed facts are written to the file, so that a burst cannot fill the memory."""


class JournalWriter:
    """Appends facts to ``path``, beginning with ``start``. On a full disk ``flush`` raises ``OSError``."""

    def __init__(self, path: Path, start: Start | None = None) -> None:
        """Without ``start`` the file is opened by ``begin``: before a fork the process id is not known yet."""
        path.parent.mkdir(parents=True, exist_ok=True)
        _cut_torn_end(path)
        self._path = str(path)
        self._file: int | None = None
        self._buffer = bytearray()
        self._pack = msgpack.Packer(autoreset=True).pack
        if start is not None:
            self.begin(start)

    def begin(self, start: Start) -> None:
        # Unbuffered: data written by flush() is in the kernel and survives this process.
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
        """Write everything queued to the kernel."""
        if self._buffer:
            assert self._file is not None, "the journal is closed, or has not begun"
            write_out(self._file, self._buffer, self._path)

    def close(self) -> None:
        """Flush and close. Do not write afterwards."""
        try:
            self.flush()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close and discard queued facts. The next writer of this path removes an incomplete frame at the end."""
        self._buffer.clear()
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _cut_torn_end(path: Path) -> None:
    """Remove an incomplete frame at the end, since nothing after it could be read. A restarted process appends to the
    journal of its predecessor."""
    if not path.exists():
        return
    journal = Journal(path, kinds=[Start])
    for _ in journal:
        pass
    if journal.bad_bytes:
        os.truncate(path, journal.offset)


class Journal:
    """Iterates over the complete facts of ``path`` from ``offset``; ``offset`` moves to the end of the last one read.

    With ``kinds``, only facts of these kinds are returned. The others are skipped, with their checksums verified, at a
    tenth of the cost of decoding them.
    """

    def __init__(self, path: Path, offset: int = 0, kinds: Collection[type] = ()) -> None:
        self.path = path
        self.offset = offset
        self.bad_bytes = 0
        """After the iteration: bytes at the end that are no complete frame."""
        self.is_damaged = False
        """Whether those bytes are damaged, and not the beginning of a frame."""
        self._kinds = frozenset(_KIND_OF[kind] for kind in kinds)

    def __iter__(self) -> Iterator[Fact]:
        for kind, values in self.rows():
            yield KINDS[kind](*values)

    def rows(self) -> Iterator[tuple[int, list[Any]]]:
        """The same as ``(index in KINDS, all field values)``, much faster: creating objects is most of the work."""
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
        """The rows of the complete frames in ``data``, which begins at ``offset``."""
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
    """Every complete fact of ``path``. Afterwards ``bad_bytes`` is the size of an incomplete or damaged end."""
    return Journal(path)


class JournalTail:
    """Reads a growing journal. An incomplete frame is left for the next call."""

    def __init__(self, path: Path, kinds: Collection[type] = ()) -> None:
        self._journal = Journal(path, kinds=kinds)

    def read_new(self) -> list[Fact]:
        """The facts flushed since the last call; none if the file does not exist yet."""
        try:
            return list(self._journal)
        except FileNotFoundError:
            return []

    @property
    def bad_bytes(self) -> int:
        """Damaged bytes; nothing after them can be read."""
        return self._journal.bad_bytes if self._journal.is_damaged else 0


def _decode(body: bytes) -> tuple[int, list[Any]] | None:
    try:
        kind, *values = msgpack.unpackb(body)
        count, defaults = _FIELDS[kind]
    except (ValueError, TypeError, KeyError, msgpack.UnpackException):
        return None  # the checksum is correct but the content is not a fact: also damage
    if len(values) != count:
        if not 0 < count - len(values) <= len(defaults):
            return None
        values += defaults[len(values) - count :]
    return kind, values
