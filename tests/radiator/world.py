"""A server and its clients over bad links in virtual time. After each step of any, its invariants are checked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from overlay.core.binary import canonical
from overlay.core.chance import Stream, derive_seed
from overlay.core.links import LinkShape
from overlay.core.node import SECOND
from overlay.sim.actors import NodeActor
from overlay.sim.network import Network
from overlay.sim.simulator import Simulator
from overlay.systems.radiator.chains.propagation import Settled
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.middleware.middleware import Middleware
from overlay.systems.radiator.server.facts import Identity, PendingDropped
from overlay.systems.radiator.server.server import Server
from tests.radiator.watched import names_of, watched

SERVER = ("10.0.0.1", 7000)


@dataclass
class Person:
    """A client's application: what it called, and what it received, by instance."""

    id: str
    address: tuple[str, int]
    is_p2p: bool
    middleware: Middleware = None
    actor: NodeActor = None
    received: Counter = field(default_factory=Counter)
    """By (instance, context's name)."""
    bodies: list = field(default_factory=list)
    """What it received, a body for each callback."""
    attributes: dict = field(default_factory=lambda: {"x": 1})
    lives: int = 0


class World:
    """``plan`` has the settings. Times are in seconds of virtual time."""

    def __init__(self, seed=0, config=None, shape=None, **retention):
        """``retention`` are the arguments of ``watched``."""
        self.seed, self.config = seed, config or Transport()
        self.simulator = Simulator(Network(seed, shape or LinkShape(delay_ms=1)))
        self.simulator.on_stepped.append(self.check_step)
        self.retention = retention
        self.people, self.calls = [], []
        self.servers = []
        """All lives of the server: (server, aggregator, actor)."""
        self.steps = 0
        self.start_server()

    @property
    def server(self):
        return self.servers[-1][0]

    @property
    def now(self):
        return self.simulator.now

    def run(self, seconds):
        self.simulator.run_for(round(seconds * SECOND))

    # ---- changes of the world

    def start_server(self):
        life = derive_seed(self.seed, "server", len(self.servers))
        identity = Identity(life, life.to_bytes(8, "big") * 2, b"s" * 8 + life.to_bytes(8, "big"))
        aggregator = watched(**self.retention)
        server = Server(self.config, SERVER, identity, Stream(life), aggregator)
        actor = NodeActor(SERVER, server)
        self.servers.append((server, aggregator, actor))
        self.simulator.listen(SERVER, actor)

    def stop_server(self):
        self.simulator.remove(self.servers[-1][2])

    def add(self, number, is_p2p=True, **attributes):
        person = Person(f"client-{number:05d}", (f"10.0.1.{number % 250}", 4000 + number), is_p2p)
        person.attributes.update(attributes)
        self.people.append(person)
        self.start(person)
        return person

    def start(self, person):
        """A new life of a client: a new instance."""
        person.lives += 1
        instance = derive_seed(self.seed, person.id, person.lives)
        middleware = person.middleware = Middleware(self.config, instance)
        person.actor = NodeActor(person.address, middleware)
        middleware.setup(SERVER)

        def receive(context, delivery):
            person.bodies.append(delivery.body)
            for name in names_of(context):
                person.received[instance, name] += 1
                assert person.received[instance, name] == 1, "delivered twice to an application"

        middleware.register_client(person.id, receive, person.attributes, is_p2p=person.is_p2p, now=self.now)
        self.simulator.listen(person.address, person.actor)

    def kill(self, person):
        self.simulator.remove(person.actor)
        person.actor = None

    def call(self, person, name, padding=0, **attributes):
        content = {"name": name, "data": "x" * padding, **attributes}
        context = canonical({"a": content, "n": 1, "p": [person.id], "t": [1, 1]})
        call = person.middleware.propagate_context(context, self.now, self.now)
        self.calls.append((person.middleware, call))
        self.simulator.wake(person.actor)
        return call

    def unregister(self, person):
        person.middleware.unregister_client(person.id, self.now)
        self.simulator.wake(person.actor)

    # ---- what must hold

    def check_step(self, now, actor):
        actor.node.check_invariants()
        timer = actor.node.next_timer()
        assert timer is None or timer > now
        if actor.address == SERVER:
            self.steps += 1
            if self.steps % 10 == 0:
                self.check_pairs()

    def check_pairs(self):
        """Every pair of an accepted message and a recipient is in one state; what is said to be delivered is."""
        for server, aggregator, actor in self.servers:
            self.check_server(server, aggregator, actor)

    def check_server(self, server, aggregator, actor):
        states = Counter()
        keys = {(number, key) for number, key, _ in aggregator.pairs}
        for key, pending in aggregator.pending.items():
            states.update((number, key) for number in pending)
        for propagation in server.propagations.under_way:
            open_keys = propagation.outcomes
            states.update((number, key) for number in propagation.messages for key in open_keys)
        settled = Counter()
        for _, event in actor.history:
            if isinstance(event, PendingDropped):
                states.update((number, (event.ip, event.id)) for number in event.messages)
            elif isinstance(event, Settled):
                settled[event.propagation] += 1
                missed = {(ip, id): outcome for ip, id, outcome in event.missed}
                for key in event.recipients:
                    states.update((number, key) for number in event.messages)
                    if key not in missed:
                        self.check_delivered(aggregator, event.messages, key)
        assert set(states) == keys, "a pair is in no state, or in one that it was never due in"
        doubled = {pair for pair, count in states.items() if count > 1}
        takeovers = Counter((number, key) for number, key, _ in aggregator.pairs)
        assert all(states[pair] == takeovers[pair] for pair in doubled), "a pair is in two states"
        assert all(count == 1 for count in settled.values())

    def check_delivered(self, aggregator, messages, key):
        person = next(person for person in self.people if person.id == key[1])
        names = {name for _, name in person.received}
        for number in messages:
            assert aggregator.contexts[number].attributes["name"] in names, f"{key} never received message {number}"

    def check_end(self):
        """After a calm: nothing is under way, every call has ended, and every client that lives is reachable."""
        self.check_pairs()
        assert len(self.server.propagations) == 0, "a propagation never ends"
        living = {id(person.middleware) for person in self.people if person.actor is not None}
        assert all(call.result != "open" for life, call in self.calls if id(life) in living), "a call never ends"
        for person in self.people:
            if person.actor is None:
                continue
            assert person.middleware.hop.is_idle, "a hop never ends"
            entry = self.server.clients.get((person.address[0], person.id))
            if person.middleware.state in ("registered", "registering"):
                assert entry is not None and entry.is_reachable, f"{person.id} was left out"
            elif person.middleware.state != "refused":  # the predecessor of this life was thought to be there
                assert person.middleware.is_closed, "it never closes"

    def missed(self):
        """Pairs that were settled without a delivery, by outcome."""
        events = [event for _, _, actor in self.servers for _, event in actor.history if isinstance(event, Settled)]
        return Counter(outcome for event in events for _, _, outcome in event.missed)
