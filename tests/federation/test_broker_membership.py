"""A broker at the registration service: registering, keep-alives, trees in parts and of any age, dead links."""

from __future__ import annotations

import pytest

from overlay.systems.federation.broker.directory import Directory
from overlay.systems.federation.broker.neighbour_events import DisappearanceLearned, LinkChanged, TreeChanged
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.federation.tree_world import World, chain

BROKERS = [v.BrokerAdvertisement(f"b{i}", f"10.0.0.1:{7_000 + i}") for i in range(5)]


def test_a_broker_registers_with_its_links_and_keeps_alive():
    world = World(2, broker_keepalive_s=2.0, keepalive_share=0.5)
    world.run(5.5)
    first = world.service.heard_of(m.Broker, "b0")
    assert first == [
        m.Broker(1, v.BrokerAdvertisement("b0", "10.0.0.1:7000", candidates=(v.Candidate("b1", 1_000, True),)), 0, True)
    ]
    assert world.service.heard_of(m.KeepAlive, "b0") == [m.KeepAlive(0)] * 5
    world.service.publish("b0-b1")
    world.run(1)
    assert world.service.heard_of(m.KeepAlive, "b0")[-1] == m.KeepAlive(1)


def test_a_forgotten_broker_registers_again():
    world = World(2, broker_keepalive_s=2.0)
    world.run()
    world.service.say("b0", m.Nack(2, 0, m.Code.UNKNOWN, "Register first."))
    world.run()
    assert len(world.service.heard_of(m.Broker, "b0")) == 2
    world.service.say("b0", m.Nack(17, 2, m.Code.LIMIT, "Too many."))
    world.run(0.5)
    assert len(world.service.heard_of(m.Broker, "b0")) == 2


def test_registering_without_an_answer_is_tried_again():
    world = World(2, broker_keepalive_s=2.0)
    world.service.answers = False
    world.run(3.5)
    assert len(world.service.heard_of(m.Broker, "b0")) == 4
    assert not world.service.heard_of(m.KeepAlive)


def test_without_the_service_the_last_tree_stays_and_a_new_one_is_found():
    world = chain(2, broker_keepalive_s=2.0, give_up_s=1.0)
    world.client("p0", "b0", "climate")
    service = world.service
    world.stop("bdrs")
    world.run(20)
    assert world.known("b1") == {"p0": {"b0"}}
    world.service = world.add(type(service)(world, "bdrs", service.address, seed=2))
    world.run(5)
    assert set(world.service.brokers) == {"b0", "b1"}
    assert world.service.heard_of(m.Broker, "b0")[0].last_epoch == 1


def test_a_dead_link_between_living_brokers_is_told_and_tried_again():
    world = World(3, ["b0-b1", "b1-b2", "b0-b2"], broker_keepalive_s=4.0, give_up_s=1.0)
    world.run()
    world.service.publish("b0-b1", "b1-b2")
    world.client("p0", "b0", "climate")
    world.run()
    world.cut_link("b0-b1")
    world.run(8)
    for name, other in (("b0", "b1"), ("b1", "b0")):
        told = {one.broker: one.is_up for one in world.service.brokers[name].candidates}
        assert told[other] is False and told["b2"] is True
    assert world.known("b1") == {}
    world.service.publish("b0-b2", "b1-b2")
    world.run()
    assert world.known("b1") == {"p0": {"b2"}}
    world.heal()
    world.run(9)
    for name in ("b0", "b1"):
        assert all(one.is_up for one in world.service.brokers[name].candidates)
    assert [one.is_up for one in world.events(LinkChanged, "b0")] == [False, True]
    world.service.publish("b0-b2", "b1-b2")
    world.run(2)
    assert world["b0"].peers.address("b1") is None, "a spare link needs no session"
    world.check_edges()


def test_what_the_service_says_is_gone_is_reported():
    world = chain(3)
    del world.service.brokers["b2"]
    world.service.publish("b0-b1")
    world.run()
    assert world.events(DisappearanceLearned, "b0") == [DisappearanceLearned("b2", "brokers")]
    assert world.events(TreeChanged, "b1")[-1] == TreeChanged(2, ("b0",))


def test_only_newer_trees_are_taken_and_only_from_the_service():
    world = chain(2)
    forged = m.Brokers(9, m.Whole.LAST, (), (), ())
    world["b1"]._begin(world.now)
    world["b1"].peers.send("b0", forged)
    world.drain(world["b1"])
    world.service.epoch, world.service.edges = 0, []
    world.service.say("b0", world.service.whole())
    world.run()
    assert len(world["b0"].neighbours) == 1 and world["b0"].neighbours.epoch == 1
    assert world.count("b0", "dropped_not_service") == 1


# ---- what the service tells


def brokers(epoch, whole, *several, gone=(), edges=()):
    return m.Brokers(epoch, whole, tuple(BROKERS[i] for i in several), gone, edges)


def test_parts_are_joined_with_their_edges():
    directory = Directory()
    assert directory.take(brokers(4, m.Whole.PART, 0, 1, edges=(("b0", "b1"),))) is None
    assert directory.take(brokers(4, m.Whole.PART, 2)) is None and not directory.epoch
    news = directory.take(brokers(4, m.Whole.LAST, 3, edges=(("b0", "b3"), ("b1", "b2"))))
    assert news.is_new_tree and [one.id for one in news.changed] == ["b0", "b1", "b2", "b3"]
    assert directory.neighbours("b0") == {"b1", "b3"}


def test_parts_of_another_epoch_begin_anew():
    directory = Directory()
    directory.take(brokers(4, m.Whole.PART, 0))
    directory.take(brokers(5, m.Whole.LAST, 1))
    assert list(directory.brokers) == ["b1"]


def test_changes_and_those_who_are_gone():
    directory = Directory()
    directory.take(brokers(1, m.Whole.LAST, 0, 1, 2))
    news = directory.take(brokers(2, m.Whole.CHANGES, 3, gone=("b1", "b9"), edges=(("b0", "b2"),)))
    assert (news.gone, [one.id for one in news.changed]) == (("b1",), ["b3"])
    assert directory.take(brokers(1, m.Whole.LAST, 0)) is None
    again = directory.take(brokers(2, m.Whole.CHANGES, 4, edges=(("b0", "b4"),)))
    assert not again.is_new_tree and "b4" in directory.brokers
    assert directory.neighbours("b0") == {"b2"}, "an epoch has one tree"


@pytest.mark.parametrize("edge", [("b0", "b0"), ("b0", "b7"), ("b3", "b4")])
def test_an_edge_that_cannot_be_is_left_out(edge):
    world = World(2)
    world.run()
    world.service.publish("-".join(edge))
    world.run()
    assert len(world["b0"].neighbours) == 0
