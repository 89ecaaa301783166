"""The registration service with brokers as they are, over real channels in virtual time."""

from __future__ import annotations

import pytest

from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.federation.bdrs.bdrs import RegistrationService
from overlay.systems.federation.bdrs.events import BrokerRemoved, Removal, TreePublished
from overlay.systems.federation.bdrs.forest import link as link_of
from overlay.systems.federation.bdrs.forest import spanning_forest, tree_of
from overlay.systems.federation.names import SERVICE
from overlay.systems.roles import Place
from tests.federation.tree_world import DELAY, WALL_NS, World

RING = 6
PERIOD_S = 2.0


class Network(World):
    """A ring with one chord, and the service."""

    def __init__(self, brokers=RING):
        links = [f"b{i}-b{(i + 1) % brokers}" for i in range(brokers)] + ["b1-b4"]
        super().__init__(brokers, links, broker_keepalive_s=PERIOD_S, give_up_s=1.0)
        self.serve()
        self.run(PERIOD_S)

    def serve(self):
        """A service, or one that replaces it without its memory."""
        at = self.servers[-1]
        place = Place("bdrs-0", len(self.servers) - 1, at, self.servers)
        self.service = RegistrationService(self.config, place, Chances.streams(77 + next(self.lives)), WALL_NS)
        self.service.name = SERVICE
        self.add(self.service)
        self.reported = []

    def drain(self, node):
        super().drain(node)
        if node is self.service:
            self.reported += [(self.now, event) for event in node.events()]

    @property
    def published(self):
        return self.service.publishing.epochs

    def of(self, kind):
        return [(at, event) for at, event in self.reported if isinstance(event, kind)]

    def check(self, edges):
        """All brokers that run have this tree, and their neighbours in it."""
        assert self.published.edges == edges
        for broker in self.brokers:
            membership = broker.membership
            assert membership.directory.epoch == self.published.epoch
            assert membership.directory.brokers == self.published.brokers
            near = {b if a == broker.name else a for a, b in edges if broker.name in (a, b)}
            assert set(broker.station.tables.registrations.neighbours) == near

    def forest(self, without=()):
        """``without``: brokers and links."""
        pairs = [(f"b{a}", f"b{b}") for a, b, _ in self.config.links]
        return spanning_forest(
            link_of(1_000, a, b) for a, b in pairs if not {a, b, f"{a}-{b}", f"{b}-{a}"} & set(without)
        )


def test_brokers_get_the_tree_of_the_configuration():
    network = Network()
    network.check(tree_of(network.config))
    assert len(network.of(TreePublished)) == 2, "the first broker, and all"
    network.run(20)
    assert len(network.of(TreePublished)) == 2
    assert network.of(BrokerRemoved) == []


def test_a_broker_that_leaves_is_known_at_once():
    network = Network()
    at = network.now
    network["b3"].leave(at)
    network["b3"].handle_timer(at)
    network.drain(network["b3"])
    network.run(3 * DELAY / SECOND)
    ((removed_at, removal),) = network.of(BrokerRemoved)
    assert removed_at == at + DELAY and removal.reason is Removal.LEFT
    network.run(2)
    network.stop("b3")
    network.check(network.forest(["b3"]))


def test_a_broker_that_vanishes_is_removed_after_two_intervals_and_may_come_back():
    network = Network()
    network.stop("b3")
    network.run(2 * DELAY / SECOND)  # what is under way
    heard = network.service.registry.all["b3"].last_heard
    network.run(2 * PERIOD_S + 0.1)
    period = round(PERIOD_S * SECOND)
    assert network.of(BrokerRemoved) == [(heard + 2 * period, BrokerRemoved("b3", Removal.SILENT, 2 * period // 1_000))]
    network.check(network.forest(["b3"]))
    network.start("b3")
    network.run(4)
    network.check(network.forest())


def test_a_dead_link_is_replaced_until_it_answers():
    network = Network()
    dead = next(f"{a}-{b}" for a, b in network.published.edges)
    network.cut_link(dead)
    network.run(10)
    network.check(network.forest([dead]))
    network.heal()
    network.run(10)
    network.check(network.forest())
    assert network.of(BrokerRemoved) == []


def test_the_last_tree_stays_while_the_service_is_away():
    network = Network()
    edges, epoch = network.published.edges, network.published.epoch
    network.stop(SERVICE)
    network.run(10)
    for broker in network.brokers:
        assert broker.membership.directory.epoch == epoch
    network.serve()
    network.run(PERIOD_S + 5)
    assert [event.epoch for _, event in network.of(TreePublished)] == [epoch + 1]
    network.check(edges)


@pytest.mark.parametrize("brokers", [16])
def test_brokers_that_start_together_cause_few_epochs_and_messages(brokers):
    network = Network(brokers)
    network.check(tree_of(network.config))
    counters = network.service.statistics(network.now)
    assert counters["epoch"] == 2 and counters["out_brokers"] == brokers + 1
    (first, _), (second, _) = network.of(TreePublished)
    assert second - first == 50 * MILLISECOND
