"""Random histories of brokers: trees, lost links, restarts, clients and notifications, with invariants after each step.

At rest, with one tree for all, every table is what the live clients imply, and a notification arrives once.
"""

from __future__ import annotations

from random import Random

import pytest

from overlay.systems.federation.tables.registrations import LOCAL
from overlay.systems.federation.wire import messages as m
from tests.federation.tree_world import World
from tests.thorough import THOROUGH

SCOPES = ("climate", "light")


class History:
    def __init__(self, seed):
        self.random = random = Random(seed)
        self.brokers = [f"b{i}" for i in range(random.randint(2, 5))]
        links = [f"{a}-{b}" for i, a in enumerate(self.brokers) for b in self.brokers[i + 1 :]]
        self.world = self.make(links)
        self.clients, self.live = {}, {}
        self.names = iter(range(1_000))
        self.tree = []
        self.world.run()

    def make(self, links):
        random = self.random
        return World(
            len(self.brokers),
            links,
            give_up_s=1.0,
            broker_keepalive_s=5.0,
            exchange_s=random.choice([1.0, 5.0]),
            out_of_turn=random.random() < 0.8,
            covering=random.choice(["off", "off", "covering"]),
            mobile_brokers="1" if random.random() < 0.4 else "",
        )

    def forest(self):
        names = self.random.sample(self.brokers, len(self.brokers))
        pairs = [(one, self.random.choice(names[:i])) for i, one in enumerate(names) if i]
        return [f"{a}-{b}" for a, b in pairs if self.random.random() < 0.9]

    # ---- steps

    def step(self):
        random, world = self.random, self.world
        match random.choice("tttccllrhsssswpppppo"):
            case "t":  # a tree, of which some learn later
                some = random.sample(self.brokers, random.randint(0, len(self.brokers)))
                self.tree = self.forest()
                world.service.publish(*self.tree, to=some)
            case "c":
                self.client()
            case "l":
                world.cut_link("-".join(random.sample(self.brokers, 2)))
            case "h":
                world.heal()
            case "r":
                self.restart(random.choice(self.brokers))
            case "s" if self.consumers():
                self.subscribe(random.choice(self.consumers()))
            case "w" if self.live:
                sid = random.choice(sorted(self.live))
                self.clients[sid.client].withdraw(sid)
                del self.live[sid]
            case "p" if self.providers():
                random.choice(self.providers()).publish(random.choice(SCOPES))
            case "o" if self.clients:
                client = self.clients.pop(random.choice(sorted(self.clients)))
                client.leave()
                self.forget(client.name)
        world.run(random.choice([0.0, 0.001, 0.0015, 0.003, 0.02, 0.3, 3]))

    def providers(self):
        return [client for name, client in sorted(self.clients.items()) if name[0] == "p"]

    def consumers(self):
        return [client for name, client in sorted(self.clients.items()) if name[0] == "c"]

    def client(self):
        is_provider = self.random.random() < 0.5
        name = f"{'p' if is_provider else 'c'}{next(self.names)}"
        home = self.random.choice(self.brokers)
        self.clients[name] = self.world.client(name, home, *(SCOPES if is_provider else ()))
        self.world.run(0.01)

    def subscribe(self, client):
        once = self.random.random() < 0.4
        sid = client.subscribe(self.random.choice(SCOPES), once=once)
        self.live[sid] = once

    def restart(self, broker):
        """Its clients are gone with it."""
        for name in [name for name, client in self.clients.items() if client.broker == broker]:
            client = self.clients.pop(name)
            self.world.nodes.pop(name)
            del self.world.by_address[client.address]
            self.forget(name)
        self.world.start(broker)

    def forget(self, name):
        self.live = {sid: once for sid, once in self.live.items() if sid.client != name}

    # ---- rest

    def rest(self):
        """All links work, and all brokers have one tree."""
        world = self.world
        world.heal()
        world.run(8)  # sessions that were lost are found, and opened again
        self.tree = self.forest()
        world.service.publish(*self.tree)
        world.run(12)
        self.check_edges()
        self.compare()
        for provider in self.providers():
            self.check_notification(provider)

    def check_edges(self):
        self.world.check_edges()

    def hops(self, broker):
        """By broker of the component, the first one on the way there."""
        neighbours = {one: set() for one in self.brokers}
        for a, b in (edge.split("-") for edge in self.tree):
            neighbours[a].add(b)
            neighbours[b].add(a)
        found, stack = {broker: broker}, [broker]
        while stack:
            one = stack.pop()
            for other in neighbours[one] - found.keys():
                found[other] = other if one == broker else found[one]
                stack.append(other)
        return found

    def pending(self):
        """Queries that were answered have ended."""
        ended = {
            sid for one in self.clients.values() for message in one.heard_of(m.Notify) for sid in message.satisfied
        }
        return {sid for sid, once in self.live.items() if not (once and sid in ended)}

    def compare(self):
        live = self.pending()
        for broker in self.brokers:
            hops = self.hops(broker)
            known = self.world.known(broker)
            expected = {}
            for name, client in self.clients.items():
                first = hops.get(client.broker)
                if first == broker:
                    expected[name] = {LOCAL}
                elif first is not None and (name[0] == "p" or first == client.broker):
                    expected[name] = {first}
            assert known == expected, f"{broker}: registrations"
            if self.world.settings.covering == "off":
                assert self.world.held(broker) == self.expected_of(broker, hops, live), f"{broker}: subscriptions"

    def expected_of(self, broker, hops, live):
        found = {}
        for sid in live:
            home = self.clients[sid.client].broker
            if home == broker:
                found[sid] = {sid.client}
            elif home in hops and any(
                (one.broker in hops and hops[one.broker] != hops[home]) or one.broker == broker
                for one in self.providers()
            ):
                found[sid] = {hops[home]}
        return found

    def check_notification(self, provider):
        live = self.pending()
        before = {name: len(client.notified) for name, client in self.clients.items()}
        table = self.world[provider.broker].station.tables.subscriptions
        scope = SCOPES[0]
        owed = set()
        for sid in live:
            home = self.clients[sid.client].broker
            row = self.world[home].station.tables.subscriptions.get(sid)
            if row and scope in row.subscription.scopes and home in self.hops(provider.broker):
                owed.add(sid.client)
        nid = provider.publish(scope)
        self.world.run(0.5)
        for name in owed:
            new = self.clients[name].notified[before[name] :]
            assert new == [nid], f"{name} got {new}, {len(table)} subscriptions at the provider"
        for name in self.clients.keys() - owed:
            assert len(self.clients[name].notified) == before[name], f"{name} was notified"


@pytest.mark.parametrize("seed", range(200 if THOROUGH else 5))
def test_random_histories(seed):
    history = History(seed)
    for _ in range(2):
        for _ in range(history.random.randint(5, 30)):
            history.step()
        history.rest()
