"""A mobile node (contract, sections 1 and 3): it keeps the list of gateways and one connection, and obeys hand-overs.

::

    off ── turn_on ──> the last gateway, or one of the list ──> open ── hand-over ──> open elsewhere
     ^                                                            │
     └──────────────── turn_off: silently, or with CLOSE ─────────┘

What is sent while there is no connection waits. A message that came already, even by another gateway, is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.node import NodeEvent
from overlay.systems.contextnet.ends import node_end
from overlay.systems.contextnet.nodes.choice import weighted_order
from overlay.systems.contextnet.nodes.recent import Recent
from overlay.systems.contextnet.nodes.settings import MemorySettings
from overlay.systems.contextnet.records.codec import BadRecord, read_message, write
from overlay.systems.contextnet.records.records import Message
from overlay.systems.contextnet.transport.budget import Budget
from overlay.systems.contextnet.transport.controls import Gateway, read_gateway_list, read_hand_over
from overlay.systems.contextnet.transport.events import Acknowledged, Arrived, Ended, Opened, Refused
from overlay.systems.contextnet.transport.layouts import BadPacket
from overlay.systems.contextnet.transport.packets import Close, Kind
from overlay.systems.contextnet.transport.settings import TransportSettings

US = 1_000
"""Nanoseconds."""


@dataclass(frozen=True, slots=True)
class Received(NodeEvent):
    """A message for the node, for the first time."""

    message: Message


@dataclass(frozen=True, slots=True)
class Accepted(NodeEvent):
    """The gateway has taken over a message of this id."""

    id: bytes


@dataclass(frozen=True, slots=True)
class Connected(NodeEvent):
    gateway: Address
    epoch: int
    resumed: bool
    was_ordered: bool
    """By a hand-over."""


@dataclass(frozen=True, slots=True)
class Parted(NodeEvent):
    """The connection ended."""

    reason: str


class MobileNode:
    def __init__(
        self,
        id: bytes,
        secret: bytes,
        transport: TransportSettings,
        memory: MemorySettings,
        chance: Chance,
        *,
        wall_offset_ns: int = 0,
        epoch: int = 0,
        prefers_last: bool = True,
        budget: Budget | None = None,
        counters: Counter[str] | None = None,
    ) -> None:
        """``id``: 16 bytes. ``epoch``: the last one used. ``prefers_last``: on return it tries its last gateway
        first. ``budget`` of repeats and ``counters``: common to the nodes of a process."""
        self.id, self.wall_offset_ns = id, wall_offset_ns
        self.name = id.hex()
        self.context = b""
        """On each message that it sends."""
        self._chance, self._prefers_last = chance, prefers_last
        self._end = node_end(transport)(id, secret, epoch, transport, chance, budget=budget)
        self.counters = self._end.counters = self._end.counters if counters is None else counters
        self._seen = Recent(memory.dedup_ids, memory.dedup_s)
        self._known: tuple[Address, ...] = ()
        """Gateways that it was told at first."""
        self._list: tuple[Gateway, ...] = ()
        self._version = -1
        self._last: Address | None = None
        """The last gateway that accepted."""
        self._targets: tuple[Address, ...] = ()
        """Of the hand-over that it obeys."""
        self._told: list[NodeEvent] = []
        self.is_on = False

    # ---- for the user

    @property
    def epoch(self) -> int:
        """The last one used, to be stored."""
        return self._end.epoch

    @property
    def names(self) -> tuple[bytes, ...]:
        """As its end has them."""
        return self._end.names

    @property
    def is_open(self) -> bool:
        return self._end.is_open

    @property
    def is_heard(self) -> bool:
        """Whether the gateway that it tries has answered, without accepting it so far."""
        return self._end.is_heard

    def turn_on(self, now: int, gateways: tuple[Address, ...] = ()) -> None:
        """Connect. ``gateways``: those to try until it was told others."""
        self._known = gateways or self._known
        self.is_on = True
        self._end.connect(self._order(), now)

    def turn_off(self, now: int, *, is_graceful: bool = False) -> None:
        """``is_graceful``: with CLOSE, otherwise silently. What is under way waits."""
        if is_graceful:
            self._end.close(now, Close.DONE)
        else:
            self._end.suspend(now)
        self.is_on = False
        self._collect(now)

    def compose(
        self, destination: str, payload: bytes, now: int, *, reply_to: str = "", ttl_s: int = 0, id: bytes = b""
    ) -> Message:
        """A message of this node. ``id``: 16 bytes; empty: a new one."""
        id = id or self._end.draw(16)
        return Message(id, self.name, destination, self._wall_us(now), ttl_s, payload, self.context, reply_to)

    def send(self, message: Message, now: int) -> bool:
        """Returns False if too much waits."""
        return self._end.send(Kind.MESSAGE, write(message), message.id, now)

    def tell_context(self, context: bytes, now: int) -> bool:
        """Tell a new context at once, without a message."""
        self.context = context
        return self._end.send(Kind.CONTEXT, context, None, now)

    def waiting(self) -> Sequence[bytes]:
        """The ids of messages that the gateway has not taken over, in order."""
        return [token for token in self._end.waiting() if isinstance(token, bytes)]

    # ---- for the driver

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        if self.is_on:
            self._end.receive_datagrams(datagrams, now)
            self._collect(now)

    def handle_timer(self, now: int) -> None:
        if self.is_on:
            self._end.handle_timer(now)
            self._collect(now)

    def next_timer(self) -> int | None:
        return self._end.next_timer() if self.is_on else None

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return self._end.datagrams_to_send()

    def events(self) -> Sequence[NodeEvent]:
        told, self._told = self._told, []
        return told

    def check_invariants(self) -> None:
        self._end.check_invariants()
        assert self.is_on or not self._end.is_open, "a node that is off has no connection"

    # ---- what its end tells

    def _collect(self, now: int) -> None:
        for event in self._end.events():
            if isinstance(event, Arrived):
                self._arrived(event, now)
            elif isinstance(event, Acknowledged):
                if isinstance(event.token, bytes):
                    self._told.append(Accepted(event.token))
            elif isinstance(event, Opened):
                self._opened(event, now)
            elif isinstance(event, Ended):
                self._told.append(Parted(event.reason.value))
            elif isinstance(event, Refused):
                self._told.append(event)

    def _arrived(self, event: Arrived, now: int) -> None:
        try:
            if event.kind is Kind.MESSAGE:
                self._received(read_message(event.data), now)
            elif event.kind is Kind.GATEWAY_LIST:
                self._learn(event.data, now)
            elif event.kind is Kind.HAND_OVER:
                self._obey(event.data, now)
        except (BadRecord, BadPacket):
            self.counters["unreadable"] += 1

    def _received(self, message: Message, now: int) -> None:
        if self._seen.add(message.id, now):
            self._told.append(Received(message))
        else:
            self.counters["known"] += 1

    def _learn(self, data: bytes, now: int) -> None:
        """A list of gateways; older ones may overtake newer ones, by other gateways."""
        found = read_gateway_list(data)
        if found.version > self._version and found.gateways:
            self._version, self._list = found.version, found.gateways
            self._end.connect(self._order(), now)

    def _obey(self, data: bytes, now: int) -> None:
        self._targets = read_hand_over(data).targets
        self._end.move(self._targets, now)

    def _opened(self, event: Opened, now: int) -> None:
        gateway = event.gateway
        assert gateway is not None, "a node is told which gateway accepted it"
        was_ordered, self._targets = gateway in self._targets and gateway != self._last, ()
        self._last = gateway
        self._end.connect(self._order(), now)
        self._told.append(Connected(gateway, event.epoch, event.resumed, was_ordered))

    def _order(self) -> tuple[Address, ...]:
        order = weighted_order(self._list, self._chance) or self._known
        if self._prefers_last and self._last is not None:
            order = (self._last, *(address for address in order if address != self._last))
        return order

    def _wall_us(self, now: int) -> int:
        return (now + self.wall_offset_ns) // US
