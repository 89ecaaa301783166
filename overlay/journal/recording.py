"""Recordings: all input and output of a broker in a file, sufficient to replay the broker byte for byte.

Counterparts: ``overlay.journal.recorded`` writes it, in either driver; ``overlay.sim.replay`` feeds it to a new server;
the system's telemetry extracts a run's messages from it. Each life of a server has one file. Its frames
(``overlay.journal.frames``) contain the records between two flushes::

    body   = records, one after the other
    record = msgpack [what, field, field, ...]                                       (the first is BEGIN)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import IntEnum
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from zlib import crc32

import msgpack

from overlay.core.addresses import Address
from overlay.core.errors import WaxwingError
from overlay.journal.frames import HEAD, MAX_FRAME_BYTES, write_out

SUFFIX = ".recording"
FORMAT = 1
MEGABYTE = 1_000_000
BUFFER_BYTES = 1 << 16
"""Above this size unflushed records are written to the file."""


class What(IntEnum):
    """The kinds of records. Times are the broker's ``now`` in nanoseconds; ``at`` is when output was collected."""

    BEGIN = 0
    """``[document]``: see ``Begin``."""
    RECEIVED = 1
    """``[now, host, port, data]``."""
    TIMER = 2
    """``[now]``."""
    SENT = 3
    """``[at, host, port, data]``."""
    CLOCK = 4
    """``[offset]``: Unix nanoseconds minus ``now``, from here on."""
    COUNTED = 5
    """``[now]``: the driver called its statistics, which also drops expired entries."""
    TRACED = 6
    """``[]``: the driver collected its traces."""
    LEAVING = 7
    """``[now]``: ordered to leave."""
    FULL = 8
    """``[]``: the size limit was reached; later records are missing."""
    ENDED = 9
    """``[]``: the broker ended normally; the recording is complete."""
    FAULT = 10
    """``[now, document, begins]``: a fault of its system, as JSON, began or ended."""
    ASSIGNED = 11
    """``[now, partitions]`` of the log, each ``(topic, group, partition, end)``."""
    REVOKED = 12
    """The same."""
    READ = 13
    """``[now, records]`` of the log, each ``(topic, partition, position, key, value, appended_us)``."""
    DURABLE = 14
    """``[now, numbers]`` of its appends from 0, each ``(number,)``."""
    APPENDED = 15
    """``[at, topic, key, value]``."""
    COMMITTED = 16
    """``[at, topic, group, partition, position]``."""
    USAGE = 17
    """``[now, processor_us, process_bytes, machine_bytes, machine_free]``: ``overlay.systems.cores.Usage``."""
    OPENED = 18
    """``[now, number]``: a connection began."""
    STREAMED = 19
    """``[now, number, data]``: bytes of a connection came."""
    CLOSED = 20
    """``[now, number]``: a connection ended from outside."""
    WRITTEN = 21
    """``[at, number, data]``: bytes for a connection."""
    ENDS = 22
    """``[at, number]``: the server closes a connection."""
    BATCH = 23
    """``[count]``: so many datagrams, which follow, came in one call. Without it, each came in one of its own."""


OUTPUTS = frozenset({What.SENT, What.APPENDED, What.COMMITTED, What.WRITTEN, What.ENDS})
INPUTS = frozenset(What) - OUTPUTS - {What.BEGIN, What.FULL, What.ENDED, What.BATCH}
"""The records that change a broker. Queries without side effects, such as for the next timer, are not recorded."""

Record = tuple[Any, ...]
"""One of ``What`` and its fields."""


class BadRecording(WaxwingError):
    """A file that is not a recording, or has another format."""


@dataclass(frozen=True, slots=True)
class Begin:
    """The first record: identifies the broker and contains everything needed to create it again."""

    process: str
    """``broker-3``."""
    life: int
    """1 for the first life, incremented by each restart."""
    address: Address
    config: dict[str, Any]
    """Its configuration, from ``System.config_document``."""
    chance: str
    """``random`` for one ``random.Random``, or ``streams`` for an ``overlay.core.chance.Stream`` per purpose."""
    seed: int
    """Seed of the above."""
    wall_offset_ns: int
    """Unix nanoseconds minus ``now``."""
    zero_ns: int
    """``now`` at the deployment's zero, the origin of the times in all its journals."""
    version: str
    """Version of this package."""
    code: str
    """Digest of the server's code; ``overlay.systems.recordings``."""
    python: str
    system: str = ""
    """Empty in recordings from versions with one system."""
    index: int = 0
    """Index among all servers."""
    servers: tuple[Address, ...] = ()
    """Addresses of all servers."""
    secret: bytes = b""
    """``Chances.secret``: whoever reads the recording of a server that still runs can pretend to be it."""

    @property
    def name(self) -> str:
        return self.process if self.life == 1 else f"{self.process}, life {self.life}"


