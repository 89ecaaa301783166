"""ATTACH: clients that are new, come back, or come from another broker (seed 002, section 7)."""

from __future__ import annotations

from overlay.core.node import SECOND
from overlay.systems.silbops.broker.client import Client
from overlay.systems.silbops.broker.clients import MOST_CLIENTS, Clients
from overlay.systems.silbops.broker.events import MoveFailed
from overlay.systems.silbops.broker.leaving import Leaving
from overlay.systems.silbops.broker.requests import Requests
from overlay.systems.silbops.broker.station import Clock, Station
from overlay.systems.silbops.broker.visits import Visits
from overlay.systems.silbops.repeats import Repeats
from overlay.systems.silbops.wire import messages as m

TAKE_WITHIN = 5 * SECOND
MOST_PARTS = 10_000
"""Of a TAKE."""
REPEATS_FOR = 60 * SECOND
"""Beyond handover_s: old notifications come no more."""


class Awaited:
    """A client whose old broker was sent MOVE."""

    __slots__ = ("old", "parts", "then")

    def __init__(self, old: str) -> None:
        self.old = old
        self.parts: list[m.Take] = []
        self.then: str | None = None
        """The broker that asks for the client meanwhile. It waits."""


class Arriving:
    def __init__(
        self, station: Station, clients: Clients, requests: Requests, leaving: Leaving, visits: Visits
    ) -> None:
        self._station, self._clients, self._requests = station, clients, requests
        self._leaving, self._visits = leaving, visits
        self._awaited: dict[m.Client, Awaited] = {}

    def __len__(self) -> int:
        return len(self._awaited)

    def attach(self, id: m.Client, message: m.Attach) -> None:
        if message.client != id:
            self._clients.refuse(id, 0, m.Code.MALFORMED, "the session is of another client")
        elif message.mode is m.Mode.NEW:
            self._begin(id)
        elif id not in self._awaited:  # otherwise TAKE answers, or its deadline
            self._resume(id, message.old or self._station.name)

    def move(self, broker: str, message: m.Move) -> None:
        awaited = self._awaited.get(message.client)
        if awaited is not None:
            awaited.then = broker
        else:
            self._leaving.move(broker, message.client)

    def take(self, broker: str, message: m.Take) -> None:
        awaited = self._awaited.get(message.client)
        if awaited is None or awaited.old != broker or len(awaited.parts) >= MOST_PARTS:
            self._station.counters["takes_late"] += 1
            return
        awaited.parts.append(message)
        if awaited.parts[0].owner == m.UNKNOWN:
            self._fail(message.client)
        elif message.is_last:
            self._forget(message.client)
            self._install(message.client, awaited)

    def ring(self, id: m.Client) -> None:
        """No TAKE has come."""
        self._fail(id)

    def ring_repeats(self, id: m.Client) -> None:
        client = self._clients.get(id)
        if client is not None:
            client.repeats = None

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        for id in self._awaited:
            assert (Clock.MOVING, id) in self._station.timers
            assert self._clients.get(id) is None

    # ---- inner

    def _begin(self, id: m.Client) -> None:
        """All that was known of it goes."""
        self._forget(id)
        known = self._clients.get(id)
        if known is not None:
            self._clients.remove(known, "renewed")
        if self._has_room(id):
            self._clients.attach(self._clients.add(id, self._station.draw_owner()), is_resumed=False)

    def _resume(self, id: m.Client, old: str) -> None:
        client = self._clients.get(id)
        if client is not None and client.moves_to is not None:
            return  # its session is being closed: it tries again
        if client is not None and old in (self._station.name, client.came_from):
            self._clients.attach(client, is_resumed=True)
            return
        if client is not None:
            self._clients.remove(client, "elsewhere")
        if old == self._station.name:
            old = self._leaving.broker_of(id) or old
        if not self._visits.knows(old):
            self._begin(id)
        elif self._has_room(id):
            self._awaited[id] = Awaited(old)
            self._station.cancel(Clock.STRANGER, id)
            self._station.set_timer(Clock.MOVING, id, self._station.now + TAKE_WITHIN)
            self._visits.send(old, m.Move(id))

    def _fail(self, id: m.Client) -> None:
        """It begins with nothing, here or where it is by now."""
        awaited = self._awaited[id]
        self._forget(id)
        self._station.log.append(MoveFailed(id.hex(), awaited.old, at=self._station.now))
        if awaited.then is not None:
            self._leaving.move(awaited.then, id)
        elif self._station.peers.address(id) is not None:
            self._begin(id)

    def _install(self, id: m.Client, awaited: Awaited) -> None:
        client = self._clients.add(id, awaited.parts[0].owner)
        client.came_from, client.repeats = awaited.old, Repeats()
        for part in awaited.parts:
            self._requests.restore(client, part)
        self._leaving.returned(client.owner)
        self._receive_kept(client, awaited)
        lasts = REPEATS_FOR + round(self._station.settings.handover_s * SECOND)
        self._station.set_timer(Clock.REPEATS, id, self._station.now + lasts)
        if self._station.peers.address(id) is not None:
            self._clients.attach(client, is_resumed=True, old=awaited.old)
        else:
            self._clients.lose(client)
        if awaited.then is not None:
            self._leaving.move(awaited.then, id)

    def _receive_kept(self, client: Client, awaited: Awaited) -> None:
        assert client.repeats is not None
        for part in awaited.parts:
            for note in part.kept:
                self._station.trace("brought", note, awaited.old)
                if client.repeats.is_new(note.publisher, note.number):
                    self._clients.hand(client, note)
                else:
                    self._station.trace("repeated", note, client.name)

    def _has_room(self, id: m.Client) -> bool:
        if len(self._awaited) + len(self._clients) < MOST_CLIENTS:
            return True
        self._clients.refuse(id, 0, m.Code.LIMIT, f"this broker has {MOST_CLIENTS:,} clients already")
        self._station.peers.close(id)
        return False

    def _forget(self, id: m.Client) -> None:
        if self._awaited.pop(id, None) is not None:
            self._station.cancel(Clock.MOVING, id)
