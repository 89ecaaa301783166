"""The one writer and reader of facts: an append-only file per process, framed and checksummed.

Counterparts: ``overlay.facts`` defines what is written; ``telemetry`` reads it. A frame is::

    u32 length | u32 CRC-32 of the body | body = msgpack [kind, field, field, ...]        (integers little-endian)

A process may die in the middle of a frame, so a reader takes what is whole and says how many bytes were not. Fields are
positional: a newer writer may append fields with defaults, never reorder them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO
from zlib import crc32

import msgpack

from overlay.facts import KINDS, Fact, Start

_HEAD = Struct("<II")
_KIND_OF = {kind: index for index, kind in enumerate(KINDS)}
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in KINDS}

MAX_FRAME_BYTES = 1 << 20
"""A fact is far below this; a length above it is damage."""

BUFFER_BYTES = 1 << 18
"""Unflushed facts go to the file beyond this, so that a burst between two flushes cannot fill the memory."""


class JournalWriter:
    """Appends facts to ``path``, beginning with ``start``. A full disk surfaces as ``OSError`` from ``flush``."""

    def __init__(self, path: Path, start: Start) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _cut_torn_end(path)
        self._path = path
        # Unbuffered below: what flush() wrote is the kernel's, and survives this process.
        self._file = path.open("ab", buffering=0)
        self._buffer = bytearray()
        self._pack = msgpack.Packer().pack
        self.write(start)
        self.flush()

    def write(self, fact: Fact) -> None:
        """Queue one fact for the next flush."""
        kind = type(fact)
        body = self._pack([_KIND_OF[kind], *(getattr(fact, name) for name in _FIELDS[kind])])
        self._buffer += _HEAD.pack(len(body), crc32(body))
        self._buffer += body
        if len(self._buffer) >= BUFFER_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand everything queued to the kernel."""
        view = memoryview(bytes(self._buffer))
        while view:
            written = self._write(view)
            del self._buffer[:written]
            view = view[written:]

    def _write(self, view: memoryview) -> int:
        try:
            return self._file.write(view)
        except OSError as error:
            error.filename = str(self._path)  # of a write the system does not say which file it was
            raise

    def close(self) -> None:
        """Flush and close; writing afterwards is an error of ours."""
        try:
            self.flush()
        finally:
            self._file.close()


def _cut_torn_end(path: Path) -> None:
    """A restarted process goes on with the journal of its predecessor; behind a torn frame nobody could read it."""
    if not path.exists():
        return
    journal = Journal(path)
    for _ in journal:
        pass
    if journal.bad_bytes:
        os.truncate(path, journal.offset)


class Journal:
    """Iterates over the whole facts of ``path`` from ``offset``; ``offset`` follows to the end of the last one read."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self.path = path
        self.offset = offset
        self.bad_bytes = 0
        """Bytes at the end that are no whole frame, once iteration has ended."""
        self.is_damaged = False
        """Whether those bytes are wrong, rather than merely the beginning of a frame."""

    def __iter__(self) -> Iterator[Fact]:
        with self.path.open("rb") as file:
            file.seek(self.offset)
            while (fact := self._read_fact(file)) is not None:
                yield fact
            self.bad_bytes = file.seek(0, os.SEEK_END) - self.offset

    def _read_fact(self, file: BinaryIO) -> Fact | None:
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return None
        length, checksum = _HEAD.unpack(head)
        body = file.read(length) if length <= MAX_FRAME_BYTES else b""
        if len(body) < length <= MAX_FRAME_BYTES:
            return None
        fact = _decode(body) if crc32(body) == checksum else None
        self.is_damaged = fact is None
        if fact is not None:
            self.offset += _HEAD.size + length
        return fact


def read_journal(path: Path) -> Journal:
    """Every whole fact of ``path``; afterwards its ``bad_bytes`` says how long a torn or damaged end was left out."""
    return Journal(path)


class JournalTail:
    """Reads a journal while it grows. A frame that is not whole yet is left for the next call."""

    def __init__(self, path: Path) -> None:
        self._journal = Journal(path)

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


def _decode(body: bytes) -> Fact | None:
    try:
        kind, *values = msgpack.unpackb(body)
        make: Any = KINDS[kind]
        return make(*values)  # type: ignore[no-any-return]
    except (ValueError, TypeError, IndexError, msgpack.UnpackException):
        return None  # the checksum is right and the content is not ours: damage all the same
