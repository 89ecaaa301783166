"""Reads the partitions of a member: a consumer of each, which sends as many records as it was asked for."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from overlay.core.node import SECOND
from overlay.log.groups import Key
from overlay.log.member import Held, Member
from overlay.log.topics import Topic
from overlay.runtime.logs.connected import MOST_READ
from overlay.runtime.logs.nats.connection import Connection, accepted
from overlay.runtime.logs.nats.names import Names, delivered
from overlay.runtime.logs.nats.protocol import Message

WAIT_NS = 20 * SECOND
"""For records, with one request."""
UNUSED_NS = 60 * SECOND
"""After which the server forgets a consumer that no request came for."""


@dataclass(slots=True, eq=False)
class _Reader:
    held: Held
    topic: Topic
    since_us: int
    inbox: str = ""
    subscription: int = 0
    """Of the inbox."""
    consumer: str = ""
    """Its name; empty: it is not made yet."""
    to_come: int = 0
    """Records that it was asked for and that have not come."""
    until: int = 0
    """When the request ends, monotonic ns."""
    is_over: bool = False
    """Whether the server has lost it."""


class Reading:
    def __init__(self, member: Member, names: Names) -> None:
        self._member, self._names = member, names
        self._readers: dict[tuple[Key, int], _Reader] = {}

    def lost(self) -> None:
        self._readers.clear()

    def go_on(self, wire: Connection, topics: Any, now: int) -> None:
        """Ask for records of all partitions that there is room for. ``topics``: by name."""
        for place, reader in list(self._readers.items()):
            if reader.is_over or self._member.held.get(place) is not reader.held:
                self._end(wire, self._readers.pop(place))
        for place, held in self._member.held.items():
            found = self._readers.get(place)
            if found is None:
                self._readers[place] = self._begin(wire, held, topics(held.subscription.topic))
            elif found.consumer:
                self._pull(wire, found, now)

    def _begin(self, wire: Connection, held: Held, topic: Topic) -> _Reader:
        reader = _Reader(held, topic, held.subscription.since_us(time.time_ns() // 1_000))
        reader.inbox = wire.new_inbox()
        reader.subscription = wire.listen(reader.inbox, partial(self._arrived, reader))
        stream = self._names.stream(topic)
        place: dict[str, Any] = {"deliver_policy": "all"}
        if held.next > 0:
            place = {"deliver_policy": "by_start_sequence", "opt_start_seq": held.next}
        config = {
            "filter_subject": self._names.records(topic, held.partition),
            "ack_policy": "none",
            "replay_policy": "instant",
            "inactive_threshold": UNUSED_NS,
            "mem_storage": True,
            "num_replicas": 1,
            **place,
        }
        wire.api(partial(self._made, wire, reader), f"CONSUMER.CREATE.{stream}", stream_name=stream, config=config)
        return reader

    def _made(self, wire: Connection, reader: _Reader, answer: Any) -> None:
        reader.consumer = accepted(answer)["name"]
        if reader.is_over:
            self._end(wire, reader)

    def _pull(self, wire: Connection, reader: _Reader, now: int) -> None:
        if now > reader.until:
            reader.to_come = 0
        room = min(MOST_READ, self._member.room(reader.held))
        if reader.to_come or not room:
            return
        reader.to_come, reader.until = room, now + WAIT_NS + SECOND
        stream = self._names.stream(reader.topic)
        said = json.dumps({"batch": room, "expires": WAIT_NS}).encode()
        wire.publish(f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{reader.consumer}", said, reader.inbox)

    def _arrived(self, reader: _Reader, message: Message) -> None:
        if message.status:
            reader.to_come = 0
            reader.is_over = message.status in (409, 503)  # the consumer is gone
            return
        reader.to_come -= 1
        held = reader.held
        record = delivered(reader.topic.name, held.partition, message.reply, message.payload)
        if record.position >= held.next and not reader.is_over:
            self._member.arrived(held, [record] if record.appended_us >= reader.since_us else [])
            held.next = record.position + 1

    def _end(self, wire: Connection, reader: _Reader) -> None:
        reader.is_over = True
        wire.hush(reader.subscription)
        if reader.consumer:
            wire.publish(f"$JS.API.CONSUMER.DELETE.{self._names.stream(reader.topic)}.{reader.consumer}", b"")
