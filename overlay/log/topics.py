"""Topics, partitions and positions of a log (seed 004, contract, section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic. ``partitions``: at least 1."""

    name: str
    partitions: int = 1
    is_compacted: bool = False
    """Whether only the newest record of each key is kept, for ever."""


class Record(NamedTuple):
    """A durable record. Positions of a partition rise, over restarts too, but have gaps."""

    topic: str
    partition: int
    position: int
    key: bytes
    value: bytes
    appended_us: int
    """Unix time, microseconds."""


class Append(NamedTuple):
    """A record to be appended. Those of one node and key are appended in their order."""

    topic: str
    key: bytes
    value: bytes
    token: object = None
    """Returned by ``appended`` when the record is durable; ``None``: not waited for."""


class Position(NamedTuple):
    """Of a group: the position of the next record to read, so that all records before it are settled."""

    topic: str
    group: str
    partition: int
    position: int


def partition_of(key: bytes, partitions: int) -> int:
    """The partition of a key, from 0."""
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big") % partitions