def recording_path(journal: Path, life: int) -> Path:
    """Path of the recording of one life of a broker: next to the journal of all its lives."""
    return journal.with_name(f"{journal.stem}.{life}{SUFFIX}")


class Recorder:
    """Writes a recording of at most ``most_bytes``, with an end mark when this limit is reached.

    Files are not kept open, because a simulator has as many recorders as brokers. On a full disk ``write`` and
    ``flush`` raise ``OSError``.
    """

    def __init__(self, path: Path, begin: Begin, most_bytes: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
        self.is_over = False
        """Whether recording has stopped."""
        self._path = path
        self._room = most_bytes
        self._buffer = bytearray()
        self._pack = msgpack.Packer(autoreset=True).pack
        self.write(What.BEGIN, {"format": FORMAT, **asdict(begin)})
        self.flush()

    def write(self, *record: Any) -> None:
        """Queue one record for the next flush."""
        if self.is_over:
            return
        packed = self._pack(record)
        self._room -= len(packed)
        if self._room < 0:
            self.is_over = True
            packed = self._pack((What.FULL,))
        self._buffer += packed
        if len(self._buffer) >= BUFFER_BYTES or self.is_over:
            self.flush()

    def flush(self) -> None:
        """Write everything queued to the kernel."""
        if not self._buffer:
            return
        frame = HEAD.pack(len(self._buffer), crc32(self._buffer)) + self._buffer
        with self._path.open("ab", buffering=0) as file:
            write_out(file.fileno(), bytearray(frame), str(self._path))
        self._buffer.clear()

    def close(self) -> None:
        """Write the end mark, unless the limit was reached. Later records are discarded."""
        self.write(What.ENDED)
        self.flush()
        self.is_over = True


class Recording:
    """The records of one file after its first; can be iterated repeatedly. Raises ``BadRecording``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bad_bytes = 0
        """After the iteration: bytes at the end that cannot be read, because the process died while writing."""
        self.end: What | None = None
        """After the iteration: ``ENDED``, ``FULL``, or ``None`` for a broker that died or is still running."""
        self.is_damaged = False
        """After the iteration: whether the unreadable bytes are more than an incomplete last write."""
        self.begin = self._read_begin()

    def _read_begin(self) -> Begin:
        first = next(self._records(), None)
        if first is None or len(first) != 2 or first[0] != What.BEGIN or not isinstance(first[1], dict):
            raise BadRecording(f"{self.path} is not a recording of a broker.")
        document = dict(first[1])
        if document.pop("format", None) != FORMAT:
            raise BadRecording(f"{self.path} has another format than this version reads ({FORMAT}).")
        address = document.get("address")
        document = {**_LATER, **document}
        is_whole = document.keys() == {"address", *_BEGIN} and _are(_BEGIN.values(), map(document.get, _BEGIN))
        if not is_whole or not isinstance(address, tuple) or not _are((str, int), address) or not _is_place(*address):
            raise BadRecording(f"{self.path} does not identify its broker.")
        return Begin(**document)

    def __iter__(self) -> Iterator[Record]:
        records = self._records()
        next(records, None)
        for record in records:
            if record[0] in (What.FULL, What.ENDED):
                self.end = What(record[0])
                return
            yield record

    def _records(self) -> Iterator[Record]:
        offset = 0
        if self.path.exists() and not self.path.is_file():  # opening a pipe would wait for a writer
            raise BadRecording(f"{self.path} is not a regular file.")
        with self.path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            while (body := _read_frame(head := file.read(HEAD.size), file.read)) is not None:
                records = _unpack(body)
                if records is None:
                    break
                offset += HEAD.size + len(body)
                yield from records
            self.bad_bytes = size - offset
            self.is_damaged = len(head) == HEAD.size and not _is_torn(head, self.bad_bytes)


def _read_frame(head: bytes, read: Any) -> bytes | None:
    if len(head) < HEAD.size:
        return None
    length, checksum = HEAD.unpack(head)
    if not 0 < length <= MAX_FRAME_BYTES:
        return None
    body: bytes = read(length)
    return body if len(body) == length and crc32(body) == checksum else None


def _is_torn(head: bytes, there: int) -> bool:
    """Whether a frame with this head is longer than the ``there`` bytes available."""
    length: int = HEAD.unpack(head)[0]
    return there - HEAD.size < length <= MAX_FRAME_BYTES


def _unpack(body: bytes) -> list[Record] | None:
    """The records of a frame; ``None`` if the checksum is correct but the content is invalid."""
    unpacker = msgpack.Unpacker(use_list=False, max_buffer_size=MAX_FRAME_BYTES)
    unpacker.feed(body)
    try:
        records = list(unpacker)
    except (ValueError, msgpack.UnpackException):
        return None
    return records if all(map(_is_record, records)) else None


_BEGIN: dict[str, type] = {
    "process": str,
    "life": int,
    "config": dict,
    "chance": str,
    "seed": int,
    "wall_offset_ns": int,
    "zero_ns": int,
    "version": str,
    "code": str,
    "python": str,
    "system": str,
    "index": int,
    "servers": tuple,
    "secret": bytes,
}
_LATER: dict[str, Any] = {"system": "", "index": 0, "servers": (), "secret": b""}
"""Fields that are missing in recordings from earlier versions."""

_FIELDS: dict[int, tuple[type, ...]] = {
    What.BEGIN: (dict,),
    What.RECEIVED: (int, str, int, bytes),
    What.TIMER: (int,),
    What.SENT: (int, str, int, bytes),
    What.CLOCK: (int,),
    What.COUNTED: (int,),
    What.TRACED: (),
    What.LEAVING: (int,),
    What.FULL: (),
    What.ENDED: (),
    What.FAULT: (int, str, bool),
    What.ASSIGNED: (int, tuple),
    What.REVOKED: (int, tuple),
    What.READ: (int, tuple),
    What.DURABLE: (int, tuple),
    What.APPENDED: (int, str, bytes, bytes),
    What.COMMITTED: (int, str, str, int, int),
    What.USAGE: (int, int, int, int, int),
    What.OPENED: (int, int),
    What.STREAMED: (int, int, bytes),
    What.CLOSED: (int, int),
    What.WRITTEN: (int, int, bytes),
    What.ENDS: (int, int),
    What.BATCH: (int,),
}
"""The types of the fields, by kind."""
_PARTS: dict[int, tuple[type, ...]] = {
    What.ASSIGNED: (str, str, int, int),
    What.REVOKED: (str, str, int, int),
    What.READ: (str, int, int, bytes, bytes, int),
    What.DURABLE: (int,),
}
"""Those of each part of the second field."""


def _is_record(record: Any) -> bool:
    if not isinstance(record, tuple) or not record or type(record[0]) is not int or record[0] not in _FIELDS:
        return False
    what, *fields = record
    if not _are(_FIELDS[what], fields):
        return False
    if what in _PARTS:
        return all(isinstance(part, tuple) and _are(_PARTS[what], part) for part in fields[1])
    return what not in (What.RECEIVED, What.SENT) or _is_place(fields[1], fields[2])


def _are(kinds: Iterable[type], values: Iterable[Any]) -> bool:
    return list(kinds) == [type(value) for value in values]


@lru_cache(maxsize=4096)
def _is_place(host: str, port: int) -> bool:
    """Whether it is an address to send to or receive from; some datagrams come from port 0."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return 0 <= port <= 65535


def recordings_in(directory: Path) -> list[Path]:
    """All recordings in a directory, by name; none if it does not exist. Raises ``OSError``.

    ``Path.glob`` is not used: from Python 3.13 on it silently ignores unreadable directories.
    """
    try:
        return sorted(path for path in directory.iterdir() if path.name.endswith(SUFFIX))
    except (FileNotFoundError, NotADirectoryError):
        return []
