"""The registration service: a ``Server`` that tells brokers which other ones there are, and the tree that they form.

::

    BROKER, KEEPALIVE ─> Registry ─┐  end of the step
    deadlines ─────────> Registry ─┴> Publishing ─> Epochs ─> BROKERS, as changes or whole
    FIND ──────────────> Nearest  ──> FOUND

Order at one instant: deadlines of brokers, the channel's timers, datagrams, and then a new epoch, if one is due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overlay.channel import Back, Down, Quiet, Up
from overlay.core.addresses import Address, format_address, parse_address
from overlay.core.chance import Chances
from overlay.core.node import NodeEvent
from overlay.core.timers import earliest
from overlay.peers.answers import Answers
from overlay.peers.peers import LEAVE_NS, Heard, HeardOperator, SessionEvent
from overlay.systems.federation.bdrs.epochs import MOST_ADVERTISEMENT, size_of
from overlay.systems.federation.bdrs.events import BrokerRegistered, BrokerRemoved, Removal
from overlay.systems.federation.bdrs.nearest import Nearest
from overlay.systems.federation.bdrs.publishing import Publishing
from overlay.systems.federation.bdrs.quota import Quota
from overlay.systems.federation.bdrs.registry import MOST_BROKERS, Registration, Registry, State
from overlay.systems.federation.bdrs.view import View
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.names import SERVICE
from overlay.systems.federation.peers import HeardLoose, Peers
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import BrokerAdvertisement, Found
from overlay.systems.roles import Place

MOST_FOUND = 5
"""Brokers in an answer to FIND."""
_ANSWERS = (m.Ack, m.Nack, m.Found, m.Answer, m.Brokers)
"""Not refused, or two nodes would refuse each other's refusals."""


