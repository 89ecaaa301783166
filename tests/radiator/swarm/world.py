"""A server, its clients and a stranger in virtual time, with all watchers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any
from unittest.mock import patch

from overlay.core.addresses import Address
from overlay.core.binary import canonical
from overlay.core.chance import Chances, derive_seed
from overlay.core.links import LinkShape
from overlay.core.node import MILLISECOND, SECOND
from overlay.sim.actors import NodeActor
from overlay.sim.network import Network
from overlay.sim.simulator import WALL_OFFSET_NS, Actor, Outgoing, Simulator
from overlay.systems.radiator.chains.hop import Delivery
from overlay.systems.radiator.clients.table import Key
from overlay.systems.radiator.middleware.calls import Call, Result
from overlay.systems.radiator.middleware.membership import State
from overlay.systems.radiator.middleware.middleware import Middleware
from overlay.systems.radiator.server import service
from overlay.systems.radiator.server.service import Service
from overlay.systems.radiator.settings import ServerConfig
from overlay.systems.radiator.wire.messages import DIRECT
from tests.radiator.swarm.chains import Cutting
from tests.radiator.swarm.ledger import Ledger
from tests.radiator.swarm.plan import Plan
from tests.radiator.swarm.shadow import Shadowed
from tests.radiator.swarm.traffic import Strangers, Uplink, forwarding_bytes

SERVER: Address = ("10.0.0.1", 7000)
STRANGER: Address = ("10.0.9.9", 9)
CALLING = (State.REGISTERING, State.REGISTERED, State.OUTSIDE)
FULL_EVERY = 10
"""Steps of the server between comparisons of everything."""

SILENCING = frozenset({"loss", "partition", "one way", "cut", "restart", "shutdown"})
"""Faults with which the server may never hear that a client left."""
SOME_BYTES = 5_000
"""Of answers, which may be under way at any time."""


class LateActor(NodeActor):
    """A driver that reads what has arrived since a while, and timers that fire as late."""

    def __init__(self, address: Address, node: Any, late_ms: int) -> None:
        super().__init__(address, node)
        self._late, self._waiting = late_ms * MILLISECOND, list[tuple[bytes, Address]]()

    def receive(self, data: bytes, source: Address, to: Address, now: int) -> int | None:
        self._waiting.append((data, source))
        return now + self._late

    def step(self, now: int) -> Sequence[Outgoing]:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self.node.receive_datagrams(waiting, now)
        return super().step(now)

    def next_timer(self) -> int | None:
        timer = self.node.next_timer()
        return None if timer is None else timer + self._late


@dataclass
class Life:
    """One life of a server, and its watchers."""

    server: Service
    actor: NodeActor
    retention: Shadowed
    ledger: Ledger
    uplink: Uplink
    steps: int = 0


@dataclass(eq=False)
class Person:
    """One instance of a client, and what its application knows."""

    key: Key
    address: Address
    instance: int
    is_p2p: bool
    middleware: Middleware
    actor: NodeActor
    attributes: dict[str, Any]
    got: set[tuple[int, int]] = field(default_factory=set)
    """By epoch and number, the messages that it received."""
    forwarded_bytes: int = 0
    is_there: bool = True

    @property
    def state(self) -> State:
        return self.middleware.state


class World:
    """``people`` are all instances that ever were."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.settings = plan, plan.settings
        self.simulator = Simulator(Network(plan.seed, plan.shape))
        self.simulator.on_stepped.append(self._stepped)
        self.simulator.on_sent.append(self._sent)
        self.simulator.on_delivered.append(self._arrived)
        self.lives: list[Life] = []
        self.people: list[Person] = []
        self.calls: list[tuple[Person, Call]] = []
        self.deliveries: dict[tuple[int, int], set[Key]] = {}
        self.strangers = Strangers()
        self.on_delivered: list[Callable[[Person], None]] = []
        """Called with who received a propagation."""
        self.start_server()

    @property
    def now(self) -> int:
        return self.simulator.now

    @property
    def life(self) -> Life:
        return self.lives[-1]

    def actor(self, address: Address, node: Any) -> NodeActor:
        late_ms = self.plan.late_ms
        return LateActor(address, node, late_ms) if late_ms else NodeActor(address, node)

    @property
    def is_honest(self) -> bool:
        """Whether all that is acknowledged was acknowledged by who received it."""
        return "stranger" not in self.plan.faults

    def run(self, seconds: float) -> None:
        self.simulator.run_for(round(seconds * SECOND))

    def at(self, seconds: float, action: Callable[[], None]) -> None:
        """``seconds`` from now."""
        self.simulator.at(self.now + round(seconds * SECOND), action)

    # ---- the server

    def start_server(self) -> None:
        chances = Chances.streams(derive_seed(self.plan.seed, "server", len(self.lives)))
        shadowed = type("Shadowed", (Shadowed,), {"on_error": self.settings.on_error})
        with patch.object(service, "Retention", shadowed):
            server = Service(ServerConfig(self.settings, self.plan.audience), SERVER, chances)
        retention: Any = server._retention
        ledger = retention.ledger = Ledger(server.epoch, self.deliveries, is_honest=self.is_honest)
        Cutting(server, self.settings, ledger)
        actor = self.actor(SERVER, server)
        is_punctual, may_be_cut = not self.plan.late_ms, "cut" in self.plan.faults
        uplink = Uplink(server, self.settings, is_punctual=is_punctual, may_be_cut=may_be_cut)
        self.lives.append(Life(server, actor, retention, ledger, uplink))
        self.simulator.listen(SERVER, actor)

    def stop_server(self, *, in_peace: bool = False) -> None:
        """In peace, everything is accounted first."""
        life = self.life
        if in_peace:
            life.server.leave(self.now)
            life.ledger.read(event for _, event in life.server.traces())
            left = [state for state in ("pending", "emitted", "dropped") if life.ledger.counts[state]]
            assert not left, f"after a shutdown pairs are {left}"
        self.simulator.remove(life.actor)

    # ---- clients

    def join(self, key: Key, port: int, attributes: dict[str, Any], *, is_p2p: bool) -> Person:
        """A new instance."""
        instance = derive_seed(self.plan.seed, "instance", len(self.people))
        middleware = Middleware(self.settings, instance)
        address = (key[0], port)
        person = Person(key, address, instance, is_p2p, middleware, self.actor(address, middleware), dict(attributes))
        self.people.append(person)
        middleware.setup(SERVER)
        self.register(person)
        self.simulator.listen(address, person.actor)
        return person

    def register(self, person: Person) -> None:
        """The first time, again after a refusal, or with other attributes."""

        def receive(context: Any, delivery: Delivery) -> None:
            if context is delivery.contexts[0]:
                self._deliver(person, delivery)

        middleware = person.middleware
        middleware.register_client(person.key[1], receive, person.attributes, is_p2p=person.is_p2p, now=self.now)
        if person.is_there and self.simulator.is_taken(person.address):
            self.simulator.wake(person.actor)

    def crash(self, person: Person) -> None:
        if person.is_there:
            person.is_there = False
            self.simulator.remove(person.actor)

    def leave(self, person: Person) -> None:
        person.middleware.unregister_client(person.key[1], self.now)
        self.simulator.wake(person.actor)

    def call(self, person: Person, attributes: dict[str, Any]) -> Call:
        now_ms = (self.now + WALL_OFFSET_NS) // 1_000_000
        context = canonical(
            {"a": attributes, "n": 1, "p": [person.key[1]], "t": [now_ms, now_ms + len(self.calls) % 3]}
        )
        call = person.middleware.propagate_context(context, self.now, self.now)
        self.calls.append((person, call))
        self.simulator.wake(person.actor)
        return call

    def alive(self) -> list[Person]:
        return [person for person in self.people if person.is_there and person.state in CALLING]

    # ---- what is heard

    def _deliver(self, person: Person, delivery: Delivery) -> None:
        ledger = next(life.ledger for life in self.lives if life.server.epoch == delivery.epoch)
        is_strict = delivery.chain == DIRECT and self.plan.is_orderly
        what = delivery.propagation, person.key, person.instance, delivery.body
        for number in ledger.delivered(*what, is_strict=is_strict):
            assert (delivery.epoch, number) not in person.got, "a message was delivered twice to an application"
            person.got.add((delivery.epoch, number))
        for watch in self.on_delivered:
            watch(person)

    def _sent(self, now: int, data: bytes, source: Address, to: Address) -> None:
        if source == SERVER:
            self.life.uplink.send(now, data, to)
            if to == STRANGER:
                self.strangers.send(data, to)
        elif to != SERVER and source != STRANGER:
            person = next(one for one in self.people if one.is_there and one.address == source)
            person.forwarded_bytes += forwarding_bytes(data)

    def _arrived(self, now: int, data: bytes, source: Address, to: Address) -> None:
        if source == STRANGER and to == SERVER:
            self.strangers.receive(data, source)

    def _stepped(self, now: int, actor: Actor) -> None:
        if not isinstance(actor, NodeActor):
            return
        node: Any = actor.node
        node.check_invariants()
        if actor is self.life.actor:
            self._check_server(self.life)

    def _check_server(self, life: Life, *, is_full: bool = False) -> None:
        life.ledger.read(event for _, event in life.server.traces())
        life.uplink.check()
        life.steps += 1
        if is_full or life.steps % FULL_EVERY == 0:
            life.ledger.check(life.server)
            life.retention.check(life.server.clients.reachable)

    # ---- the end

    def clear_links(self) -> None:
        clear = LinkShape(delay_ms=1)
        addresses = list(dict.fromkeys([SERVER, STRANGER, *(person.address for person in self.people)]))
        for at, one in enumerate(addresses):
            for other in addresses[at:]:
                self.simulator.network.lay(one, other, clear)
        self.simulator.network.heal()

    def check_end(self) -> None:
        """After the calm."""
        life = self.life
        self._check_server(life, is_full=True)
        assert len(life.server.propagations) == 0, "a propagation never ends"
        assert life.server.uplink.queued_bytes < SOME_BYTES, "the uplink never empties"
        if self.plan.has_timers:
            assert not life.retention.retained, "messages are retained beyond retain_max_s"
        for person, call in self.calls:
            self._check_call(person, call)
        for person in self.people:
            self._check_person(person)

    def _check_call(self, person: Person, call: Call) -> None:
        name = person.instance, call.request.req
        times = sum(name in life.ledger.accepted for life in self.lives)
        assert times <= 1, "two lives of the server accepted one call"
        if person.is_there:
            assert call.result is not Result.OPEN, "a call never ends"
        if call.result is Result.ACCEPTED:
            assert times == 1, "a call is said to be accepted, and was not"
        if call.result in (Result.MALFORMED, Result.TOO_LARGE):
            assert times == 0, "a call was accepted and refused"

    def _check_person(self, person: Person) -> None:
        if not person.is_there:
            return
        if self.settings.accounting == "datagram":
            counted = person.middleware.hop.counts["client_to_client_bytes"]
            assert counted == person.forwarded_bytes, "bytes between clients are not those counted"
        assert person.middleware.hop.is_idle, "a hop never ends"
        entry = self.life.server.clients.get(person.key)
        is_own = entry is not None and entry.instance == person.instance
        if person.state in CALLING:
            assert entry is not None and entry.is_reachable, f"{person.key} was left out"
            twins = [one for one in self.people if one is not person and one.is_there and one.key == person.key]
            assert is_own or twins, f"{person.key} was left out"
        elif person.state is State.GONE:
            assert person.middleware.is_closed, "it never closes"
            is_heard = self.plan.is_orderly and not self.plan.faults & SILENCING
            assert not (is_own and is_heard), "one that left is still in the table"
        else:
            assert person.state is State.REFUSED and not is_own

    def journal(self) -> str:
        """A digest of what all lives of the server have in their ledgers."""
        text = repr([life.ledger.journal() for life in self.lives])
        return blake2b(text.encode(), digest_size=8).hexdigest()
