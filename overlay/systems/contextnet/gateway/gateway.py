"""A gateway: a ``Server`` and ``LogNode`` that joins its parts (``__init__``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.timers import sooner
from overlay.log.node import Assignment, Start, Subscription
from overlay.log.ready import Ready
from overlay.log.topics import Record
from overlay.systems.contextnet.gateway.config import GatewayConfig
from overlay.systems.contextnet.gateway.events import NodeMoved, NodeSilent
from overlay.systems.contextnet.gateway.gateway_list import Gateways
from overlay.systems.contextnet.gateway.groups import Groups
from overlay.systems.contextnet.gateway.hello import Hello
from overlay.systems.contextnet.gateway.inbound import BATCH, FromNodes
from overlay.systems.contextnet.gateway.leaving import Leaving
from overlay.systems.contextnet.gateway.load import Load
from overlay.systems.contextnet.gateway.outbound import ToNodes
from overlay.systems.contextnet.gateway.pings import Pings
from overlay.systems.contextnet.gateway.presence import PresenceOfNodes
from overlay.systems.contextnet.gateway.revocation import Revocation
from overlay.systems.contextnet.gateway.settings import SECRET
from overlay.systems.contextnet.gateway.station import Station
from overlay.systems.contextnet.names import DRAIN
from overlay.systems.contextnet.records import codec, names
from overlay.systems.contextnet.records.names import gateway_topic
from overlay.systems.contextnet.records.records import Credential, GroupReport, Reason
from overlay.systems.contextnet.transport import events
from overlay.systems.contextnet.transport.layouts import VERSION, Type
from overlay.systems.cores import Usage

AT_ONCE: Final = 1_024
"""Records of the topics that need no room in the pool."""
_DATA: Final = bytes([VERSION << 4 | Type.DATA])
"""The first byte of such a datagram."""
_WHOLE: Final = (names.PRESENCE, names.GROUPS)
_TO_MANY: Final = (names.GROUPCAST, names.BROADCAST)


class Gateway(Station):
    def __init__(
        self, name: str, address: Address, config: GatewayConfig, chances: Chances, wall_offset_ns: int
    ) -> None:
        super().__init__(name, address, config, chances, wall_offset_ns)
        self._own_topic = gateway_topic(name)
        self._ready = Ready(_WHOLE)
        self._hello = Hello(self)
        self.groups = Groups()
        self.gateways = Gateways(self)
        self._presence = PresenceOfNodes(self, self.gateways.answers_for)
        self.inbound = FromNodes(self)
        self.outbound = ToNodes(self, self.groups, self._presence.is_ours, lambda: self.inbound.bytes)
        self.pings = Pings(self)
        self.load = Load(self, self.inbound, self.outbound)
        self._revocation = Revocation(self)
        self._leaving = Leaving(self, self.gateways)
        self._subscriptions = self._subscribed()
        self._delivers = {self._own_topic, names.OUTBOUND, *_TO_MANY}
        self._readers: dict[str, Callable[[Record], None]] = {
            self._own_topic: self.outbound.unicast,
            names.OUTBOUND: self.outbound.unicast,
            names.GROUPCAST: self.outbound.cast,
            names.BROADCAST: self.outbound.cast,
            names.PRESENCE: self._presence.read,
            names.GROUPS: self._learn_groups,
            names.GATEWAY_LIST: self.gateways.read,
            names.PING_CONFIG: self.pings.configure,
            names.HANDOVER: self.gateways.hand_over,
            names.CREDENTIALS: self._learn_credential,
        }
        self._hears: dict[type, Callable[[Any], None]] = {
            events.Arrived: self.inbound.arrived,
            events.Acknowledged: self.outbound.acknowledged,
            events.Expired: self.outbound.expired,
            events.Answered: self.pings.answered,
            events.Opened: self._opened,
            events.Ended: self._ended,
            events.Moved: self._moved,
            events.Lingering: self._lingering,
            events.Repeating: lambda event: self.outbound.stalled(event.node),
        }
        self._clocks: dict[str, Callable[[], None]] = {
            "hello": self._hello.tell,
            "ping": self.pings.tick,
            "pings": self.pings.begin,
            "pongs": self.pings.report,
            "load": self.load.report,
            "list": self.gateways.tick,
            "leave": self._leaving.tick,
            "revocation": self._revocation.tick,
            "revocations": self._revocation.begin,
        }

    # ---- a LogNode

    def subscriptions(self) -> tuple[Subscription, ...]:
        return self._subscriptions

    def _subscribed(self) -> tuple[Subscription, ...]:
        """All as a group of its own: others that join it take over the topic of a gateway that is gone."""
        group = self.name
        return (
            Subscription(self._own_topic, group),
            *([Subscription(names.OUTBOUND, group, Start.NEWEST)] if self.config.is_everyone else []),
            *(Subscription(topic, group, Start.NEWEST) for topic in (*_TO_MANY, names.HANDOVER)),
            *(Subscription(topic, group, Start.WHOLE) for topic in (*_WHOLE, names.PING_CONFIG)),
            *([Subscription(names.CREDENTIALS, group, Start.WHOLE)] if self.config.credentials else []),
            Subscription(names.GATEWAY_LIST, group, Start.WHOLE, self.config.list_age_s),
        )

    def room(self, subscription: Subscription) -> int:
        topic = subscription.topic
        if topic in _TO_MANY and not self._ready.knows(names.GROUPS):
            return 0
        if topic not in self._delivers:
            return AT_ONCE
        return max(self.outbound.pool.room, BATCH) if self.inbound.is_behind else self.outbound.pool.room

    def assigned(self, partitions: Sequence[Assignment], now: int) -> None:
        super().assigned(partitions, now)
        self._ready.assigned(partitions)
        self._announce()

    def revoked(self, partitions: Sequence[Assignment], now: int) -> None:
        super().revoked(partitions, now)
        self._ready.revoked(partitions)

    def receive_records(self, records: Sequence[Record], now: int) -> None:
        self._begin(now)
        super().receive_records(records, now)
        self._announce()
        self._hear()

    def read(self, record: Record) -> None:
        self._readers[record.topic](record)
        if record.topic in self._delivers:
            self.load.saw(record)
        else:
            self._ready.read(record)
            self.settle(record)

    def appended(self, tokens: Sequence[object], now: int) -> None:
        super().appended(tokens, now)
        self._begin(now)
        self._hear()

    def _learn_groups(self, record: Record) -> None:
        found: GroupReport = codec.read(record.topic, record.value)
        self.groups.learn(found)

    def _learn_credential(self, record: Record) -> None:
        found: Credential = codec.read(record.topic, record.value)
        if self.config.credentials is not None:
            self.config.credentials.learn(found)
            self._revocation.check(found.node)

    @property
    def is_ready(self) -> bool:
        """Whether it has read what it must know: groups, and where nodes are."""
        return self._hello.has_begun

    def _announce(self) -> None:
        if self.is_ready or not self._ready.is_ready:
            return
        self._presence.caught_up()
        self._hello.begin()
        self.load.begin()
        self.pings.start()
        if self.settings.auth == SECRET:
            self._revocation.begin()

    # ---- a Server

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        self.inbound.came(len(datagrams), now)
        self._begin(now)
        if self.inbound.is_shedding:
            datagrams = self._without_data(datagrams)
        mine = [one for one in datagrams if one[0][:1] >= b"\x20" and self._operators.receive(*one)]
        self.end.receive_datagrams([one for one in datagrams if one not in mine] if mine else datagrams, now)
        self._hear()

    def _without_data(self, datagrams: Sequence[tuple[bytes, Address]]) -> Sequence[tuple[bytes, Address]]:
        """What nodes send is dropped unread, and comes again; acknowledgements are not."""
        left = [one for one in datagrams if one[0][:1] != _DATA]
        self.counters["shed"] += len(datagrams) - len(left)
        return left

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return [*self.end.datagrams_to_send(), *self._operators.datagrams_to_send()]

    def handle_timer(self, now: int) -> None:
        self._begin(now)
        super().handle_timer(now)
        self.end.handle_timer(now)
        self._hear()

    def next_timer(self) -> int | None:
        return sooner(self.timers.next_timer(), self.end.next_timer())

    def due(self, key: Any) -> None:
        self._clocks[key]()

    @property
    def knows(self) -> Callable[[Address], bool]:
        """Hosts of connections."""
        return self.end.knows

    def set_wall_clock(self, offset_ns: int) -> None:
        super().set_wall_clock(offset_ns)
        self.end.gate.wall_offset = offset_ns

    def leave(self, now: int) -> int:
        self._begin(now)
        took = self._leaving.begin()
        self._hear()
        return took

    def fault(self, document: Mapping[str, Any], begins: bool, now: int) -> None:
        """An operator drains it: its nodes are told to move, within the budget of moves, and it is not listed."""
        self._begin(now)
        if document["what"] == DRAIN:
            self._hello.drain(begins)

    def set_usage(self, usage: Usage, now: int) -> None:
        self.load.used(usage, now)

    def gauges(self) -> dict[str, int]:
        pool = self.outbound.pool
        return {
            "connections": len(self.end.members),
            "pool_used": pool.used,
            "parked": pool.parked,
            "is_draining": int(self._hello.is_draining),
            "is_busy": int(self.end.is_busy),
            "log_lag_ms": self.load.lag_ms,
        }

    def statistics(self, now: int) -> dict[str, int]:
        transport = {f"transport_{name.replace(' ', '_')}": count for name, count in self.end.counters.items()}
        return {**super().statistics(now), **transport}

    def waiting_ids(self) -> list[bytes]:
        """Of the messages that nodes have not acknowledged."""
        return self.outbound.waiting_ids()

    def check_invariants(self) -> None:
        """Section 10, as far as it is about one gateway. Raises ``AssertionError``."""
        super().check_invariants()
        self.end.check_invariants()
        for part in (self.groups, self.inbound, self.outbound, self.pings):
            part.check_invariants()

    # ---- inner

    def _begin(self, now: int) -> None:
        self.now = self.end.now = now
        self.inbound.look(now)

    def _hear(self) -> None:
        """What the transport tells; what follows from it may make it tell more."""
        while told := self.end.events():
            for event in told:
                self._hears[type(event)](event)

    def _opened(self, event: events.Opened) -> None:
        self._presence.opened(event)
        self.gateways.tell(event.node)

    def _ended(self, event: events.Ended) -> None:
        is_revoked = event.reason is events.Ending.PROTOCOL and self._revocation.is_revoked(event.node)
        count = self.outbound.ended(event, Reason.REVOKED if is_revoked else Reason.BROKEN)
        self._presence.ended(event, count)
        self.inbound.ended(event.node)

    def _moved(self, event: events.Moved) -> None:
        self.noted.append(NodeMoved(event.node.hex(), *event.address, at=self.now))

    def _lingering(self, event: events.Lingering) -> None:
        self.noted.append(NodeSilent(event.node.hex(), event.epoch, at=self.now))
        self.outbound.stalled(event.node)
