"""Who is a neighbour changes for a reason that a broker was given, and requests go to neighbours only."""

from collections import defaultdict

from overlay.core.addresses import Address, format_address
from overlay.core.node import MILLISECOND
from overlay.sim.actors import NodeActor
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.events import (
    NeighbourJoined,
    NeighbourLeft,
    NeighbourLost,
    NeighbourReturned,
    NetworkLeft,
)
from overlay.systems.context_broker.wire.extensions import BrokerGone, HopData, Lookahead
from overlay.systems.context_broker.wire.messages import Ack, BrokerJoining, BrokerLeaving, ContextRequest, PingResponse
from overlay.systems.context_broker.wire.table import OPERATIONS
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.swarm.reading import read, unwrapped
from tests.swarm.watcher import Readers, Watcher


class Causes(Watcher):
    def __init__(self, overlay: Overlay, readers: Readers | None = None) -> None:
        super().__init__(overlay, readers)
        self._patience = overlay.config.ping_misses * overlay.config.ping_interval_ms * MILLISECOND
        self._heard: dict[tuple, int] = {}
        """When a broker last received a message about another: (what, broker, other)."""
        self._before: dict[Address, set[Address]] = defaultdict(set)
        """Its neighbours after its last step."""
        self._farewells: dict[Address, set[Address]] = defaultdict(set)
        """Neighbours that announced their leave to a broker since its last step."""
        self._stepped_at: dict[Address, int] = defaultdict(int)
        self._read: dict[NodeActor, int] = defaultdict(int)
        """How many of its events."""
        self._asked: set[tuple] = set()
        """Who asked whom what: it may be sent again, wrapped or not, to who is a neighbour no more by then."""

    def heard(self, now: int, data: bytes, source: Address, broker: Address) -> None:
        message = read(data)
        who = format_address(source)
        if isinstance(message, PingResponse):
            self._heard["answer", broker, who] = now
        elif (isinstance(message, BrokerJoining) and message.passed_on) or (
            isinstance(message, Ack) and message.operation == OPERATIONS[8]
        ):
            self._heard["join", broker, who] = now
            self._farewells[broker].discard(source)
        elif isinstance(message, BrokerLeaving):
            what = "leave" if message.passed_on else "order" if self._is_controller(source) else "forged order"
            self._heard[what, broker, who if message.passed_on else ""] = now
            if message.passed_on:
                self._farewells[broker].add(source)
        elif isinstance(message, BrokerGone) and (
            source in self.actor(broker).node.neighbours or self._came(source, broker, now)
        ):
            self._heard["notice", broker, format_address(message.broker)] = now

    def said(self, now: int, data: bytes, broker: Address, to: Address) -> None:
        message = read(data)
        if isinstance(message, HopData):
            message = unwrapped(message)
        if isinstance(message, ContextRequest | Lookahead) and (broker, to, message) not in self._asked:
            self._asked.add((broker, to, message))
            neighbours = self._before[broker].union(self.actor(broker).node.neighbours)
            assert to in neighbours or self._came(to, broker, now), f"{broker} asked {to}, which is no neighbour"

    def _came(self, who: Address, broker: Address, now: int) -> bool:
        """Whether it became a neighbour in this step: of what is read in one, the next may already be its notice."""
        return any(self._heard.get((how, broker, format_address(who))) == now for how in ("join", "answer"))

    def stepped(self, now: int, actor: NodeActor, broker: Broker) -> None:
        before, self._stepped_at[broker.address] = self._stepped_at[broker.address], now
        neighbours = self._before[broker.address] = set(broker.neighbours)
        stayed = self._farewells.pop(broker.address, set()) & neighbours
        assert not stayed, f"{broker.address} keeps {stayed}, which left gracefully"
        events = actor.history[self._read[actor] :]
        if not events:
            return
        self._read[actor] = len(actor.history)
        for _, event in events:
            self._has_cause(event, broker.address, before, now)

    def _has_cause(self, event: object, broker: Address, before: int, now: int) -> None:
        """``before`` is when it stepped last."""
        if isinstance(event, NeighbourJoined):
            assert ("join", broker, event.neighbour) in self._heard, f"{broker} took in {event.neighbour} unasked"
        elif isinstance(event, NeighbourLeft):
            assert ("leave", broker, event.neighbour) in self._heard, f"{event.neighbour} left {broker} without a word"
        elif isinstance(event, NeighbourReturned):
            assert ("answer", broker, event.neighbour) in self._heard, f"{event.neighbour} never answered {broker}"
        elif isinstance(event, NetworkLeft):
            was_told = self.brokers[broker] in self.overlay.leaving or ("order", broker, "") in self._heard
            assert was_told, f"{broker} left, and no controller had said so"
        elif isinstance(event, NeighbourLost) and self._heard.get(("notice", broker, event.neighbour), -1) < before:
            silent = now - self._heard.get(("answer", broker, event.neighbour), -self._patience)
            assert silent >= self._patience, f"{broker} gave up {event.neighbour} {silent / 1e9:g} s after its answer"

    @staticmethod
    def _is_controller(source: Address) -> bool:
        return source[0].startswith("127.")
