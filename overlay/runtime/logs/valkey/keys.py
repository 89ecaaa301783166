"""The keys of a deployment, and what is written there: positions, leases, records. ``scripts`` lists them."""

from __future__ import annotations

from overlay.log.groups import Key
from overlay.log.member import Standing
from overlay.log.partition import POSITIONS_PER_MS
from overlay.log.topics import Record


class Keys:
    def __init__(self, deployment: str) -> None:
        self._deployment = deployment

    def stream(self, topic: str, partition: int) -> str:
        return f"{self._deployment} s {topic} {partition}"

    def newest(self, topic: str, partition: int) -> str:
        """The hash next to the stream of a compacted topic."""
        return f"{self._deployment} h {topic} {partition}"

    def group(self, key: Key) -> str:
        return f"{self._deployment} g {key[0]} {key[1]}"

    def members(self, key: Key) -> str:
        return f"{self._deployment} m {key[0]} {key[1]}"


def text(position: int) -> str:
    ms, number = divmod(position, POSITIONS_PER_MS)
    return f"{ms:015d}-{number:07d}"


def position(text: bytes) -> int:
    ms, _, number = text.partition(b"-")
    return int(ms) * POSITIONS_PER_MS + int(number)


def id(position: int) -> str:
    """The id of the record at this position; ``0-0`` before the first."""
    ms, number = divmod(max(position, 0), POSITIONS_PER_MS)
    return f"{ms}-{number}"


def standing(committed: bytes, last: bytes, last_us: bytes) -> Standing:
    end = position(last) + 1 if last else 0
    return Standing(position(committed) if committed else None, end, int(last_us))


def record(topic: str, partition: int, id: bytes, fields: list[bytes]) -> Record:
    _, key, _, value, _, appended_us = fields
    return Record(topic, partition, position(id), key, value, int(appended_us))


def newest_record(topic: str, partition: int, key: bytes, text: bytes) -> Record:
    at, appended_us, value = text.split(b" ", 2)
    return Record(topic, partition, position(at), key, value, int(appended_us))
