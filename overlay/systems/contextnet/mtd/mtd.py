"""The store: a server that reads ``unsent``, and sends on what it has when nodes are seen again (contract, section 6).

A record of ``unsent`` is settled when what follows from it is durable: the message in the topic of a gateway, or that
it was discarded. So a store that begins, or takes over a partition, reads again all that was still stored.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from typing import Any, Final

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.node import SECOND
from overlay.log.node import Assignment, Start, Subscription
from overlay.log.ready import Ready
from overlay.log.topics import Record
from overlay.systems.contextnet.log_server import LogServer
from overlay.systems.contextnet.mtd.events import EVICTED, EXPIRED, SENT, GivenBack, Stay, TakingOver
from overlay.systems.contextnet.mtd.lifetimes import Lifetimes
from overlay.systems.contextnet.mtd.settings import MtdSettings
from overlay.systems.contextnet.mtd.sightings import Sighting, Sightings
from overlay.systems.contextnet.mtd.store import Entry, Store
from overlay.systems.contextnet.mtd.takeover import TakeOver
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.kinds import MOST_ATTEMPTS, NODE
from overlay.systems.contextnet.records.names import (
    CONNECTION_REPORT,
    DISCARDED,
    GATEWAY_LIST,
    OUTBOUND,
    PRESENCE,
    UNSENT,
    gateway_topic,
    is_gateway_topic,
)
from overlay.systems.contextnet.records.records import ConnectionReport, Discarded, Outbound, Reason, Unsent
from overlay.systems.contextnet.routing.listed import ListedGateways
from overlay.systems.contextnet.routing.settings import EVERYONE, RoutingSettings
from overlay.systems.contextnet.tracing import Tracer

GROUP: Final = "mtd"
"""Its members share the partitions of ``unsent``."""
REPORT_AGE_S: Final = 60
"""Reports of connections that are older are not read at the start."""
MOST_UNDER_WAY: Final = 1_024
"""Appends that are not durable. While there are as many, nothing is sent or taken."""
MOST_TRACES: Final = 65_536
EXPIRY: Final = 0
"""A timer; that of a node is called by its id, that of a gateway by its name."""


class Mtd(LogServer):
    def __init__(
        self,
        name: str,
        address: Address,
        settings: MtdSettings,
        routing: RoutingSettings,
        retention_s: float,
        chances: Chances,
        wall_offset_ns: int,
        trace_one_in: int = 0,
    ) -> None:
        """``retention_s``: for how long the log keeps records. ``trace_one_in``: as ``tracing.Tracing``."""
        super().__init__(name, address, chances, wall_offset_ns)
        self._is_everyone = routing.routing == EVERYONE
        self._lifetimes = Lifetimes(settings, retention_s)
        self._interval = SECOND // settings.drain_per_s
        """Between two messages to one node."""
        self.store = Store(settings.per_node, settings.total_mb * 1_000_000)
        self._sightings = Sightings()
        self._listed = ListedGateways()
        self._take_over = TakeOver(self._listed, self.timers)
        self._whole = (GATEWAY_LIST, PRESENCE) if settings.presence_events else (GATEWAY_LIST,)
        self._ready = Ready(self._whole)
        self._under_way = 0
        self._ending: dict[Entry, None] = {}
        """Entries that are sent or discarded, of which the log does not know yet."""
        self._waiting: OrderedDict[bytes, None] = OrderedDict()
        """Nodes that wait until fewer appends are under way."""
        self._stays: deque[Stay] = deque(maxlen=MOST_TRACES)
        self.tracer = Tracer(trace_one_in)
        self._subscriptions = self._subscribed()

    # ---- a LogNode

    def subscriptions(self) -> tuple[Subscription, ...]:
        return self._subscriptions

    def _subscribed(self) -> tuple[Subscription, ...]:
        return (
            Subscription(UNSENT, GROUP),
            Subscription(CONNECTION_REPORT, self.name, Start.WHOLE, REPORT_AGE_S),
            *(Subscription(topic, self.name, Start.WHOLE) for topic in self._whole),
            *(Subscription(gateway_topic(gateway), gateway) for gateway in self._take_over.gateways),
        )

    def room(self, subscription: Subscription) -> int:
        return max(0, MOST_UNDER_WAY - self._under_way)

    def assigned(self, partitions: Sequence[Assignment], now: int) -> None:
        super().assigned(partitions, now)
        self._ready.assigned(partitions)

    def revoked(self, partitions: Sequence[Assignment], now: int) -> None:
        super().revoked(partitions, now)
        self._ready.revoked(partitions)
        gone = {found.partition for found in partitions if found.topic == UNSENT}
        self.store.forget(gone)
        self._ending = {entry: None for entry in self._ending if entry.partition not in gone}

    def receive_records(self, records: Sequence[Record], now: int) -> None:
        was_ready = self.is_ready
        super().receive_records(records, now)
        if self.is_ready and not was_ready:
            self._look(self.store.nodes)
        self._set_expiry()

    def appended(self, tokens: Sequence[object], now: int) -> None:
        super().appended(tokens, now)
        while self._waiting and self._under_way < MOST_UNDER_WAY:
            self._send_next(self._waiting.popitem(last=False)[0])
        self._expire()

    def read(self, record: Record) -> None:
        try:
            found = codec.read(record.topic, record.value)
            if record.topic == UNSENT:
                self._put(record, found)
            elif is_gateway_topic(record.topic):
                self._inherit(record, found)
            else:
                self._learn(record, found)
                self.settle(record)
        finally:
            self._ready.read(record)

    # ---- a Server

    def set_wall_clock(self, offset_ns: int) -> None:
        super().set_wall_clock(offset_ns)
        self._set_expiry()

    def due(self, key: Any) -> None:
        if key == EXPIRY:
            self._expire()
        elif isinstance(key, bytes):
            self._send_next(key)
        else:
            self._take_over.due(key)
            self._subscribe()

    def gauges(self) -> dict[str, int]:
        return {
            "stored": self.store.count,
            "stored_bytes": self.store.bytes,
            "stored_nodes": len(self.store.nodes),
            "under_way": self._under_way,
        }

    def traces(self) -> Sequence[Stay]:
        """The messages that have left it since the last call."""
        stays = list(self._stays)
        self._stays.clear()
        return stays

    def stored_ids(self) -> list[bytes]:
        """Of all messages that it has, also of those that are just being sent."""
        return [_message_id(entry) for entry in (*self.store, *self._ending)]

    @property
    def is_ready(self) -> bool:
        """Whether it knows where nodes are, so that it can send."""
        return self._ready.is_ready and self._listed.is_known

    def check_invariants(self) -> None:
        super().check_invariants()
        self.store.check_invariants()
        assert self.progress.unsettled() >= self.store.count + len(self._ending), "what it has is not settled"
        assert 0 <= len(self._ending) <= self._under_way

    # ---- what it hears

    def _learn(self, record: Record, found: Any) -> None:
        if record.topic == GATEWAY_LIST:
            new = self._listed.heard(found, record.appended_us)
            self._take_over.relisted(self.wall_offset_ns)
            self._subscribe()
            if new:
                self._look(self.store.nodes)
        elif record.topic == PRESENCE:
            self._sightings.presence(found)
            self._send_next(found.node)
        else:
            self._report(found)

    def _report(self, found: ConnectionReport) -> None:
        for held in found.nodes:
            self._sightings.report(found.gateway, held, found.at)
            if held.node in self.store.nodes:
                self._send_next(held.node)

    def _subscribe(self) -> None:
        before = {one.group for one in self._subscriptions if is_gateway_topic(one.topic)}
        after = set(self._take_over.gateways)
        if before != after:
            self._subscriptions = self._subscribed()
            self.noted += [TakingOver(gateway) for gateway in sorted(after - before)]
            self.noted += [GivenBack(gateway) for gateway in sorted(before - after)]

    # ---- messages come

    def _put(self, record: Record, found: Unsent) -> None:
        node = NODE.read(record.key)
        expires = self._lifetimes.expires_us(found.message, record.appended_us)
        entry = Entry(node, record.partition, record.position, found.epoch, record.appended_us, expires, record.value)
        self.counters["stored_in_all"] += 1
        if self.tracer.follows(node):
            self.tracer.note("stored", found.message.id, node, self.now, record=record, detail=found.reason)
        for evicted in self.store.put(entry):
            self._discard(evicted, EVICTED)
        self._send_next(node)

    def _inherit(self, record: Record, found: Outbound) -> None:
        """A message for a node of a gateway that is gone, by one who did not know that."""
        node = NODE.read(record.key)
        gateway = next(one for one in self._take_over.gateways if gateway_topic(one) == record.topic)
        seen = self._sightings.get(node)
        epoch = seen.epoch if seen is not None and seen.gateway == gateway else 0
        unsent = Unsent(found.message, gateway, max(found.epoch, epoch), Reason.ABSENT, found.attempts)
        self.counters["inherited"] += 1
        self._under_way += 1
        self.append(UNSENT, node, codec.write(unsent), lambda: self._inherited(record))

    def _inherited(self, record: Record) -> None:
        self._under_way -= 1
        self.settle(record)

    # ---- messages go

    def _look(self, nodes: Iterable[bytes]) -> None:
        for node in list(nodes):
            self._send_next(node)

    def _send_next(self, node: bytes) -> None:
        """The oldest message for a node, if it can be reached; the next one follows by a timer."""
        entry = self.store.head(node)
        while entry is not None and entry.expires_us <= self.wall_us:
            self._discard(self.store.take(node), EXPIRED)
            entry = self.store.head(node)
        if entry is None or node in self.timers or not self.is_ready:
            return
        seen = self._sightings.reachable(node, entry.epoch, entry.stored_us)
        if seen is None or seen.gateway not in self._listed:
            return
        if self._under_way >= MOST_UNDER_WAY:
            self._waiting[node] = None
        else:
            self._send(self.store.take(node), seen)
            self.timers.set(node, self.now + self._interval)

    def _send(self, entry: Entry, seen: Sighting) -> None:
        assert self.wall_us < entry.expires_us, "nothing is sent that has expired (I10)"
        found: Unsent = codec.read(UNSENT, entry.value)
        outbound = Outbound(found.message, seen.epoch, min(found.attempts + 1, MOST_ATTEMPTS))
        topic = OUTBOUND if self._is_everyone else gateway_topic(seen.gateway)
        self._end(entry, SENT, found.message.id, topic, outbound)

    def _discard(self, entry: Entry, why: str) -> None:
        id = _message_id(entry)
        self._end(entry, why, id, DISCARDED, Discarded(id, entry.node, why))

    def _end(self, entry: Entry, ending: str, id: bytes, topic: str, record: Any) -> None:
        self.counters[f"stored_{ending}"] += 1
        self._stays.append(Stay(id, entry.node, entry.stored_us, self.wall_us, ending))
        if self.tracer.follows(entry.node):
            self.tracer.note("sent on" if ending == SENT else ending, id, entry.node, self.now, topic)
        self._under_way += 1
        self._ending[entry] = None
        self.append(topic, entry.node, codec.write(record), lambda: self._ended(entry))

    def _ended(self, entry: Entry) -> None:
        self._under_way -= 1
        if entry in self._ending:  # or its partition was revoked meanwhile
            del self._ending[entry]
            self.progress.settle(UNSENT, entry.partition, entry.position)

    # ---- expiry

    def _expire(self) -> None:
        for entry in self.store.take_expired(self.wall_us, MOST_UNDER_WAY - self._under_way):
            self._discard(entry, EXPIRED)
        self._set_expiry()

    def _set_expiry(self) -> None:
        """While too much is under way, ``appended`` goes on."""
        second = self.store.next_expiry_s()
        if second is None or self._under_way >= MOST_UNDER_WAY:
            self.timers.cancel(EXPIRY)
        else:
            at = second * SECOND - self.wall_offset_ns
            if self.timers.get(EXPIRY) != at:
                self.timers.set(EXPIRY, at)


def _message_id(entry: Entry) -> bytes:
    found: Unsent = codec.read(UNSENT, entry.value)
    return found.message.id
