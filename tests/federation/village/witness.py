"""Listens to a broker of a village, without changing what it does."""

from __future__ import annotations

from dataclasses import replace

from overlay.channel import Back, Down, Quiet
from overlay.peers.peers import Heard
from overlay.systems.federation.broker.client_events import EntryRemoved
from overlay.systems.federation.covering.covers import Coverable
from overlay.systems.federation.covering.merged import AHEAD_MS
from overlay.systems.federation.tables.destinations import neighbour
from overlay.systems.federation.tables.tables import Routing
from overlay.systems.federation.wire import messages as m


class Witness:
    def __init__(self, village, broker):
        self._village, self._broker = village, broker
        self._name = broker.peers.name
        self._edges, self._seen = frozenset(), 0
        self._listen()

    def _listen(self):
        tables, peers = self._broker.station.tables, self._broker.peers
        route, events, send = tables.route, peers.events, peers.send

        def routing(note, source, only=None):
            if not (source.is_neighbour or only):
                self._village.ledger.accept(self._name, note, self._village.ways_of(note, self._name))
            return route(note, source, only)

        def hearing():
            found = events()
            for event in found:
                self._hear(event)
            return found

        def sending(peer, message, drop=None):
            if isinstance(message, m.Notify):
                self._village.ledger.send(self._name, peer, message)
            return send(peer, message, drop)

        tables.route, peers.events, peers.send = routing, hearing, sending

    def _hear(self, event):
        match event:
            case Down(peer, reason):
                self._disturb(peer, f"a session ended ({reason})")
            case Quiet(peer) | Back(peer):
                self._disturb(peer, "a session was quiet")
            case Heard(message=m.Brokers(epoch, whole, _, _, edges)) if whole is not m.Whole.PART:
                self._village.see_tree(epoch, edges)

    def _disturb(self, peer, cause):
        peer = peer.decode()
        if peer != "bdrs":
            self._village.ledger.disturb(peer, cause)
        if peer.startswith("b") and peer != "bdrs":
            self._village.ledger.disturb(self._name, cause)

    def look(self, history):
        """After each step; ``history``: what it has reported, with times."""
        self._broker.check_invariants()
        for _, event in history[self._seen :]:
            if isinstance(event, EntryRemoved):
                self._village.ledger.disturb(event.client, f"removed ({event.reason})")
        self._seen = len(history)
        edges = frozenset(self._broker.station.tables.registrations.neighbours)
        if edges != self._edges:
            self._edges = edges
            self._village.ledger.disturb(self._name, "the tree changed")


def find_way(brokers, routing, note, subscription, start):
    """The brokers from ``start`` to the client of ``subscription`` if each has it towards there, or one that covers
    it; else None."""
    covering = Coverable.of(subscription)
    stack = [(start, None, ())]
    while stack:
        name, source, way = stack.pop()
        broker = brokers.get(name)
        if broker is None or name in way:
            continue
        for where in destinations(broker.station.tables, routing, note, covering):
            if not where.is_neighbour and where.id == subscription.id.client:
                return (*way, name)
            if where.is_neighbour and where.id != source:
                stack.append((where.id, name, (*way, name)))
    return None


def destinations(tables, routing, note, covering):
    """Where a broker sends the notification because of a subscription."""
    found = {neighbour(name) for name in tables.registrations.neighbours} if routing is Routing.NOTIFICATIONS else set()
    for row in tables.subscriptions.match(note):
        one = row.subscription
        is_own = one.id == covering.subscription.id
        if is_own or _brings(one, covering, note):
            found |= {where for where in row.destinations if is_own or where.is_neighbour}
    return found


def _brings(one, covering, note):
    """Whether it covers the other. A union expires earlier, and is replaced before: the last seconds do not count."""
    is_union = one.id.client[0] == "b" and one.expires > note.timestamp + AHEAD_MS + 1_000
    wide = replace(one, expires=max(one.expires, covering.subscription.expires)) if is_union else one
    return Coverable.of(wide).covers(covering)