class RegistrationService:
    def __init__(
        self, config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int, key: bytes | None = None
    ) -> None:
        self.address = place.address
        self.peers = Peers(SERVICE, config.settings, chances.walks, wall_offset_ns, key)
        self.own = BrokerAdvertisement(SERVICE, format_address(place.address))
        self.registry = Registry(config.settings)
        self.log: list[NodeEvent] = []
        self.publishing = Publishing(config.settings, self.peers, self.registry, self._report)
        self.counters: Counter[str] = Counter()
        """``over_quota``: messages refused; ``unexpected``: answers to nothing."""
        view = View(self.own, self.peers, self.registry, self.publishing)
        contents = view.contents(lambda: self.statistics(self.peers.now))
        self._inspection = Answers(self.peers, self.peers.channel.id, place.address, chances, contents)
        self._nearest = Nearest()
        self._quota = Quota()
        self._up: dict[str, None] = {}
        """Peers with a session."""
        self._is_leaving = False
        self._handlers: Mapping[type, Callable[[str, Any], None]] = {
            m.Broker: self._broker,
            m.KeepAlive: self._keep_alive,
            m.Find: self._find,
        }

    # ---- a Node

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        """One by one, as a replay does."""
        for data, source in datagrams:
            self._begin(now)
            self.peers.receive(data, source)
            self._end()

    def handle_timer(self, now: int) -> None:
        self._begin(now)
        self._end()

    def next_timer(self) -> int | None:
        return earliest(self.registry.next_timer(), self.publishing.next_timer(), self.peers.channel.next_timer())

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return self.peers.channel.datagrams_to_send()

    def events(self) -> Sequence[NodeEvent]:
        log, self.log = self.log, []
        return log

    def set_wall_clock(self, offset_ns: int) -> None:
        self.peers.wall_offset_ns = offset_ns

    def leave(self, now: int) -> int:
        """Close all sessions. Brokers keep the last epoch."""
        self._begin(now)
        self._end()
        self._is_leaving = True
        for peer in self._up:
            self.peers.close(peer)
        return LEAVE_NS

    @property
    def knows(self) -> Callable[[Address], bool]:
        """Addresses of sessions. Datagrams from all others wait behind theirs, whatever their sources claim to be."""
        return lambda address: self.peers.knows(address)

    def traces(self) -> Sequence[Any]:
        return ()

    def statistics(self, now: int) -> dict[str, int]:
        states = Counter(one.state for one in self.registry.all.values())
        return {
            **self.peers.counters,
            **self.counters,
            "brokers": len(self.registry),
            "invalid_brokers": states[State.INVALID],
            "sessions": len(self._up),
            "epoch": self.publishing.epoch,
            "edges": len(self.publishing.epochs.edges),
        }

    def check_invariants(self) -> None:
        """Section 12, as far as it is about registrations. Raises ``AssertionError``."""
        self.peers.check_invariants()
        self.registry.check_invariants(self.peers.now)
        self.publishing.check_invariants()
        self._nearest.check_invariants(self.registry.advertisements())
        assert len(self._quota) <= len(self._up)

    # ---- inner

    def _begin(self, now: int) -> None:
        """Everything that is due by ``now``, without a new epoch."""
        self.peers.now = now
        for one in self.registry.expire(now):
            self._removed(one, Removal.SILENT)
        self.peers.channel.handle_timer(now)

    def _end(self) -> None:
        for event in self.peers.events():
            match event:
                case Heard(peer=peer, message=message):
                    self._handle(peer, message)
                case HeardLoose(_, m.Discover(nonce), source):
                    self.peers.send_loose(source, m.Here(nonce, self.own))
                case HeardLoose():
                    pass  # HERE: the service looks for none
                case HeardOperator(question, source):
                    self._inspection.answer(question, source)
                case _:
                    self._session(event)
        if not self._is_leaving:
            self.publishing.settle()

    def _report(self, event: NodeEvent) -> None:
        self.log.append(event)

    def _handle(self, peer: str, message: m.Message) -> None:
        if isinstance(message, _ANSWERS):
            self.counters["unexpected"] += 1
        elif not self._quota.admits(peer, self.peers.now):
            self.counters["over_quota"] += 1
            self.peers.refuse(peer, message, m.Code.LIMIT, "Too many messages in a short time.")
        elif (handler := self._handlers.get(type(message))) is None:
            self.peers.refuse(peer, message, m.Code.BAD, "The registration service does not take this message.")
        else:
            handler(peer, message)

    # ---- brokers

    def _broker(self, peer: str, message: m.Broker) -> None:
        problem = self._problem(peer, message)
        if problem is not None:
            self.peers.refuse(peer, message, *problem)
            return
        self.peers.accept(peer, message.req)
        self.publishing.hear(message.last_epoch)
        if message.is_registering:
            self._register(message.broker)
        elif (one := self.registry.remove(peer)) is not None:
            self._removed(one, Removal.LEFT)
        self.publishing.want(peer, message.last_epoch)

    def _problem(self, peer: str, message: m.Broker) -> tuple[m.Code, str] | None:
        """Why it is refused."""
        broker = message.broker
        named = [candidate.broker for candidate in broker.candidates]
        if broker.id != peer:
            return m.Code.BAD, "A broker registers itself only."
        if not self.publishing.believes(message.last_epoch):
            return m.Code.BAD, "No service has published this epoch."
        if not message.is_registering:
            return None
        if peer in named or len(named) != len(set(named)):
            return m.Code.BAD, "Candidates are other brokers, each once."
        if size_of(broker) > MOST_ADVERTISEMENT:
            return m.Code.LIMIT, f"The advertisement has more than {MOST_ADVERTISEMENT:,} bytes."
        if len(self.registry) >= MOST_BROKERS and self.registry.get(peer) is None:
            return m.Code.LIMIT, f"There are {MOST_BROKERS:,} brokers."
        return None

    def _register(self, broker: BrokerAdvertisement) -> None:
        before = self.registry.register(broker, self.peers.now)
        if before is None:
            self.log.append(BrokerRegistered(broker.id, broker.endpoint, broker.is_mobile))
        if before != broker:
            self._nearest.put(broker)
            self.publishing.touch(broker.id)
        if broker.is_mobile or (before is not None and before.is_mobile):
            self._keep(broker)

    def _keep(self, broker: BrokerAdvertisement) -> None:
        """The session of a mobile broker outlasts its absence."""
        if broker.id in self._up:
            self.peers.open(broker.id, parse_address(broker.endpoint), keep=broker.is_mobile)

    def _removed(self, one: Registration, reason: Removal) -> None:
        broker = one.advertisement
        self._nearest.remove(broker.id)
        self.publishing.touch(broker.id)
        silent_us = (self.peers.now - one.last_heard) // 1_000
        self.log.append(BrokerRemoved(broker.id, reason, silent_us, at=self.peers.now))
        if broker.is_mobile:  # its session would be kept for ever
            self.peers.close(broker.id)

    def _keep_alive(self, peer: str, message: m.KeepAlive) -> None:
        if not self.publishing.believes(message.number):
            self.peers.refuse(peer, message, m.Code.BAD, "No service has published this epoch.")
            return
        self.publishing.hear(message.number)
        if self.registry.hear(peer, self.peers.now) is None:
            self.peers.refuse(peer, message, m.Code.UNKNOWN, "Register first.")
        elif not self.peers.channel.queued(peer.encode()):  # else it may be under way
            self.publishing.want(peer, message.number)

    # ---- clients

    def _find(self, peer: str, message: m.Find) -> None:
        """Valid brokers come before invalid ones, which may be gone. The service knows no scopes, and each broker of a
        tree reaches all of them, so ``scope`` selects none."""
        if not message.req:
            self.peers.refuse(peer, message, m.Code.BAD, m.UNNUMBERED)
            return
        found = self._nearest.find(message.position, MOST_FOUND, lambda broker: self._is(broker, State.VALID))
        if len(found) < MOST_FOUND:
            most = MOST_FOUND - len(found)
            found += self._nearest.find(message.position, most, lambda broker: self._is(broker, State.INVALID))
        self.peers.send(peer, m.Found(message.req, tuple(map(self._found, found))))

    def _is(self, broker: str, state: State) -> bool:
        return self.registry.all[broker].state is state

    def _found(self, broker: str) -> Found:
        return Found(broker, self.registry.all[broker].advertisement.endpoint)

    # ---- sessions

    def _session(self, event: SessionEvent) -> None:
        """A broker is left to its own deadlines, whatever the channel says."""
        try:
            peer = event.peer.decode()
        except UnicodeDecodeError:
            return
        match event:
            case Up():
                self._up[peer] = None
                self.publishing.up(peer)
                if (one := self.registry.get(peer)) is not None and one.advertisement.is_mobile:
                    self._keep(one.advertisement)
            case Down():
                self._up.pop(peer, None)
                self._quota.forget(peer)
                self.publishing.down(peer)
            case Quiet():
                self.publishing.quiet(peer)
            case Back():
                self.publishing.back(peer)
