"""The registration service, with scripted brokers over real channels in virtual time."""

from __future__ import annotations

import pytest

from overlay.systems.federation.bdrs.events import BrokerRegistered, BrokerRemoved, Removal, TreePublished
from overlay.systems.federation.bdrs.publishing import HOLD
from overlay.systems.federation.bdrs.registry import State
from overlay.systems.federation.wire import messages as m
from tests.federation.registry_world import DELAY, MOMENT, World, s


def mesh(world, *names):
    """Brokers, all linked with 1 ms, that register at once."""
    nodes = [world.add(name, *((other, 1_000) for other in names if other != name)) for name in names]
    world.moment()
    world.register(*nodes)
    return nodes


def test_a_broker_registers_and_is_told_of_the_tree():
    world = World()
    b0 = world.add("b0", ("b1", 500))
    world.moment()
    at = world.now + DELAY
    world.register(b0)
    world.moment()
    first = m.Brokers(1, m.Whole.LAST, (b0.advertisement(),), (), ())
    assert b0.heard == [(at + DELAY, m.Ack(1)), (at + DELAY, first)], "the first epoch comes with the registration"
    assert world.log == [(at, BrokerRegistered("b0", b0.endpoint, False)), (at, TreePublished(1, 1, ()))]
    b1 = world.add("b1", ("b0", 400))
    world.run(HOLD)
    world.register(b1)
    world.moment()
    changes = m.Brokers(2, m.Whole.CHANGES, (b1.advertisement(),), (), (("b0", "b1"),))
    assert b0.heard[2:] == [(b1.heard[0][0], changes)]
    whole = m.Brokers(2, m.Whole.LAST, (b0.advertisement(), b1.advertisement()), (), (("b0", "b1"),))
    assert b1.news() == [m.Ack(1), whole]
    assert world.service.statistics(world.now) | {"brokers": 2, "epoch": 2, "edges": 1, "sessions": 2} == (
        world.service.statistics(world.now)
    )


def test_brokers_that_start_together_cause_two_epochs():
    world = World()
    nodes = mesh(world, *(f"b{i}" for i in range(12)))
    world.run(HOLD + MOMENT)
    trees = [event for _, event in world.events(TreePublished)]
    assert [(tree.epoch, tree.brokers, len(tree.edges)) for tree in trees] == [(1, 1, 0), (2, 12, 11)]
    first, second = (at for at, _ in world.events(TreePublished))
    assert second == first + HOLD
    told = [sum(isinstance(message, m.Brokers) for message in node.news()) for node in nodes]
    assert told == [2] + 11 * [1]
    assert all(node.edges == trees[1].edges and node.brokers.keys() == {n.name for n in nodes} for node in nodes)


@pytest.mark.parametrize(("grace_from", "intervals"), [("last_heard", 2), ("first_missed", 3)])
def test_states_change_to_the_nanosecond(grace_from, intervals):
    world = World(grace_from=grace_from)
    b0, b1 = mesh(world, "b0", "b1")
    at = world.now + DELAY
    world.run(s(1) - DELAY)
    assert world.service.registry.all["b0"].last_heard == at
    world.keep_alive(b0, b1)
    z = world.now + DELAY
    state = world.service.registry.state
    world.run(DELAY + s(2) - 1)
    assert world.now == z + s(2) - 1 and state("b0") is State.VALID
    world.run(1)
    assert state("b0") is State.INVALID
    assert world.published().epoch == 2, "an invalid broker stays in the tree"
    world.run(s(2 * intervals - 2) - 1 - DELAY)
    world.keep_alive(b1)
    world.run(DELAY)
    assert world.now == z + s(2 * intervals) - 1 and state("b0") is State.INVALID
    assert state("b1") is State.VALID
    world.run(1)
    assert state("b0") is State.UNKNOWN
    assert world.events(BrokerRemoved) == [
        (z + s(2 * intervals), BrokerRemoved("b0", Removal.SILENT, intervals * 2_000_000))
    ]
    world.run(DELAY)
    assert b1.heard[-1] == (world.now, m.Brokers(3, m.Whole.CHANGES, (), ("b0",), ()))


