"""The rooms of a broker joined, behind the messages of ``peers``. Counterpart: ``broker`` is the ``Node`` around it.

One queue, messages in order of arrival (seed 002, section 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from overlay.channel import Down, Up
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.peers.peers import Heard, HeardOperator
from overlay.systems.silbops.broker.arriving import Arriving
from overlay.systems.silbops.broker.client import Client, State
from overlay.systems.silbops.broker.clients import Clients
from overlay.systems.silbops.broker.explaining import Explaining
from overlay.systems.silbops.broker.leaving import Leaving
from overlay.systems.silbops.broker.neighbours import CONNECTED, Neighbours
from overlay.systems.silbops.broker.requests import Requests
from overlay.systems.silbops.broker.routing import Routing
from overlay.systems.silbops.broker.station import Clock, Station
from overlay.systems.silbops.broker.tracing import Tracer
from overlay.systems.silbops.broker.visits import Visits
from overlay.systems.silbops.index import INDEXES
from overlay.systems.silbops.tables import Tables
from overlay.systems.silbops.wire import messages as m
from overlay.systems.silbops.wire.codec import MAX_CLIENT_BYTES

if TYPE_CHECKING:
    from overlay.systems.silbops.settings import Settings


class Core:
    def __init__(
        self,
        name: str,
        settings: Settings,
        peers: Any,
        chance: Chance,
        brokers: Mapping[str, Address],
        neighbours: Iterable[str],
        tracer: Tracer | None = None,
    ) -> None:
        """``brokers``: all of the network, this one included; ``neighbours``: those of the tree."""
        self.peers = peers
        self._names = {one.encode(): one for one in brokers}
        tables = Tables(
            INDEXES[settings.index],
            is_covering=settings.covering,
            scope_batch=settings.scope_batch,
            has_publisher_scope=settings.has_publisher_scope,
            prune=settings.pruning,
        )
        self.station = station = Station(name, settings, peers, self._names, tables, chance, tracer)
        around = {one: brokers[one] for one in neighbours}
        self.visits = Visits(station, brokers, around)
        self.clients = Clients(station)
        self.leaving = Leaving(station, self.clients, self.visits)
        self.routing = Routing(station, self.clients, self.leaving)
        self.requests = Requests(station, self.clients, self.routing)
        self.arriving = Arriving(station, self.clients, self.requests, self.leaving, self.visits)
        self.neighbours = Neighbours(station, self.routing, around, chance.randrange(1 << 32))
        self.explaining = Explaining(station, self.clients, around)
        self._tracer = tracer
        self.operators: list[HeardOperator] = []
        """Questions of operators, for who joins this core."""
        self._checks = 0
        self._rings: dict[Clock, Callable[[Any], None]] = {
            Clock.AWAY: self.clients.ring_away,
            Clock.VALIDITY: self.requests.ring_validity,
            Clock.MOVED: self.leaving.ring,
            Clock.MOVING: self.arriving.ring,
            Clock.STRANGER: self.clients.ring_stranger,
            Clock.EDGE: self.neighbours.ring,
            Clock.VISIT: self.visits.ring,
            Clock.REPEATS: self.arriving.ring_repeats,
            Clock.PRUNE: self.neighbours.ring_prune,
            Clock.FULL: self.clients.ring_full,
        }

    def begin(self, now: int) -> None:
        """Everything that is due by ``now``; mostly nothing is."""
        self.peers.now = now
        for clock, key in self.station.timers.due(now):
            self.routing.last = None
            self._rings[clock](key)
            self.neighbours.tell()

    def hear(self) -> None:
        """What peers have sent, and whose session began or ended."""
        self._hear()
        if self.station.pressure.is_felt:
            self.station.pressure.relieve(self._handle, self._hear)

    def leave(self) -> None:
        """Close all sessions. Clients and neighbours learn of it at once."""
        for client in self.clients:
            self.peers.close(client.id)
        for edge in self.neighbours:
            self.peers.close(edge.peer)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is under way: all is acknowledged, no client is away or moving, all neighbours are there."""
        pressure, peers = self.station.pressure, self.peers
        if pressure.full or pressure.waiting or len(self.arriving) or len(self.leaving):
            return False
        return all(client.state is State.ATTACHED and not peers.queued(client.id) for client in self.clients) and all(
            edge.state == CONNECTED and not peers.queued(edge.peer) for edge in self.neighbours
        )

    def statistics(self) -> dict[str, int]:
        station, tables = self.station, self.station.tables
        return {
            **station.counters,
            **station.busy.statistics(),
            "candidates": tables.candidates,
            "scope_tests": tables.scope_tests,
            "scope_errors": tables.scope_errors,
            "rows_subscriptions": tables.rows(),
            "rows_forwarded": tables.rows_forwarded(),
            "rows_advertisements": tables.advertised(),
            "rows_contexts": len(tables.contexts),
            "rows_publishers": len(tables.announced),
            "clients": len(self.clients),
            "neighbours": self.neighbours.connected,
            "kept_now": self.clients.kept,
            "moved_now": len(self.leaving),
            "moving_now": len(self.arriving),
            "full_queues": station.pressure.full,
            "full_queues_total": station.pressure.filled,
            "paused": station.pressure.paused,
            "queued": station.pressure.waiting,
            "unacknowledged": self._unacknowledged(),
        }

    def check_invariants(self) -> None:
        """Section 9, as far as it is about one broker; the whole computation each ``oracle_every``-th time.

        Raises ``AssertionError``.
        """
        station = self.station
        for room in (station.pressure, self.clients, self.leaving, self.arriving, self.neighbours, self.visits):
            room.check_invariants()
        if self._checks % station.settings.oracle_every == 0:
            station.tables.check_invariants()
            self.routing.check_invariants()
        self._checks += 1
        due = station.timers.next_timer()
        assert due is None or due > self.peers.now, "a deadline has passed"

    # ---- inner

    def _unacknowledged(self) -> int:
        """Messages in the queues of all sessions."""
        peers = chain((client.id for client in self.clients), (edge.peer for edge in self.neighbours))
        return sum(map(self.peers.queued, peers))

    def _hear(self) -> None:
        for event in self.peers.events():
            if isinstance(event, Heard):
                if event.size > MAX_CLIENT_BYTES and event.peer not in self._names:
                    self.requests.refuse_large(event.peer, event.message, event.size)
                elif not self.station.pressure.holds(event.peer, event.message):
                    self._handle(event.peer, event.message)
            elif isinstance(event, HeardOperator):
                self.operators.append(event)
            elif isinstance(event, Up):
                self._up(event.peer)
            elif isinstance(event, Down):
                self._down(event)

    def _up(self, peer: bytes) -> None:
        self.station.pressure.up(peer)
        broker = self._names.get(peer)
        if broker is None:
            self.clients.up(peer)
        else:
            self.neighbours.up(broker)
            self.visits.up(broker)

    def _down(self, event: Down) -> None:
        """What it had sent, and was acknowledged, counts."""
        pressure, peer = self.station.pressure, event.peer
        for message in pressure.held(peer):
            self._handle(peer, message)
        self.routing.last = None
        beyond = pressure.down(peer)
        broker = self._names.get(peer)
        if broker is not None:
            self.neighbours.down(broker, str(event.reason))
            self.visits.down(broker, [*self.peers.decoded(event.undelivered), *beyond])
        else:
            self.station.cancel(Clock.STRANGER, peer)
            client = self.clients.get(peer)
            if client is not None:
                self._client_down(client, event, beyond)
        self.neighbours.tell()

    def _client_down(self, client: Client, event: Down, beyond: Any) -> None:
        self.clients.down(client, event, beyond)
        if client.state is State.LEAVING:
            self.leaving.give(client)
        else:
            self.clients.lose(client)

    def _handle(self, peer: bytes, message: Any) -> None:
        busy = self.station.busy
        begun = busy.begin()
        self._take(peer, message)
        self.neighbours.tell()
        busy.end(type(message), begun)
        if self._tracer is not None and self._tracer.is_following:
            self._follow(self._tracer, peer, message)

    def _take(self, peer: bytes, message: Any) -> None:
        self.routing.last = None
        broker = self._names.get(peer)
        if broker is None:
            if isinstance(message, m.Attach):
                self.arriving.attach(peer, message)
            else:
                self.requests.take(peer, message)
        elif isinstance(message, m.Move):
            self.arriving.move(broker, message)
        elif isinstance(message, m.Take):
            self.arriving.take(broker, message)
        elif isinstance(message, m.Notify):
            self.routing.passed(message, broker)
        else:
            self.neighbours.take(broker, message)

    def _follow(self, tracer: Tracer, peer: bytes, message: Any) -> None:
        client = self.clients.get(peer)
        context = None if client is None else self.station.tables.contexts.get(client.owner)
        version = 0 if context is None else context.version
        sender = self._names.get(peer, "")
        tracer.processed(message, sender, None if client is None else client.owner, version, self.peers.now)
