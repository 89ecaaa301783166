"""Streams and subjects of a deployment, and the bytes of records, in JetStream. ``D`` is the deployment's id::

    stream waxwing-D-log     records of all topics but compacted ones: no older than the retention
        waxwing.D.s.TOPIC.PARTITION          the records of a partition
    stream waxwing-D-state   the newest message of each subject
        waxwing.D.h.TOPIC.PARTITION.KEY      the newest record of a key of a compacted topic
        waxwing.D.g.GROUP.TOPIC              leases of the partitions, JSON [[owner, generation], ...]
        waxwing.D.c.GROUP.TOPIC.PARTITION    JSON [generation, committed position or null], written by owners
    waxwing.D.b.GROUP.TOPIC  heartbeats, which no stream keeps: the member's name, or ``-`` and the name when it leaves

A position is the sequence in its stream.
"""

from __future__ import annotations

from datetime import datetime

from overlay.log.groups import Key
from overlay.log.topics import Record, Topic
from overlay.runtime.logs.escaping import escaped, unescaped

PREFIX = "waxwing"
_LOG, _STATE = "-log", "-state"


class Names:
    def __init__(self, deployment: str) -> None:
        token = escaped(deployment)
        self.log, self.state = f"{PREFIX}-{token}{_LOG}", f"{PREFIX}-{token}{_STATE}"
        self._at = f"{PREFIX}.{token}"
        self.log_subjects = [f"{self._at}.s.>"]
        self.state_subjects = [f"{self._at}.{kind}.>" for kind in "hgc"]

    def records(self, topic: Topic, partition: int | str) -> str:
        """``partition``: ``*`` for all."""
        if topic.is_compacted:
            return f"{self._at}.h.{escaped(topic.name)}.{partition}.*"
        return f"{self._at}.s.{escaped(topic.name)}.{partition}"

    def record(self, topic: Topic, partition: int, key: bytes) -> str:
        """Where a record is published."""
        records = self.records(topic, partition)
        return f"{records[:-1]}k{key.hex()}" if topic.is_compacted else records

    def stream(self, topic: Topic) -> str:
        return self.state if topic.is_compacted else self.log

    def leases(self, key: Key) -> str:
        return f"{self._at}.g.{escaped(key[0])}.{escaped(key[1])}"

    def committed(self, key: Key, partition: int | str) -> str:
        return f"{self._at}.c.{escaped(key[0])}.{escaped(key[1])}.{partition}"

    def beats(self, key: Key) -> str:
        return f"{self._at}.b.{escaped(key[0])}.{escaped(key[1])}"


def deployment_of(stream: str) -> str | None:
    """The deployment that has a state of this name; ``None``: it is not of a log."""
    if not (stream.startswith(f"{PREFIX}-") and stream.endswith(_STATE)):
        return None
    return unescaped(stream.removeprefix(f"{PREFIX}-").removesuffix(_STATE))


def pack(key: bytes, value: bytes) -> bytes:
    """The payload of a record: two bytes with the length of the key, the key, the value."""
    return len(key).to_bytes(2, "big") + key + value


def unpack(payload: bytes) -> tuple[bytes, bytes]:
    end = 2 + int.from_bytes(payload[:2], "big")
    return payload[2:end], payload[end:]


def delivered(topic: str, partition: int, reply: str, payload: bytes) -> Record:
    """A record, from the subject for its acknowledgement, which has its place and time:
    ``$JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.DELIVERED.SEQUENCE.NUMBER.TIME.PENDING[.TOKEN]``."""
    words = reply.split(".")
    first = 4 if len(words) > 9 else 2
    key, value = unpack(payload)
    return Record(topic, partition, int(words[first + 3]), key, value, int(words[first + 5]) // 1_000)


def unix_us(text: str) -> int:
    """From ``2026-11-30T01:02:03.123456789Z``."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    return round(datetime.fromisoformat(f"{whole}+00:00").timestamp()) * 1_000_000 + int(fraction[:6].ljust(6, "0"))
