"""Reads the partitions of a member: one request that waits for records of all streams, on a connection of its own.

CLIENT UNBLOCK ends it when other partitions are to be read. The newest records of a compacted topic come first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from overlay.log.member import Held, Member
from overlay.runtime.logs.balancing import is_held
from overlay.runtime.logs.connected import MOST_READ
from overlay.runtime.logs.valkey import keys
from overlay.runtime.logs.valkey.connection import Connection, accepted
from overlay.runtime.logs.valkey.keys import Keys

BLOCK_MS, SHORT_BLOCK_MS = 1_000, 20
UNSEEN = NOT_ALL = -1
"""The next position of a compacted topic whose newest records are to be read."""


class Reading:
    def __init__(self, member: Member, names: Keys) -> None:
        self._member, self._names = member, names
        self._reading: frozenset[Held] | None = None
        """The partitions of the request that the reader waits with."""
        self._reads_all = NOT_ALL
        """``member.changes`` when that request was made, if it has all partitions: nothing needs to change it then."""
        self._places: dict[Held, tuple[int, bytes, bytes]] = {}
        """For ``_place``: position, stream and id."""
        self._is_unblocked = False
        self._whole: list[Held] = []
        """Partitions whose newest records are under way."""
        self._turn = 0

    def lost(self) -> None:
        self._reading, self._is_unblocked = None, False
        for held in self._whole:
            held.next = UNSEEN
        self._whole.clear()

    def go_on(self, requests: Connection, reader: Connection, unblock: Callable[[], None]) -> None:
        """Let the reader wait for the partitions that there is room for."""
        member = self._member
        if self._reading is not None and self._reads_all == member.changes:
            return
        wanted: dict[bytes, Held] = {}
        after: list[bytes] = []
        repeated, most = False, 0
        ordered = list(member.held.values())
        for held in ordered if self._turn % 2 else reversed(ordered):
            if held.next == UNSEEN:
                self._ask_whole(requests, held)
            elif not any(one is held for one in self._whole) and (room := member.room(held)):
                stream, id = self._place(held)
                if stream in wanted:
                    repeated = True
                else:
                    wanted[stream] = held
                    after.append(id)
                most = max(most, room)
        if self._reading is not None:
            if not repeated and not self._is_unblocked and not self._reading.issuperset(wanted.values()):
                self._is_unblocked = True
                unblock()
            return
        if not wanted:
            return
        self._turn += 1  # those of one stream in turn
        self._reading = frozenset(wanted.values())
        self._reads_all = member.changes if len(wanted) == len(ordered) else NOT_ALL
        block = SHORT_BLOCK_MS if repeated else BLOCK_MS
        done = partial(self._arrived, wanted)
        reader.ask(done, "XREAD", "COUNT", min(MOST_READ, most), "BLOCK", block, "STREAMS", *wanted, *after)

    def _place(self, held: Held) -> tuple[bytes, bytes]:
        """Its stream, and the id after which to read. Most stay the same from one request to the next."""
        known = self._places.get(held)
        if known is None:
            if len(self._places) > 2 * len(self._member.held):  # of some that are not held any more
                self._places.clear()
            known = 0, self._names.stream(held.subscription.topic, held.partition).encode(), keys.id(0).encode()
        if known[0] != held.next:
            known = held.next, known[1], keys.id(held.next - 1).encode()
        self._places[held] = known
        return known[1:]

    def _arrived(self, wanted: dict[bytes, Held], answer: Any) -> None:
        self._reading, self._is_unblocked = None, False
        for stream, entries in accepted(answer) or ():
            held = wanted[stream]
            if is_held(self._member, held):
                topic = held.subscription.topic
                self._member.arrived(held, [keys.record(topic, held.partition, *entry) for entry in entries])

    def _ask_whole(self, requests: Connection, held: Held) -> None:
        held.next = 0
        self._whole.append(held)
        newest = self._names.newest(held.subscription.topic, held.partition)
        requests.ask(partial(self._whole_arrived, held), "HGETALL", newest)

    def _whole_arrived(self, held: Held, answer: Any) -> None:
        flat = accepted(answer)
        self._whole.remove(held)
        if not is_held(self._member, held):
            return
        topic, number = held.subscription.topic, held.partition
        pairs = zip(flat[::2], flat[1::2], strict=True)
        found = [keys.newest_record(topic, number, key, value) for key, value in pairs]
        since_us = held.subscription.since_us(time.time_ns() // 1_000)
        found.sort(key=lambda record: record.position)
        self._member.arrived(held, [record for record in found if record.appended_us >= since_us])
        held.next = max([held.next, *(record.position + 1 for record in found)])
