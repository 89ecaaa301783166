"""Watches every datagram of a simulated overlay and asserts what must hold whatever goes wrong.

No answer without a matching request; nothing answered that was never written, has expired, or was overwritten; no
broker sends to an address it was not told of; no stranger gets more than three times the bytes it sent.

What overwrites at a broker is an update that it got; in the structured arm, one that it said it has stored (31), as it
may get updates for others to keep.
"""

from collections import Counter, defaultdict, deque
from ipaddress import ip_address

from overlay.addresses import Address, parse_networks
from overlay.broker.extensions import ClosestBrokers, DataFound, DataStored, HopData, IndirectPing, Lookahead
from overlay.broker.messages import (
    BrokerJoining,
    ContextRequest,
    ContextResponse,
    ContextUpdateAdvertisement,
    Nack,
    NeighborsResponse,
)
from overlay.broker.wire import MAX_DATAGRAM, parse
from overlay.errors import WireError
from overlay.node import MILLISECOND, SECOND
from overlay.sim.harness import Overlay, broker_address
from overlay.sim.simulator import WALL_OFFSET_NS


class Witness:
    """Attach before the overlay starts. ``honest`` is whether links leave the bytes of datagrams alone."""

    def __init__(self, overlay: Overlay, honest: bool = True) -> None:
        self._brokers = {broker_address(i) for i in range(overlay.graph.brokers)}
        floods = overlay.config.search in ("flood", "normalized-flood")
        self._ttl = overlay.config.flood_ttl if floods else overlay.config.walk_ttl
        self._honest = honest
        self._told: dict[Address, set[Address]] = defaultdict(set)
        self._written: set[tuple] = set()
        self._asked: Counter[tuple] = Counter()
        self._answered: Counter[tuple] = Counter()
        self._responses_at: dict[Address, tuple[int, set[tuple]]] = {}
        self._updates: dict[tuple, list[tuple[int, int, int]]] = defaultdict(list)
        self._valid_ends: dict[tuple, int] = {}
        self._keeps_for_others = overlay.config.arm == "structured"
        self._trusted = parse_networks(overlay.config.trusted_networks, "trusted_networks")
        self._flows: dict[tuple[Address, Address], deque[tuple[int, int]]] = defaultdict(deque)
        self._wrapped: set[tuple[Address, Address, int]] = set()
        self._overlay = overlay
        overlay.simulator.on_sent.append(self._sent)
        overlay.simulator.on_delivered.append(self._delivered)

    def _delivered(self, now: int, data: bytes, source: Address, to: Address) -> None:
        """What a broker may know from now on."""
        if to not in self._brokers:
            return
        self._told[to].add(source)
        self._flows[source, to].append((now, len(data)))
        try:
            message = parse(data)
        except WireError:
            assert not self._honest, data
            return
        if isinstance(message, HopData):
            try:
                message = parse(message.message)
            except WireError:
                assert not self._honest, data
                return
        if isinstance(message, ContextRequest | Lookahead):
            self._told[to].update(message.hops)
        if isinstance(message, BrokerJoining | NeighborsResponse):
            self._told[to].update(message.neighbours)
        elif isinstance(message, IndirectPing):
            self._told[to].add(message.broker)
        elif isinstance(message, ClosestBrokers | DataFound):
            self._told[to].update(message.brokers)
        elif isinstance(message, ContextUpdateAdvertisement):
            self._written.add(entry_of(message))
            self._valid_ends[message.timestamp, message.provider_id, message.key] = message.valid_end
            if not self._keeps_for_others:
                self._note_update(message.timestamp, message.provider_id, message.key, to, now)
        elif isinstance(message, ContextRequest) and source not in self._brokers:
            self._asked[source, to] += 1
        elif isinstance(message, ContextResponse):
            at, responses = self._responses_at.get(to, (now, set()))
            self._responses_at[to] = (now, (responses if at == now else set()) | {entry_of(message)})

    def _sent(self, now: int, data: bytes, source: Address, to: Address) -> None:
        """What a broker may say."""
        assert len(data) <= MAX_DATAGRAM
        message = parse(data)  # whatever the links do, our own nodes send what can be read
        if source not in self._brokers:
            return
        assert to in self._told[source], f"{source} was never told of {to}"
        self._is_within_budget(len(data), source, to, now)
        if isinstance(message, HopData):
            assert to in self._brokers or not self._honest, f"{source} wrapped something for the client {to}"
            if (source, to, message.sequence) in self._wrapped:  # sent again as it was, in whatever became of it
                return
            self._wrapped.add((source, to, message.sequence))
            message = parse(message.message)
        if isinstance(message, ContextRequest):
            assert len(message.hops) <= self._ttl
        if isinstance(message, ContextResponse | Nack) and to not in self._brokers:
            self._answer_was_asked(message, source, to)
        if isinstance(message, ContextResponse | DataFound) and self._honest:
            self._is_true(message, source, now)
        elif isinstance(message, DataStored) and self._honest:
            key = message.entity_type, message.entity_id, message.scope
            self._note_update(message.timestamp, message.provider_id, key, source, now)

    def _answer_was_asked(self, message: ContextResponse | Nack, source: Address, to: Address) -> None:
        assert not message.hops
        if isinstance(message, ContextResponse) or message.operation == "ContextRequest":
            self._answered[to, source] += 1
            assert self._answered[to, source] <= self._asked[to, source], f"{source} answered {to} unasked"

    def _is_true(self, message: ContextResponse | DataFound, source: Address, now: int) -> None:
        """Written once; and valid, unless it is only passed on, when it may have expired on its way."""
        assert entry_of(message) in self._written, f"{source} made up {message}"
        at, responses = self._responses_at.get(source, (-1, set()))
        if at != now or entry_of(message) not in responses:
            wall_ms = (now + WALL_OFFSET_NS) // MILLISECOND
            assert message.valid_begin <= wall_ms < message.valid_end, f"{source} served invalid data at {wall_ms}"
            before = [
                update[1:]
                for update in self._updates[self._row(message.provider_id, message.key, source)]
                if update[0] < now
            ]
            timestamp, valid_end = max(before, default=(0, 0))
            assert message.timestamp >= timestamp or valid_end <= wall_ms, f"{source} served what was overwritten"

    def _note_update(self, timestamp: int, provider: str, key: tuple, broker: Address, now: int) -> None:
        """A table that may fill up promises nothing."""
        if self._overlay.config.table_entries >= 1000 and self._overlay.config.table_bytes >= 100_000:
            valid_end = self._valid_ends[timestamp, provider, key]
            self._updates[self._row(provider, key, broker)].append((now, timestamp, valid_end))

    def _row(self, provider: str, key: tuple, broker: Address) -> tuple:
        """A broker that was started again is another one, whose table is empty."""
        there = [*self._overlay.brokers.values(), *self._overlay.leaving.values()]
        incarnation = next(actor for actor in there if actor.address == broker)
        return incarnation, provider, key

    def _is_within_budget(self, size: int, source: Address, to: Address, now: int) -> None:
        if to in self._brokers or any(ip_address(to[0]) in network for network in self._trusted):
            return
        self._flows[source, to].append((now, size))
        received, sent = self._in_window(to, source, now), self._in_window(source, to, now)
        assert sent <= 3 * received, f"{source} sent the stranger {to} {sent} bytes for {received}"

    def _in_window(self, source: Address, to: Address, now: int) -> int:
        flow = self._flows[source, to]
        while flow and flow[0][0] <= now - 10 * SECOND:
            flow.popleft()
        return sum(size for _, size in flow)


def entry_of(message: ContextUpdateAdvertisement | ContextResponse | DataFound) -> tuple:
    return message.timestamp, message.provider_id, message.key, message.valid_begin, message.valid_end, message.payload