def test_a_keep_alive_at_the_instant_of_the_end_comes_too_late():
    world = World()
    (b0,) = mesh(world, "b0")
    world.moment()
    end = world.service.registry.all["b0"].last_heard + s(4)
    world.run(end - DELAY - world.now)
    world.keep_alive(b0)
    b0.news()
    world.moment()
    assert b0.news() == [m.Nack(2, 0, m.Code.UNKNOWN, "Register first.")]
    world.register(b0)
    world.moment()
    assert b0.news() == [m.Ack(2)], "the end itself was an epoch, so the next one waits"
    world.run(HOLD)
    assert b0.epoch == 3 and b0.brokers.keys() == {"b0"}


def test_keep_alives_hold_a_broker():
    world = World()
    nodes = mesh(world, "b0", "b1", "b2")
    world.run(s(30), keeps=nodes)
    assert world.events(BrokerRemoved) == []
    assert world.published().epoch == 2


def test_a_broker_that_leaves_is_told_to_all_others_at_once():
    world = World()
    b0, b1, b2 = mesh(world, "b0", "b1", "b2")
    world.run(s(1))
    for node in (b0, b1, b2):
        node.news()
    at = world.now + DELAY
    world.leave(b1)
    world.moment()
    assert b1.news() == [m.Ack(2)]
    assert b0.heard[-1] == b2.heard[-1] == (at + DELAY, m.Brokers(3, m.Whole.CHANGES, (), ("b1",), (("b0", "b2"),)))
    assert world.events(BrokerRemoved) == [(at, BrokerRemoved("b1", Removal.LEFT, 1_000_000))]
    world.leave(b1)
    world.moment()
    assert b1.news() == [m.Ack(3)], "who is unknown may leave"


def test_an_old_epoch_is_answered_by_what_is_lacking():
    world = World()
    b0, b1 = mesh(world, "b0", "b1")
    world.run(s(1))
    b0.news()
    world.send(b0, m.KeepAlive(1))
    world.moment()
    assert b0.news() == [m.Brokers(2, m.Whole.CHANGES, (b1.advertisement(),), (), (("b0", "b1"),))]
    world.send(b0, m.KeepAlive(2))
    world.moment()
    assert b0.news() == []
    world.send(b0, m.KeepAlive(0))
    world.moment()
    (whole,) = b0.news()
    assert whole.whole is m.Whole.LAST and len(whole.brokers) == 2


def test_a_link_counts_unless_an_end_says_that_it_is_down():
    world = World()
    b0, b1, b2 = mesh(world, "b0", "b1", "b2")
    world.run(s(1))
    assert b2.edges == (("b0", "b1"), ("b0", "b2"))
    world.set_up(b0, "b1", False)
    world.set_up(b1, "b0", False)
    world.run(HOLD + MOMENT)
    assert b2.edges == (("b0", "b2"), ("b1", "b2"))
    world.set_up(b0, "b1", True)
    world.run(HOLD + MOMENT)
    assert b2.edges == (("b0", "b2"), ("b1", "b2"))
    world.set_up(b1, "b0", True)
    world.run(HOLD + MOMENT)
    assert b2.edges == (("b0", "b1"), ("b0", "b2"))


def test_the_same_advertisement_again_is_no_new_epoch():
    world = World()
    b0, b1 = mesh(world, "b0", "b1")
    world.run(s(1))
    world.register(b0)
    world.leave(b1)
    world.register(b1)
    world.moment()
    assert world.published().epoch == 3, "left at once, and back within the hold"
    world.run(HOLD)
    assert world.published().epoch == 4
    world.run(HOLD)
    before = world.published().epoch
    world.register(b0, b1)
    world.run(s(1))
    assert world.published().epoch == before
