"""A broker (CxB): a ``Server`` that joins its rooms. Mobile brokers (MCxB) are the same object with ``is_mobile``.

::

    datagrams ─> Peers ─> Processor ─> a room for each kind of message ─> Tables ─> settle ─> Peers ─> datagrams
                          (queue of a modelled processor)                          SUBTABLE, OFFER: differences

Order at one instant: deadlines of the broker, of the channel, ends of service, datagrams (section 8: timers come before
datagrams of that instant).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overlay.core.addresses import Address, format_address
from overlay.core.chance import Chances
from overlay.core.node import NodeEvent
from overlay.core.timers import sooner
from overlay.peers.answers import Answers, Content
from overlay.peers.peers import LEAVE_NS, Heard, HeardOperator
from overlay.systems.federation.broker.asking import Asking
from overlay.systems.federation.broker.bulk import Bulk
from overlay.systems.federation.broker.carrying import Carrying
from overlay.systems.federation.broker.clients import Clients
from overlay.systems.federation.broker.membership import Membership
from overlay.systems.federation.broker.neighbours import Neighbours
from overlay.systems.federation.broker.notifying import Notifying
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.broker.tracing import Tracer
from overlay.systems.federation.broker.view import View
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.energy.meter import device_meter
from overlay.systems.federation.names import broker_name
from overlay.systems.federation.peers import CODES, HeardLoose, Peers
from overlay.systems.federation.processor.processor import Processor
from overlay.systems.federation.settings import ON
from overlay.systems.federation.subjects import Subject
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import BrokerAdvertisement
from overlay.systems.roles import Place


class Broker:
    def __init__(
        self, config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int, key: bytes | None = None
    ) -> None:
        self.name, self.address = broker_name(place.number), place.address
        self._origin = config, place, chances, key
        self.meter = device_meter(config, place.number)
        one_in = config.settings.trace_one_in
        self._tracer = Tracer(one_in) if one_in else None
        self._begin_life(wall_offset_ns)

    def _begin_life(self, wall_offset_ns: int) -> None:
        """With empty tables."""
        config, place, chances, key = self._origin
        settings, name = config.settings, self.name
        self.peers = Peers(name, settings, chances.walks, wall_offset_ns, key)
        self.peers.meter = self.meter
        self._is_leaving = False
        self.station = station = Station(settings, self.peers, self._tracer)
        self.processor = Processor(settings, config.is_mobile(place.number), chances.upkeep)
        advertisement = BrokerAdvertisement(
            name,
            format_address(self.address),
            config.is_mobile(place.number),
            config.position(place.number),
            settings.domain_of(place.number),
            config.candidates(place.number),
        )
        self.neighbours = Neighbours(station, advertisement)
        self.clients = Clients(station, self.neighbours, config.server_names)
        self.notifying = Notifying(station, self.clients, self.neighbours)
        is_bulk = config.is_mobile(place.number) and settings.bulk == ON
        self.bulk = Bulk(station, self.neighbours.tell) if is_bulk else None
        if config.is_mobile(place.number):
            self.notifying.carrying = Carrying(station, self.neighbours)
        self.asking = Asking(station, self.clients)
        self.membership = Membership(station, self.neighbours, place.servers[-1])
        self._inspection = Answers(self.peers, self.peers.channel.id, self.address, chances, self._contents())
        self._handlers: dict[type, Callable[[str, Any], None]] = {
            m.Register: self.clients.register,
            m.KeepAlive: self.clients.keep_alive,
            m.Unregister: self.clients.unregister,
            m.Subscribe: self.notifying.subscribe,
            m.Publish: self.notifying.publish,
            m.Lookup: self.asking.lookup,
            m.Query: self.asking.query,
            m.Answer: self.asking.answer,
            m.Hello: self.neighbours.hello,
            m.SubTable: self._subscriptions,
            m.RegTable: self.neighbours.registrations,
            m.Tables: self.neighbours.tables,
            m.Brokers: self.membership.brokers,
            m.Ack: self.membership.accepted,
            m.Nack: self._refused,
        }
        self._rings: dict[Clock, Callable[[Any], None]] = {
            Clock.CLIENT: self.clients.ring,
            Clock.EXCHANGE: self.neighbours.ring_exchange,
            Clock.EDGE: self.neighbours.ring_edge,
            Clock.SERVICE: self.membership.ring,
            Clock.LINK: self.membership.ring_link,
            Clock.STORE: self.membership.ring_store,
            Clock.ASKED: self.asking.ring,
        }
        if self.bulk is not None:
            self._rings[Clock.BULK] = self.bulk.ring
            station.forget_waiting = self.bulk.forget
        if self.notifying.carrying is not None:
            self._rings[Clock.CARRIED] = self.notifying.carrying.ring

    def _contents(self) -> Mapping[Subject, Content]:
        view = View(
            self.station,
            self.neighbours,
            self.clients,
            self.membership,
            self.notifying.cache,
            self.bulk,
            lambda: self.is_offline,
        )
        return view.contents(lambda: self.statistics(self.peers.now))

    @property
    def is_offline(self) -> bool:
        """Whether it reaches no other server."""
        return False

    # ---- a Node

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        """One by one, as a replay does: what one changes, such as the end of a session, counts for the next."""
        for data, source in datagrams:
            self._begin(now)
            self.peers.receive(data, source)
            self._take_events()

    def handle_timer(self, now: int) -> None:
        self._begin(now)
        self._take_events()

    def next_timer(self) -> int | None:
        first = sooner(self.station.timers.next_timer(), self.processor.next_timer())
        expiry = self.station.tables.subscriptions.next_expiry()
        if expiry is not None:
            first = sooner(first, self.peers.at_wall_ms(expiry))
        return sooner(first, self.peers.channel.next_timer())

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return self.peers.channel.datagrams_to_send()

    def events(self) -> Sequence[NodeEvent]:
        log, self.station.log = self.station.log, []
        return log

    def set_wall_clock(self, offset_ns: int) -> None:
        """Validity follows the wall clock; no time-out does."""
        self.peers.wall_offset_ns = offset_ns

    def leave(self, now: int) -> int:
        """Unregister, and close all sessions."""
        self._begin(now)
        self._leave()
        self._settle()
        return LEAVE_NS

    def _leave(self) -> None:
        """Clients that lose their session look for another broker at once, and do not find this one."""
        self._is_leaving = True
        self.membership.leave()
        for name in list(self.clients):
            self.peers.close(name)

    @property
    def knows(self) -> Callable[[Address], bool]:
        """Addresses of sessions. Datagrams from all others wait behind theirs, whatever their sources claim to be."""
        return lambda address: self.peers.knows(address)

    def traces(self) -> Sequence[Any]:
        return () if self._tracer is None else self._tracer.take()

    def statistics(self, now: int) -> dict[str, int]:
        tables, counters = self.station.tables, self._counters()
        return {
            **counters,
            **({} if self.meter is None else self.meter.statistics(now, counters["visits"])),
            "subscriptions": len(tables.subscriptions),
            "registrations": len(tables.registrations),
            "clients": len(self.clients),
            "neighbours": len(self.neighbours),
            "queued": len(self.processor),
            "cached": len(self.notifying.cache),
            "stored_now": self.neighbours.stored,
            "bulk_waiting": 0 if self.bulk is None else len(self.bulk),
            "carried": len(self.notifying.carrying or ()),
            "epoch": self.neighbours.epoch,
        }

    def check_invariants(self) -> None:
        """Section 12, as far as it is about one broker. Raises ``AssertionError``."""
        self.peers.check_invariants()
        self.station.tables.check_invariants()
        for room in (
            self.clients,
            self.neighbours,
            self.notifying,
            self.asking,
            self.membership,
            self.processor,
        ):
            room.check_invariants()
        if self.bulk is not None:
            self.bulk.check_invariants()
        due, expiry = self.station.timers.next_timer(), self.station.tables.subscriptions.next_expiry()
        assert due is None or due > self.peers.now, "(I10) a deadline has passed"
        assert expiry is None or expiry > self.peers.wall_ms, "(I1) an expired subscription is in T"

    # ---- inner

    def _counters(self) -> Counter[str]:
        processor = self.processor
        found = Counter(visits=processor.visits, busy_ns=processor.busy_ns)
        for counters in (self.peers.counters, self.station.counters):
            found.update(counters)
        return found

    def _begin(self, now: int) -> None:
        """Everything that is due by ``now``; mostly nothing is."""
        self.peers.now = now
        is_changed, timers = False, self.station.timers
        if timers.is_due(now):
            for clock, key in timers.due(now):
                self._rings[clock](key)
                is_changed = True
        if self.station.tables.expire(self.peers.wall_ms) or is_changed:
            self._settle()
        self.peers.channel.handle_timer(now)
        if not self.processor.is_instant:
            self._serve(now)

    def _serve(self, now: int) -> None:
        for peer, message in self.processor.served(now):
            self.station.arrived = self.processor.arrived
            self._handle(peer, message)
        for peer in self.processor.take_resumed():
            self.peers.resume(peer)

    def _take_events(self) -> None:
        is_instant = self.processor.is_instant
        for event in self.peers.events():
            if isinstance(event, Heard):
                if is_instant:
                    self.processor.count(event.message)
                    self.station.arrived = self.peers.now
                    self._handle(event.peer, event.message)
                else:
                    self._queue(event.peer, event.message)
                continue
            match event:
                case HeardLoose(_, m.Discover(nonce), source) if not self._is_leaving:
                    self.peers.send_loose(source, m.Here(nonce, self.neighbours.own_without_candidates))
                case HeardLoose():
                    pass  # HERE: a broker looks for none. It leaves: it is not to be found
                case HeardOperator(question, source):
                    self._inspection.answer(question, source)
                case _:
                    for room in (self.membership, self.neighbours, self.clients, self.asking):
                        room.session(event)
                    self._settle()

    def _queue(self, peer: str, message: m.Message) -> None:
        if not self.processor.arrive(peer, message, self.peers.now):
            self.peers.close(peer)  # after the next session, both sides tell all they know
        elif self.processor.must_pause(peer):
            self.peers.pause(peer)

    def _handle(self, peer: str, message: m.Message) -> None:
        """At the end of its service."""
        if isinstance(message, m.Forward):  # by far the most frequent
            self.notifying.forward(peer, message)
            self._settle()
            return
        handler = self._handlers.get(type(message))
        if handler is None:
            self.peers.refuse(peer, message, m.Code.BAD, "A broker does not take this message.")
        else:
            handler(peer, message)
        self._settle()

    def _subscriptions(self, peer: str, message: m.SubTable) -> None:
        self.neighbours.subscriptions(peer, message)
        if message.added:
            self.notifying.subscribed(peer)
        self.station.tables.expire(self.peers.wall_ms)  # what was long under way may have expired meanwhile

    def _refused(self, peer: str, message: m.Nack) -> None:
        room = self.asking if message.kind == CODES[m.Query] else self.membership
        room.refused(peer, message)

    def _settle(self) -> None:
        """What this step has changed goes to neighbours and providers, with the step (section 6)."""
        if self.station.superseded:
            self.clients.supersede()
        for change in self.station.tables.subscription_changes():
            room = (
                (self.neighbours if self.bulk is None else self.bulk)
                if change.destination.is_neighbour
                else self.clients
            )
            room.tell(change)
        if self.bulk is not None:
            self.bulk.settle()
        self.neighbours.exchange()
