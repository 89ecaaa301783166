"""Clients that go to another broker: MOVE and TAKE, as the old one has it (seed 002, section 7).

The session of the client ends first, so that TAKE has what it did not acknowledge. Its rows stay on a moved link for
handover_s: what still comes this way is passed on. So both branches stand, and nothing is lost.
"""

from __future__ import annotations

from typing import NamedTuple

from overlay.core.node import SECOND
from overlay.systems.silbops.broker.client import ADVERTISEMENTS, SUBSCRIPTIONS, Client, State, publisher_key
from overlay.systems.silbops.broker.clients import Clients
from overlay.systems.silbops.broker.events import ClientMoved
from overlay.systems.silbops.broker.parts import parts
from overlay.systems.silbops.broker.station import Clock, Station
from overlay.systems.silbops.broker.visits import Visits
from overlay.systems.silbops.tables import Kind, Link
from overlay.systems.silbops.wire import messages as m

MOST_MOVED = 100_000
"""Clients whose rows are left here."""


class Moved(NamedTuple):
    client: m.Client
    to: str
    link: Link
    publisher: int


class Leaving:
    def __init__(self, station: Station, clients: Clients, visits: Visits) -> None:
        self._station, self._clients, self._visits = station, clients, visits
        self._moved: dict[bytes, Moved] = {}
        """By owner."""
        self._to: dict[m.Client, str] = {}
        """Where the clients of ``_moved`` are."""

    def __len__(self) -> int:
        return len(self._moved)

    def broker_of(self, client: m.Client) -> str | None:
        """Where a client is that has left this broker not long ago."""
        return self._to.get(client)

    def move(self, broker: str, id: m.Client) -> None:
        """Another broker asks for a client. Unknown here, it begins there with nothing."""
        client = self._clients.get(id)
        if client is None:
            self._station.counters["moves_unknown"] += 1
            self._visits.send(broker, m.Take.of_unknown(id))
            return
        client.moves_to = broker
        if client.state is State.LEAVING:
            return
        client.state = State.LEAVING
        self._station.cancel(Clock.AWAY, id)
        if self._station.peers.address(id) is None:
            self.give(client)
        else:
            self._station.peers.close(id)

    def give(self, client: Client) -> None:
        """Its session has ended: it goes."""
        to, clients, station = client.moves_to, self._clients, self._station
        assert to is not None
        notes = clients.take_kept(client)
        for note in notes:
            station.trace("handed over", note, to)
        for part in parts(station.peers, self._take(client, tuple(notes))):
            self._visits.send(to, part)
        station.log.append(ClientMoved(client.name, to, len(client.subscriptions), len(notes), at=station.now))
        self._leave_rows(client, to)
        clients.forget(client)

    def pass_on(self, owner: bytes, note: m.Notify) -> bool:
        """Whether it is known where this client is."""
        moved = self._moved.get(owner)
        if moved is None:
            return False
        if note.publisher != moved.publisher:
            self._station.counters["passed_on"] += 1
            self._station.trace("passed on", note, moved.to)
            self._visits.send(moved.to, note)
        return True

    def returned(self, owner: bytes) -> None:
        """The client is here again, and its rows are."""
        if owner in self._moved:
            self._station.cancel(Clock.MOVED, owner)
            self.ring(owner)

    def ring(self, owner: bytes) -> None:
        moved = self._moved.pop(owner)
        self._to.pop(moved.client, None)
        self._station.tables.drop_link(moved.link)

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert self._to.keys() <= {one.client for one in self._moved.values()}
        for owner in self._moved:
            assert (Clock.MOVED, owner) in self._station.timers
            assert self._clients.of_owner(owner) is None

    def _take(self, client: Client, notes: tuple[m.Notify, ...]) -> m.Take:
        tables, ttl = self._station.tables, client.validity
        subscriptions, advertisements = [], []
        for number in sorted(client.subscriptions):
            one = tables.subscription(client.link, client.key(number))
            assert one is not None
            subscriptions.append(m.Sub(one, ttl.get((SUBSCRIPTIONS, number), 0) // 1_000_000))
        for number, each in sorted(client.advertisements.items()):
            advertisements.append(m.Adv(each, ttl.get((ADVERTISEMENTS, number), 0) // 1_000_000))
        context = tables.contexts.get(client.owner)
        rows = tuple(subscriptions), tuple(advertisements)
        return m.Take(client.id, client.owner, context, *rows, notes)

    def _leave_rows(self, client: Client, to: str) -> None:
        """The new ones first, so that neighbours are told nothing."""
        tables, station = self._station.tables, self._station
        moved = Link(Kind.MOVED, client.owner.hex())
        context = tables.contexts.get(client.owner)
        if context is not None:
            tables.set_context(moved, client.owner, context)
        for each in client.advertisements.values():
            tables.advertise(moved, each)
        for number in client.subscriptions:
            one = tables.subscription(client.link, client.key(number))
            assert one is not None
            tables.subscribe(moved, one)
        tables.drop_link(client.link)
        if len(self._moved) >= MOST_MOVED:
            oldest = next(iter(self._moved))
            self.returned(oldest)
        self._moved[client.owner] = Moved(client.id, to, moved, publisher_key(client.owner))
        self._to[client.id] = to
        until = station.now + max(1, round(station.settings.handover_s * SECOND))
        station.set_timer(Clock.MOVED, client.owner, until)
