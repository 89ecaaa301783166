"""Random histories of a registration service, compared with a naive one that is told the same messages.

Brokers join, leave, crash, lose contact, move, change their links and their keep-alives; the service restarts.
"""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from overlay.core.addresses import format_address
from overlay.core.node import MILLISECOND
from overlay.peers.peers import Heard
from overlay.systems.federation.bdrs.events import TreePublished
from overlay.systems.federation.bdrs.publishing import HOLD
from overlay.systems.federation.bdrs.registry import State
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import Candidate
from tests.federation.registry_world import World, s
from tests.federation.test_bdrs_forest import forest_of_networkx, naive_links
from tests.thorough import examples

NAMES = [f"b{i}" for i in range(6)]
names = st.sampled_from(NAMES)
links = st.lists(st.tuples(names, st.integers(1, 3), st.integers(0, 4)), max_size=4, unique_by=lambda row: row[0])
"""Other broker, delay, and 0 for down."""
INTERVAL, GRACE = s(2), s(4)


class Naive:
    """What section 8 says, from the list of all that was heard; nothing is kept up to date."""

    def __init__(self):
        self.heard = []
        """(instant, peer, message)"""
        self.highest = 0

    def registrations(self, now):
        """By broker: its advertisement, and when it was heard last."""
        live = {}
        for at, peer, message in self.heard:
            live = {name: row for name, row in live.items() if at < row[1] + GRACE}
            if isinstance(message, m.KeepAlive):
                live = {name: (row[0], at if name == peer else row[1]) for name, row in live.items()}
            elif message.is_registering:
                live[peer] = message.broker, at
            else:
                live.pop(peer, None)
        return {name: row for name, row in live.items() if now < row[1] + GRACE}

    def hear(self, now, peer, message):
        self.heard.append((now, peer, message))
        self.highest = max(self.highest, message.number if isinstance(message, m.KeepAlive) else message.last_epoch)


class Machine(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 99))
    def begin(self, seed):
        self.world = World(seed)
        self.moved = 0
        self.watch()

    def watch(self):
        """Let the naive one hear what a new service hears."""
        naive, service, take = Naive(), self.world.service, self.world.service.peers.events

        def events():
            found = take()
            for event in found:
                if isinstance(event, Heard):
                    naive.hear(self.world.now, event.peer, event.message)
            return found

        service.peers.events = events
        self.naive = naive

    # ---- what brokers do

    @rule(name=names, links=links, place=st.none() | st.tuples(st.integers(0, 3), st.integers(0, 3)))
    def start(self, name, links, place):
        """Also instead of one that runs: it has crashed."""
        node = self.world.add(name, position=place)
        self.link(node, links)
        self.world.moment()
        self.world.register(node)

    @rule(name=names, links=links)
    def change_links(self, name, links):
        if name in self.world.nodes:
            self.link(self.world.nodes[name], links)
            self.register(name)

    def link(self, node, links):
        node.candidates = tuple(Candidate(other, delay, up > 0) for other, delay, up in links if other != node.name)

    @rule(name=names)
    def register(self, name):
        node = self.world.nodes.get(name)
        if node and not self.say(node, m.Broker(0, node.advertisement(), node.epoch, True)):
            self.world.open(node)
            self.world.moment()

    @rule(name=names)
    def leave(self, name):
        node = self.world.nodes.get(name)
        if node:
            self.say(node, m.Broker(0, node.advertisement(), node.epoch, False))

    @rule(some=st.sets(names))
    def keep_alive(self, some):
        for name in sorted(some & self.world.nodes.keys()):
            node = self.world.nodes[name]
            self.say(node, m.KeepAlive(node.epoch))

    @rule(name=names)
    def move(self, name):
        node = self.world.nodes.get(name)
        if node:
            self.moved += 1
            node.address = node.address[0], 2_000 + self.moved
            node.endpoint = format_address(node.address)
            node.peers.channel.moved(self.world.now)
            self.world._step(node)
            self.register(name)

    @rule(name=names)
    def stop(self, name):
        self.world.nodes.pop(name, None)

    def say(self, node, message):
        node.peers.now = self.world.now
        is_sent = node.peers.send("bdrs", message)
        self.world._step(node)
        return is_sent

    # ---- what else happens

    @rule(name=names)
    def cut(self, name):
        self.world.cut.add(name)

    @rule()
    def heal(self):
        self.world.cut.clear()

    @rule(ms=st.sampled_from([0, 1, 2, 10, 48, 50, 100, 900, 1_998, 2_000, 3_000]))
    def wait(self, ms):
        self.world.run(ms * MILLISECOND)

    @rule()
    def restart(self):
        self.world.log.clear()
        self.world.start()
        self.watch()

    @rule()
    def settle(self):
        """All that run stay registered: they get the same epoch, which has all of them."""
        world = self.world
        world.cut.clear()
        for _ in range(20):
            world.run(s(1))
            for node in world.nodes.values():
                if not self.say(node, m.KeepAlive(node.epoch)):
                    world.open(node)
                elif any(isinstance(message, m.Nack) for message in node.news()):
                    self.say(node, m.Broker(0, node.advertisement(), node.epoch, True))
        world.run(s(1) - 1)
        registered = world.service.registry.advertisements()
        assert registered.keys() == world.nodes.keys()
        published = world.published()
        for node in world.nodes.values():
            assert node.epoch == published.epoch, "each is told"
            assert node.brokers == registered, "and knows all"
            assert node.edges == published.edges

    # ---- what is always so

    @invariant()
    def is_as_the_naive_one_says(self):
        world = self.world
        world.run(1)  # what has been sent at this instant
        registry, live = world.service.registry, self.naive.registrations(world.now)
        assert registry.advertisements() == {name: row[0] for name, row in live.items()}
        for name, (_, at) in live.items():
            expected = State.VALID if world.now < at + INTERVAL else State.INVALID
            assert registry.state(name) is expected and registry.all[name].last_heard == at
        published = world.published()
        if world.service.publishing.next_timer() is None:
            assert published.epoch >= self.naive.highest
            assert published.brokers == registry.advertisements()
            assert set(published.edges) == forest_of_networkx(naive_links(published.brokers))
        self.check_epochs()

    def check_epochs(self):
        """They rise, with a hold between, and each has a forest; brokers have none that was not published."""
        trees = self.world.events(TreePublished)
        for (early, first), (late, second) in pairwise(trees):
            assert first.epoch < second.epoch and late >= early + HOLD
        assert all(nx.is_forest(nx.Graph(list(tree.edges))) for _, tree in trees if tree.edges)


def test_a_registration_service_does_what_a_naive_one_does():
    machine = settings(max_examples=examples(160), stateful_step_count=25)
    Machine.TestCase.settings = machine
    Machine.TestCase().runTest()


def test_a_registration_that_crosses_an_epoch_is_answered_with_it_once_more():
    machine = Machine()
    machine.begin(0)
    machine.start("b1", [], None)
    machine.start("b0", [], None)
    machine.settle()
    machine.leave("b0")
    machine.is_as_the_naive_one_says()
    machine.move("b1")
    machine.wait(100)
    node = machine.world.nodes["b1"]
    assert (node.epoch, list(node.brokers)) == (4, ["b1"])
    assert [message.gone for message in node.news() if isinstance(message, m.Brokers)][-2:] == [("b0",), ("b0",)]
