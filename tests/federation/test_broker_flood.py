"""Links that form cycles (``cycles`` suppress): tables are flooded by id and version, and notifications arrive once."""

from __future__ import annotations

import pytest

from tests.federation.test_broker_histories import History
from tests.federation.tree_world import World
from tests.thorough import THOROUGH

RING = ["b0-b1", "b1-b2", "b2-b3", "b0-b3"]


def ring(**settings):
    world = World(4, RING, cycles="suppress", routing="flooding", broker_keepalive_s=5.0, give_up_s=1.0, **settings)
    world.run()
    world.service.publish(*RING)
    return world.run()


def test_a_withdrawn_subscription_does_not_live_on_a_ring():
    world = ring()
    c0 = world.client("c0", "b0")
    world.run()
    sid = c0.subscribe("climate")
    world.run()
    assert world.held("b2") == {sid: {"b1", "b3"}}
    assert world.held("b1") == {sid: {"b0", "b2"}}
    assert world.held("b0") == {sid: {"c0"}}
    c0.withdraw(sid)
    world.run()
    assert [world.held(name) for name in ("b0", "b1", "b2", "b3")] == [{}] * 4
    assert sum(world.count(name, "out_subtable") for name in ("b0", "b1", "b2", "b3")) <= 2 * 2 * len(RING)


def test_registrations_are_flooded_and_withdrawn():
    world = ring()
    p0 = world.client("p0", "b0", "climate")
    world.client("c0", "b0")
    world.run()
    assert world.known("b2") == {"p0": {"b1", "b3"}}
    assert world.known("b1")["c0"] == {"b0"}
    p0.leave()
    world.run()
    assert world.known("b2") == {} and world.known("b1") == {"c0": {"b0"}}


@pytest.mark.parametrize("once", [False, True])
def test_a_notification_arrives_once_over_any_way(once):
    world = ring()
    p0, c0 = world.client("p0", "b2", "climate"), world.client("c0", "b0")
    world.run()
    c0.subscribe("climate", once=once)
    world.run()
    first = p0.publish("climate")
    world.run()
    assert c0.notified == [first]
    world.cut_link("b0-b1")
    second = p0.publish("climate")
    world.run()
    assert c0.notified == ([first] if once else [first, second])
    for name in ("b0", "b1", "b2", "b3"):
        assert len(world.held(name)) == (0 if once else 1)


def test_what_is_of_a_broker_that_is_gone_goes_everywhere():
    world = ring()
    c0 = world.client("c0", "b0")
    world.client("p0", "b0", "climate")
    world.run()
    c0.subscribe("climate")
    world.run()
    world.stop("b0")
    del world.service.brokers["b0"]
    world.service.publish("b1-b2", "b2-b3")
    world.run(3)
    assert [world.held(name) for name in ("b1", "b2", "b3")] == [{}] * 3
    assert [world.known(name) for name in ("b1", "b2", "b3")] == [{}] * 3


def test_what_was_of_an_earlier_life_goes_everywhere():
    world = ring()
    c0 = world.client("c0", "b0")
    world.client("p0", "b0", "climate")
    world.run()
    c0.subscribe("climate")
    world.run()
    world.start("b0")
    world.run(12)
    assert [world.held(name) for name in ("b0", "b1", "b2", "b3")] == [{}] * 4
    assert [world.known(name) for name in ("b0", "b1", "b2", "b3")] == [{}] * 4


class OnCycles(History):
    """Any links at all."""

    def make(self, links):
        return World(
            len(self.brokers), links, give_up_s=1.0, broker_keepalive_s=5.0, exchange_s=1.0, cycles="suppress",
            routing="flooding",
        )  # fmt: skip

    def forest(self):
        pairs = [f"{a}-{b}" for i, a in enumerate(self.brokers) for b in self.brokers[i + 1 :]]
        return [pair for pair in pairs if self.random.random() < 0.7]

    def check_edges(self):
        """Tables are no state of edges here."""

    def compare(self):
        live = self.pending()
        for broker in self.brokers:
            hops = self.hops(broker)
            expected = {sid for sid in live if self.clients[sid.client].broker in hops}
            assert self.world.held(broker).keys() == expected, f"{broker}: subscriptions"
            known = {
                name for name, one in self.clients.items()
                if one.broker in hops and (name[0] == "p" or one.broker == broker or self.is_edge(one.broker, broker))
            }  # fmt: skip
            assert self.world.known(broker).keys() == known, f"{broker}: registrations"

    def is_edge(self, a, b):
        return f"{a}-{b}" in self.tree or f"{b}-{a}" in self.tree


@pytest.mark.parametrize("seed", range(100 if THOROUGH else 2))
def test_random_histories_on_cycles(seed):
    history = OnCycles(seed)
    for _ in range(2):
        for _ in range(history.random.randint(5, 30)):
            history.step()
        history.rest()
