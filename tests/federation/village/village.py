"""The world: brokers, the registration service and clients on one network, in virtual time. All faults are methods."""

from __future__ import annotations

from overlay.core.addresses import format_address
from overlay.core.chance import Chances, Stream, derive_seed
from overlay.core.links import LinkShape
from overlay.core.node import MILLISECOND, SECOND
from overlay.sim.actors import NodeActor
from overlay.sim.network import Network
from overlay.sim.simulator import WALL_OFFSET_NS, Simulator
from overlay.systems.federation.bdrs.bdrs import RegistrationService
from overlay.systems.federation.broker.faulted import FaultedBroker
from overlay.systems.federation.clients.terms import Site, Terms
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.language.tree import EVERYTHING
from overlay.systems.federation.names import SERVICE, broker_name
from overlay.systems.federation.tables.tables import Routing
from overlay.systems.federation.wire import values as v
from overlay.systems.roles import Place
from tests.federation.implied import Implied
from tests.federation.village.ledger import Ledger, is_satisfied, seconds
from tests.federation.village.villager import ENTITIES, NUMBERS, State, Villager
from tests.federation.village.witness import Witness, find_way

CLEAR = LinkShape(delay_ms=2)
DELAYS_MS = (1, 3, 5, 8)
"""Of links between brokers, the weights of the tree."""


