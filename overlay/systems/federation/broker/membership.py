"""The broker at the registration service: registering, keep-alives, the tree that it is told, and dead links.

::

    session ─> BROKER ─> ACK ─> KEEPALIVE each f·Δz ── NACK UNKNOWN ─> BROKER
       ^ lost: again                  │ epoch is old
       └──────────────                └─> BROKERS ─> Neighbours.take_tree

While the service is unreachable, the last tree stays.
"""

from __future__ import annotations

from dataclasses import replace

from overlay.channel import Back, Down, Reason, Up
from overlay.core.addresses import Address, format_address, parse_address
from overlay.core.node import SECOND
from overlay.peers.peers import SessionEvent
from overlay.systems.federation.broker.directory import Directory, News
from overlay.systems.federation.broker.links import is_up, with_link
from overlay.systems.federation.broker.neighbour_events import LinkChanged
from overlay.systems.federation.broker.neighbours import Neighbours
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.names import SERVICE
from overlay.systems.federation.wire import messages as m

OPEN, KEEP = "open", "keep"
"""Deadlines: a session is tried; a keep-alive is due."""


class Membership:
    def __init__(self, station: Station, neighbours: Neighbours, service: Address) -> None:
        self._station, self._neighbours, self._service = station, neighbours, service
        self._peers, self._counters = station.peers, station.counters
        settings = station.settings
        self._period = round(settings.broker_keepalive_s * SECOND)
        self._interval = round(settings.keepalive_share * settings.broker_keepalive_s * SECOND)
        self.directory = Directory()
        self.is_registered = False
        self._has_left = False
        self._req = 0
        """Of the last BROKER."""
        self._opened_at = 0
        self._down: dict[str, None] = {}
        """Brokers of links that were found dead."""
        self._tried: dict[str, None] = {}
        """Those of them that have a session again, to be closed if the tree does not use it."""
        station.set_timer(Clock.SERVICE, OPEN, 0)

    # ---- messages

    def brokers(self, peer: str, message: m.Brokers) -> None:
        if peer != SERVICE:
            self._counters["dropped_not_service"] += 1
            return
        news = None if self._has_left else self.directory.take(message)
        if news is not None:
            self._learn(news)

    def accepted(self, peer: str, message: m.Ack) -> None:
        if peer == SERVICE and message.req == self._req:
            self.is_registered = True

    def refused(self, peer: str, message: m.Nack) -> None:
        """The service has forgotten this broker. What it refuses for other reasons is tried again with the deadline."""
        if peer == SERVICE and message.code is m.Code.UNKNOWN and self.is_registered:
            self._register()

    def leave(self) -> None:
        """Unregister, and close all sessions with servers."""
        self._has_left = True
        self._peers.send(SERVICE, m.Broker(0, self._neighbours.own, self.directory.epoch, False))
        self._peers.close(SERVICE)
        self._neighbours.leave()
        for key in (OPEN, KEEP):
            self._station.cancel(Clock.SERVICE, key)
        for broker in self._down:
            self._station.cancel(Clock.LINK, broker)
        self._down.clear()

    def move(self, address: Address) -> None:
        """This broker has another address."""
        self._neighbours.own = replace(self._neighbours.own, endpoint=format_address(address))
        self._peers.channel.moved(self._peers.now)
        self._register()

    # ---- deadlines

    def ring(self, key: str) -> None:
        """``Clock.SERVICE``."""
        if key == OPEN:
            self._open()
        elif self.is_registered:
            self._station.set_timer(Clock.SERVICE, KEEP, self._station.now + self._interval)
            self._peers.send(SERVICE, m.KeepAlive(self.directory.epoch))
        else:
            self._register()

    def ring_link(self, broker: str) -> None:
        """``Clock.LINK``."""
        known = self.directory.brokers.get(broker)
        if known is not None:
            self._peers.open(broker, parse_address(known.endpoint))
        self._station.set_timer(Clock.LINK, broker, self._station.now + self._period)

    def ring_store(self, broker: str) -> None:
        """``Clock.STORE``: a session to a mobile broker never ends as unreachable. A neighbour that is away for too
        long, and that the service still knows, is cut off from this broker only."""
        self._neighbours.ring_store(broker)
        self._lose(broker)

    # ---- sessions

    def session(self, event: SessionEvent) -> None:
        name = event.peer.decode(errors="replace")
        if self._has_left:
            return
        if name == SERVICE:
            self._service_session(event)
        elif isinstance(event, Up | Back) and name in self._down:
            self._revive(name)
        elif isinstance(event, Down) and event.reason is Reason.UNREACHABLE:
            self._lose(name)

    def _service_session(self, event: SessionEvent) -> None:
        match event:
            case Up():
                for broker in self._down:  # this broker may have been the one that was cut off
                    self.ring_link(broker)
            case Down():
                self.is_registered = False
                again = self._opened_at + self._neighbours.retry
                if again <= self._station.now:
                    self._open()
                else:
                    self._station.set_timer(Clock.SERVICE, OPEN, again)

    def _open(self) -> None:
        self._opened_at = self._station.now
        if self._peers.open(SERVICE, self._service):
            self._register()
        else:
            self._station.set_timer(Clock.SERVICE, OPEN, self._station.now + self._neighbours.retry)

    def _register(self) -> None:
        self._req += 1
        self.is_registered = False
        self._peers.send(SERVICE, m.Broker(self._req, self._neighbours.own, self.directory.epoch, True))
        self._station.set_timer(Clock.SERVICE, KEEP, self._station.now + self._interval)

    # ---- what is told

    def _learn(self, news: News) -> None:
        directory, neighbours = self.directory, self._neighbours
        for name in news.gone:
            self._station.learn(name, "brokers")
        for one in news.changed:
            if one.id in self._down:
                self.ring_link(one.id)
        if not news.is_new_tree:
            for one in news.changed:
                neighbours.move(one)
            return
        edges = directory.neighbours(self._station.name)
        reached = directory.reached(self._station.name) if self._station.is_flooded else frozenset()
        neighbours.take_tree(directory.epoch, directory.brokers, edges, reached)
        tried, self._tried = self._tried, {}
        for broker in tried:
            if broker not in edges:
                self._peers.close(broker)

    # ---- links

    def _lose(self, broker: str) -> None:
        """A link between two brokers that are both registered is dead."""
        if broker in self.directory.brokers and is_up(self._neighbours.own, broker):
            self._down[broker] = None
            self._tried.pop(broker, None)
            self._station.set_timer(Clock.LINK, broker, self._station.now + self._period)
            self._tell_link(broker, False)

    def _revive(self, broker: str) -> None:
        del self._down[broker]
        self._tried[broker] = None
        self._station.cancel(Clock.LINK, broker)
        self._tell_link(broker, True)

    def _tell_link(self, broker: str, is_up: bool) -> None:
        self._neighbours.own = with_link(self._neighbours.own, broker, is_up)
        self._station.log.append(LinkChanged(broker, is_up))
        if self._peers.address(SERVICE) is not None:
            self._register()

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        timers, own = self._station.timers, self._neighbours.own
        assert list(self._down) == [one for one in self._down if is_up(own, one) is False]
        assert sum(not one.is_up for one in own.candidates) == len(self._down) or self._has_left
        assert all((Clock.LINK, broker) in timers for broker in self._down)
        if not self._has_left:
            has_session = self._peers.address(SERVICE) is not None
            assert (Clock.SERVICE, KEEP if has_session else OPEN) in timers, "the service is not asked again"
            assert self._neighbours.epoch == self.directory.epoch
