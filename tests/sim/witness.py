"""Watches every datagram of a simulated overlay and asserts what must hold whatever goes wrong.

No answer without a matching request; nothing answered that was never written, has expired, or was overwritten; no
broker sends to an address it was not told of; no stranger gets more than three times the bytes it sent.

What overwrites at a broker is an update that it got; in the structured arm, one that it said it has stored (31), as it
may get updates for others to keep.
"""

from collections import Counter, defaultdict, deque
from ipaddress import ip_address

from overlay.core.addresses import Address, parse_networks
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.wire.extensions import (
    ClosestBrokers,
    DataFound,
    DataStored,
    HopData,
    IndirectPing,
    Lookahead,
    Record,
    ReplicaConfirm,
    ReplicaRefresh,
    StoreData,
)
from overlay.systems.context_broker.wire.kinds import MAX_DATAGRAM
from overlay.systems.context_broker.wire.messages import (
    BrokerJoining,
    ContextRequest,
    ContextResponse,
    ContextUpdateAdvertisement,
    Nack,
    NeighborsResponse,
    Status,
)
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.swarm.reading import read, unwrapped
from tests.swarm.watcher import Readers, Watcher


class Witness(Watcher):
    """``honest`` is whether links leave the bytes of datagrams alone; else what was received counts as written."""

    def __init__(self, overlay: Overlay, readers: Readers | None = None, *, honest: bool = True) -> None:
        super().__init__(overlay, readers)
        floods = "flood_ttl" in STRATEGIES[overlay.config.search].uses
        self._ttl = overlay.config.flood_ttl if floods else overlay.config.walk_ttl
        self._honest = honest
        self._told: dict[Address, set[Address]] = defaultdict(set)
        self._keepers: dict[Address, set[Address]] = defaultdict(set)
        """Whom a broker may refresh: those on the way of a request that it got."""
        self._written: set[tuple] = set()
        self._asked: Counter[tuple] = Counter()
        self._answered: Counter[tuple] = Counter()
        self._responses_at: dict[Address, tuple[int, set[tuple]]] = {}
        self._updates: dict[tuple, list[tuple[int, int, int]]] = defaultdict(list)
        self._own: dict[tuple, tuple[int, int]] = {}
        """In the structured arm: the latest update that a broker was sent, and may have kept itself, and its end."""
        self._valid_ends: dict[tuple, int] = {}
        self._keeps_for_others = overlay.config.arm == "structured"
        self._has_room = overlay.config.table_entries >= 1000 and overlay.config.table_bytes >= 100_000
        """A table that may fill up promises nothing."""
        self._trusted = parse_networks(overlay.config.trusted_networks, "trusted_networks")
        self._flows: dict[tuple[Address, Address], deque[tuple[int, int]]] = defaultdict(deque)
        self._wrapped: set[tuple[Address, Address, int]] = set()

    def heard(self, now: int, data: bytes, source: Address, to: Address) -> None:
        """What a broker may know from now on."""
        self._told[to].add(source)
        if not self._is_trusted(source):
            self._flows[source, to].append((now, len(data)))
        message = unwrapped(read(data))
        if message is None:
            assert not self._honest or self._is_stranger(source), data
            return
        if isinstance(message, Lookahead):
            self._keepers[to].update(message.hops)
        elif isinstance(message, ContextRequest):
            self._keepers[to].update(message.hops)
            if source not in self.brokers:
                self._asked[source, to] += 1
        elif isinstance(message, BrokerJoining | NeighborsResponse):
            self._told[to].update(message.neighbours)
        elif isinstance(message, IndirectPing):
            self._told[to].add(message.broker)
        elif isinstance(message, ClosestBrokers | DataFound):
            self._told[to].update(message.brokers)
        elif isinstance(message, ContextUpdateAdvertisement):
            self._written.add(entry_of(message))
            self._valid_ends[message.timestamp, message.provider_id, message.key] = message.valid_end
            if self._keeps_for_others:
                row, own = self._row(message.provider_id, message.key, to), (message.timestamp, message.valid_end)
                self._own[row] = max(own, self._own.get(row, own))
            elif not self._is_from_the_future(message.timestamp, to, now):
                self._note_update(message.timestamp, message.provider_id, message.key, to, now)
        elif isinstance(message, ContextResponse):
            at, responses = self._responses_at.get(to, (now, set()))
            self._responses_at[to] = (now, (responses if at == now else set()) | {entry_of(message)})
        if not self._honest and isinstance(message, ContextResponse | Record):
            self._written.add(entry_of(message))

    def said(self, now: int, data: bytes, source: Address, to: Address) -> None:
        """What a broker may say."""
        assert len(data) <= MAX_DATAGRAM
        message = read(data)
        assert message is not None, f"{source} said what cannot be read: {data[:100]!r}"
        follows = isinstance(message, ReplicaRefresh | ReplicaConfirm)
        is_told = to in self._told[source] or (follows and to in self._keepers[source])
        assert is_told, f"{source} was never told of {to}"
        self._is_within_budget(len(data), source, to, now)
        if isinstance(message, HopData):
            assert to in self.brokers or not self._honest, f"{source} wrapped something for the client {to}"
            if (source, to, message.sequence) in self._wrapped:  # sent again as it was, in whatever became of it
                return
            self._wrapped.add((source, to, message.sequence))
            message = unwrapped(message)
        if isinstance(message, ContextRequest):
            assert len(message.hops) <= self._ttl
        if isinstance(message, ContextResponse | Nack) and to not in self.brokers:
            self._answer_was_asked(message, source, to)
        if isinstance(message, ContextResponse | DataFound):
            self._is_true(message, source, now)
        elif isinstance(message, StoreData | ReplicaRefresh):
            assert entry_of(message) in self._written, f"{source} made up {message}"
        elif isinstance(message, DataStored) and self._honest:
            key = message.entity_type, message.entity_id, message.scope
            self._note_update(message.timestamp, message.provider_id, key, source, now)

    def _answer_was_asked(self, message: ContextResponse | Nack, source: Address, to: Address) -> None:
        is_terminal = isinstance(message, ContextResponse) or message.status != Status.BAD_REQUEST
        if is_terminal and (isinstance(message, ContextResponse) or message.operation == "ContextRequest"):
            self._answered[to, source] += 1
            assert self._answered[to, source] <= self._asked[to, source], f"{source} answered {to} unasked"

    def _is_true(self, message: ContextResponse | DataFound, source: Address, now: int) -> None:
        """Written once; and valid, unless it is only passed on, when it may have expired on its way."""
        assert entry_of(message) in self._written, f"{source} made up {message}"
        if isinstance(message, ContextResponse) and message.marks and self._honest:
            lasts = message.valid_end - message.valid_begin
            assert lasts >= self.overlay.config.replication_threshold_ms, f"{source} has others keep {message}"
        at, responses = self._responses_at.get(source, (-1, set()))
        if at == now and entry_of(message) in responses:
            return
        wall_ms = self._wall_ms(source, now)
        assert message.valid_begin <= wall_ms < message.valid_end, f"{source} served invalid data at {wall_ms}"
        if not (self._has_room and self._honest):
            return
        row = self._row(message.provider_id, message.key, source)
        updates, (own, own_end) = self._updates[row], self._own.get(row, (0, 0))
        timestamp, valid_end = max((update[1:] for update in updates if update[0] < now), default=(0, 0))
        has_ended = valid_end <= wall_ms or (own > timestamp and own_end <= wall_ms)  # and left room for older ones
        assert message.timestamp >= timestamp or has_ended, f"{source} served what was overwritten"

    def _note_update(self, timestamp: int, provider: str, key: tuple, broker: Address, now: int) -> None:
        if self._has_room:
            valid_end = self._valid_ends[timestamp, provider, key]
            self._updates[self._row(provider, key, broker)].append((now, timestamp, valid_end))

    def _row(self, provider: str, key: tuple, broker: Address) -> tuple:
        """A broker that was started again is another one, whose table is empty."""
        return self.actor(broker), provider, key

    def _wall_ms(self, broker: Address, now: int) -> int:
        """By its own clock."""
        return (now + self.actor(broker).node._station.wall_offset_ns) // MILLISECOND

    def _is_from_the_future(self, timestamp: int, broker: Address, now: int) -> bool:
        return timestamp > self._wall_ms(broker, now) + self.overlay.config.clock_window_ms

    def _is_trusted(self, address: Address) -> bool:
        return address in self.brokers or any(ip_address(address[0]) in network for network in self._trusted)

    @staticmethod
    def _is_stranger(address: Address) -> bool:
        """One who may say anything."""
        return not ip_address(address[0]).is_loopback

    def _is_within_budget(self, size: int, source: Address, to: Address, now: int) -> None:
        if self._is_trusted(to):
            return
        self._flows[source, to].append((now, size))
        received, sent = self._in_window(to, source, now), self._in_window(source, to, now)
        assert sent <= 3 * received, f"{source} sent the stranger {to} {sent} bytes for {received}"

    def _in_window(self, source: Address, to: Address, now: int) -> int:
        flow = self._flows[source, to]
        while flow and flow[0][0] <= now - 10 * SECOND:
            flow.popleft()
        return sum(size for _, size in flow)


def entry_of(message: ContextUpdateAdvertisement | ContextResponse | Record) -> tuple:
    key = message.entity_type, message.entity_id, message.scope
    return message.timestamp, message.provider_id, key, message.valid_begin, message.valid_end, message.payload