class Village:
    """``links`` are pairs of brokers. All ``start``, then everything may happen."""

    def __init__(self, brokers, links, settings, shape=CLEAR, seed=1):
        self.seed, self.settings, self.shape = seed, settings, shape
        self.simulator = Simulator(Network(seed, shape))
        self.simulator.on_stepped.append(self._stepped)
        self.delays = {tuple(sorted(link)): DELAYS_MS[i % len(DELAYS_MS)] for i, link in enumerate(links)}
        candidates = tuple((a, b, 1000 * delay) for (a, b), delay in self.delays.items())
        self.config = ServerConfig(settings, brokers, candidates)
        self.addresses = [(f"10.0.0.{i + 1}", 7000) for i in range(brokers + 1)]
        self.homes = list(self.addresses)
        """Where servers start, and start again."""
        self.ledger = Ledger(settings.give_up_s, settings.keepalive_s)
        self.ledger.wall_offset_ns = WALL_OFFSET_NS
        self.numbers = {}
        """By client, the next number of its next life."""
        self.terms = Terms(settings, WALL_OFFSET_NS, self.addresses[-1])
        self.brokers, self.witnesses, self.villagers = {}, {}, {}
        """By name, those that are there."""
        self.actors = {}
        self.service, self.services = None, 0
        """The present life, and how many there were."""
        self.cuts = set()
        self.offline, self.hushed = set(), {}
        """Mobile brokers, and clients with how many hushes of them last."""
        self.trees = {}
        """Edges by life of the service and epoch."""
        self.lives = 0
        self.changed_at = self.published_at = 0
        """When there was the last fault, or a client or subscription came or left."""
        self.start_service()
        for number in range(brokers):
            self.start_broker(number)

    @property
    def now(self):
        return self.simulator.now

    @property
    def routing(self):
        return Routing(self.settings.routing)

    def pass_ms(self, ms):
        self.simulator.run_for(round(ms * MILLISECOND))
        self.ledger.now = self.now
        self.ledger.judge()

    # ---- servers

    def start_service(self):
        if self.service is None:
            self.service = self._server(RegistrationService, "bdrs-0", len(self.addresses) - 1)
            self.services += 1
            self.changed_at = max(self.changed_at, self.now)
            self._settle_network()

    def crash_service(self):
        if self.service is not None:
            self.service = None
            self._remove(SERVICE)
            self.changed_at = max(self.changed_at, self.now)

    def start_broker(self, number):
        name = broker_name(number)
        if name not in self.brokers:
            self.addresses[number] = self.homes[number]
            broker = self._server(FaultedBroker, f"broker-{number}", number)
            self.brokers[name], self.witnesses[name] = broker, Witness(self, broker)
            self._happened(name, "it started")
            self._settle_network()

    def crash_broker(self, number):
        name = broker_name(number)
        if self.brokers.pop(name, None) is not None:
            del self.witnesses[name]
            self._remove(name)
            self._happened(name, "it crashed")

    def leave_broker(self, number):
        name = broker_name(number)
        broker = self.brokers.get(name)
        if broker is not None:
            self._happened(name, "it left")
            lasts = broker.leave(self.now)
            actor = self.actors[name]
            self.simulator.wake(actor)
            self.pass_ms(lasts / MILLISECOND)
            self.crash_broker(number)

    def move_broker(self, number):
        """It has another port."""
        name = broker_name(number)
        if name in self.brokers:
            host, port = self.addresses[number]
            self.addresses[number] = host, port + 1
            self._move(name, self.addresses[number])
            document = {"what": "move", "address": format_address(self.addresses[number])}
            self.brokers[name].fault(document, True, self.now)
            self.simulator.wake(self.actors[name])
            self._happened(name, "it moved")

    def _server(self, make, name, index):
        place = Place(name, index, self.addresses[index], tuple(self.addresses))
        chances = Chances.streams(derive_seed(self.seed, name, self._life()))
        server = make(self.config, place, chances, WALL_OFFSET_NS)
        self._listen(server.peers.name, self.addresses[index], server)
        return server

    # ---- clients

    def join(self, name, number, scopes=(), **more):
        """A client at a broker. One with scopes is a provider."""
        if name in self.villagers:
            return None
        life = self._life()
        address = f"10.0.1.{1 + life % 250}", 1000 + life // 250
        chance = Stream(derive_seed(self.seed, name, life))
        site = Site(broker_name(number), self.addresses[number])
        first = self.numbers.get(name, 0)
        villager = Villager(name, scopes, site, self.terms, chance, self.now, self.ledger, first=first, **more)
        self.villagers[name] = villager
        villager.start(self.now)
        self._listen(name, address, villager)
        self._happened(name, "it joined")
        return villager

    def leave(self, name):
        """In the proper way; it is gone once its broker says so."""
        if name in self.villagers:
            self._happened(name, "it left")
            self._tell(name, "leave")

    def crash(self, name):
        villager = self.villagers.pop(name, None)
        if villager is not None:
            villager.crash()
            self.numbers[name] = villager.core.next_number
            self._remove(name)
            self._happened(name, "it crashed")

    def move(self, name):
        if name in self.villagers:
            host, port = self.actors[name].address
            self._move(name, (host, port + 1))
            self._tell(name, "moved")
            self._happened(name, "it moved")

    def hush(self, name, ms):
        """Nothing passes between a client and all others for so long."""
        actor = self.actors.get(name)
        if name in self.villagers and actor is not None:
            self.hushed[actor] = self.hushed.get(actor, 0) + 1
            self._settle_network()
            self.changed_at = max(self.changed_at, self.now + ms * MILLISECOND)
            self.simulator.at(self.now + ms * MILLISECOND, lambda: self._end_hush(actor))

    def _end_hush(self, actor):
        self.hushed[actor] -= 1
        if not self.hushed[actor]:
            del self.hushed[actor]
        self._settle_network()

    def subscribe(self, name, scopes, expression, expires_ms=60_000, **more):
        villager = self.villagers[name]
        one = villager.subscribe(self.now, scopes, expression, expires_ms, **more)
        self.ledger.now = self.now
        self.ledger.subscribe(villager, one)
        self.changed_at = max(self.changed_at, self.now)
        self.simulator.wake(self.actors[name])
        return one

    def withdraw(self, sid):
        self.ledger.now = self.now
        self.ledger.withdraw(sid)
        self._tell(sid.client, "withdraw", sid)
        self.changed_at = max(self.changed_at, self.now)

    def publish(self, name, scope, entity, x, life_ms=60_000):
        note = self._tell(name, "publish", scope, entity, {"x": x}, life_ms)
        self.ledger.publish(self.villagers[name], note)
        self.published_at = self.now
        return note

    def live(self):
        """Subscriptions by id, as their clients believe."""
        now_ms = (self.now + WALL_OFFSET_NS) // MILLISECOND
        return {sid: one for each in self.villagers.values() for sid, one in each.live.items() if one.expires > now_ms}

    def _tell(self, name, what, *arguments):
        self.ledger.now = self.now
        told = getattr(self.villagers[name], what)(self.now, *arguments)
        self.simulator.wake(self.actors[name])
        return told

    # ---- the network

    def cut(self, a, b):
        """Nothing passes between two brokers."""
        self._happened(broker_name(a), "a link was cut")
        self._happened(broker_name(b), "a link was cut")
        self.cuts.add((min(a, b), max(a, b)))
        self._settle_network()

    def heal(self, a, b):
        self._happened(broker_name(a), "a link was healed")
        self._happened(broker_name(b), "a link was healed")
        self.cuts.discard((min(a, b), max(a, b)))
        self._settle_network()

    def go_offline(self, number):
        """A mobile broker reaches only its clients."""
        self._set_offline(number, is_offline=True)

    def go_online(self, number):
        self._set_offline(number, is_offline=False)

    def _set_offline(self, number, *, is_offline):
        name = broker_name(number)
        if name in self.brokers:
            self._happened(name, "it went offline" if is_offline else "it went online")
            (self.offline.add if is_offline else self.offline.discard)(number)
            self._settle_network()
            self.brokers[name].fault({"what": "offline"}, is_offline, self.now)
            self.simulator.wake(self.actors[name])

    def reshape(self, shape):
        """Of all links from now on."""
        self.shape = shape
        self._settle_network()

    def _settle_network(self):
        network, at = self.simulator.network, self.addresses
        for a in range(len(at)):
            for b in range(a):
                delay = self.delays.get((b, a), 1)
                network.lay(at[b], at[a], _slower(self.shape, delay))
        pairs = [([at[a]], [at[b]]) for a, b in sorted(self.cuts)]
        for number in sorted(self.offline):
            pairs.append(([at[number]], [one for i, one in enumerate(at) if i != number]))
        pairs += [([actor.address], list(at)) for actor in self.hushed]
        network.divide(pairs)

    # ---- parts

    def _life(self):
        self.lives += 1
        return self.lives

    def _listen(self, name, address, node):
        actor = self.actors[name] = NodeActor(address, node)
        self.simulator.listen(address, actor)

    def _remove(self, name):
        self.simulator.remove(self.actors.pop(name))

    def _move(self, name, address):
        actor = self.actors[name]
        self.simulator.remove(actor)
        actor.address = address
        self.simulator.listen(address, actor)
        self._settle_network()

    def _happened(self, name, cause):
        self.ledger.now = self.now
        self.changed_at = max(self.changed_at, self.now)
        self.ledger.disturb(name, cause)

    def _stepped(self, now, actor):
        self.ledger.now = now
        node = actor.node
        name = node.name if isinstance(node, Villager) else node.peers.name
        if name in self.witnesses:
            self.witnesses[name].look(actor.history)
        else:
            node.check_invariants()
        if isinstance(node, Villager) and node.state is State.GONE and self.villagers.get(name) is node:
            self.simulator.at(now, lambda: self._bury(name, node))

    def _bury(self, name, node):
        """A client that has left."""
        if self.villagers.get(name) is node:
            self.numbers[name] = self.villagers.pop(name).core.next_number
            self._remove(name)

    def see_tree(self, epoch, edges):
        """(I3): brokers are told the same forest for the same epoch."""
        known = self.trees.setdefault((self.services, epoch), frozenset(edges))
        assert known == frozenset(edges), f"two trees of epoch {epoch}: {sorted(known)} and {sorted(edges)}"
        groups = {}
        for a, b in edges:
            one, other = groups.setdefault(a, {a}), groups.setdefault(b, {b})
            assert one is not other, f"the edges of epoch {epoch} have a cycle: {sorted(edges)}"
            one |= other
            groups.update(dict.fromkeys(other, one))

    def ways_of(self, note, start):
        return lambda subscription: find_way(self.brokers, self.routing, note, subscription, start)

    # ---- at rest

    def tree(self):
        """The minimum spanning forest of the brokers that are there, over links that are not cut."""
        groups = {name: {name} for name in self.brokers}
        edges = set()
        for _delay, a, b in sorted((delay, broker_name(a), broker_name(b)) for (a, b), delay in self.delays.items()):
            if a in groups and b in groups and groups[a] is not groups[b] and not self._is_cut(a, b):
                edges.add((a, b))
                groups[a] |= groups[b]
                groups.update(dict.fromkeys(groups[b], groups[a]))
        return edges

    def _is_cut(self, a, b):
        numbers = int(a[1:]), int(b[1:])
        return (min(numbers), max(numbers)) in self.cuts or bool(self.offline & set(numbers))

    def implied(self):
        there = {name: one for name, one in self.villagers.items() if one.state is State.IN}
        homes = {name: one.broker for name, one in there.items()}
        advertisements = {
            name: v.Advertisement(name, one.registration, one.role, "", one.scopes) for name, one in there.items()
        }
        live = {sid: one for sid, one in self.live().items() if sid.client in there}
        return Implied(self.tree(), homes, advertisements, live, self.routing, self.settings.covering)

    def differences(self):
        """What is not as live clients imply."""
        implied = self.implied()
        found = [f"{name} is {one.state}" for name, one in self.villagers.items() if one.state is not State.IN]
        found += [f"{name} is at {home}" for name, home in implied.homes.items() if home not in self.brokers]
        there = self.brokers.keys() - {broker_name(number) for number in self.offline}
        if self.service is not None and self.service.registry.all.keys() != there:
            found.append(f"the service knows {sorted(self.service.registry.all)}, not {sorted(there)}")
        for name, broker in self.brokers.items():
            edges = {b if a == name else a for a, b in implied.edges if name in (a, b)}
            others = set(broker.station.tables.registrations.neighbours)
            if others != edges:
                found.append(f"{name} has edges to {sorted(others)}, not {sorted(edges)}")
            found += implied.differences(name, broker.station.tables)
        return found or self._wrongly_watched(implied)

    def _wrongly_watched(self, implied):
        found = []
        for name, one in self.villagers.items():
            wanted = implied.watched(name, self.brokers[one.broker].station.tables) if one.scopes else set()
            watched = set(one.watched)
            answered = {sid for sid in wanted - watched if implied.live[sid].once}
            if watched - wanted or wanted - watched - answered:
                found.append(f"{name} watches {sorted(watched)}, not {sorted(wanted)}")
        return found

    @property
    def bound_s(self):
        """From the last fault until all is right (section 12). Each link that is cut may have to be found dead."""
        settings = self.settings
        longest = max(settings.keepalive_s, settings.broker_keepalive_s)
        grace = 2 if settings.grace_from == "last_heard" else 3
        return grace * longest + 2 * settings.exchange_s + (1 + len(self.cuts)) * settings.give_up_s

    def rest(self):
        """Nothing happens until all must be right; then it is."""
        settled_at = self.changed_at + round(self.bound_s * SECOND)
        accepted_at = self.published_at + round((self.settings.give_up_s + 1) * SECOND)
        self.simulator.run_until(max(self.now, settled_at, accepted_at))
        self.pass_ms(0)
        found = self.differences()
        assert not found, f"not settled at {seconds(self.now)}: " + "; ".join(found)
        self.ledger.check_published()

    def settle_s(self, at_most_s=300, every_ms=50):
        """From the last fault until all is right; None if it is not within ``at_most_s``."""
        while self.differences():
            if self.now - self.changed_at > at_most_s * SECOND:
                return None
            self.pass_ms(every_ms)
        return (self.now - self.changed_at) / SECOND

    def try_everything(self):
        """At rest each notification reaches exactly those that it satisfies, and new queries are answered once."""
        for name in sorted(self.villagers):
            for scope in self.villagers[name].scopes:
                self._try_note(name, scope)
        self._try_queries()

    def _try_note(self, name, scope):
        turn = self.ledger.counts["notifications"]
        live = self.implied().live
        note = self.publish(name, scope, ENTITIES[turn % len(ENTITIES)], NUMBERS[turn % len(NUMBERS)])
        wanted = self.implied().expected_of(note, live) if name in self.implied().homes else set()
        self.pass_ms(1000 * self.settings.give_up_s + 500)
        for sid in live:
            one = self.ledger.subscribed[sid]
            got = note.id in one.received
            is_ended = one.subscription.once and bool(one.received)
            assert got or is_ended or sid not in wanted, f"at rest {sid} did not get {note}"
            assert not got or is_satisfied(one.subscription, note), f"at rest {sid} got {note}"

    def _try_queries(self):
        """Each consumer asks for each scope that someone serves in its part of the tree."""
        implied, asked = self.implied(), []
        for name, one in sorted(self.villagers.items()):
            reached = implied.component(one.broker)
            scopes = {
                scope
                for other in self.villagers.values()
                if other.broker in reached and other.answers and other is not one
                for scope in other.scopes
            }
            if not one.scopes:
                asked += [self.subscribe(name, (scope,), _ANY, once=True) for scope in sorted(scopes)]
        self.pass_ms(1000 * self.settings.give_up_s + 1500)
        if self.routing is not Routing.NOTIFICATIONS:
            for one in asked:
                assert len(self.ledger.subscribed[one.id].received) == 1, f"at rest {one.id} has no answer"


_ANY = EVERYTHING


def _slower(shape, delay_ms):
    return LinkShape(
        **{name: getattr(shape, name) for name in LinkShape.__slots__ if name != "delay_ms"},
        delay_ms=shape.delay_ms + delay_ms,
    )
