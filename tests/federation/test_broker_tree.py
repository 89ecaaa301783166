"""Edges of the tree between real brokers: sessions, HELLO, tables, old and new edges."""

from __future__ import annotations

from overlay.systems.federation.broker import exchange
from overlay.systems.federation.broker.neighbour_events import DisappearanceLearned
from overlay.systems.federation.wire import messages as m
from tests.federation.tree_world import World, chain


def test_two_brokers_get_each_others_tables():
    world = chain(2)
    p0 = world.client("p0", "b1", "climate")
    c0 = world.client("c0", "b0")
    world.run()
    sid = c0.subscribe("climate")
    world.run()
    assert world.known("b0") == {"p0": {"b1"}, "c0": {""}}
    assert world.known("b1") == {"p0": {""}, "c0": {"b0"}}
    assert world.held("b1") == {sid: {"b0"}}
    nid = p0.publish("climate")
    world.run()
    assert c0.notified == [nid]
    world.check_edges()


def test_a_provider_is_told_out_of_turn_over_all_links():
    world = chain(3)
    c0 = world.client("c0", "b0")
    p0 = world.client("p0", "b2", "climate")
    world.run()
    assert world.known("b0")["p0"] == {"b1"}
    sid = c0.subscribe("climate")
    world.run()
    assert world.held("b1") == {sid: {"b0"}}
    assert world.held("b2") == {sid: {"b1"}}
    nid = p0.publish("climate")
    world.run()
    assert c0.notified == [nid]
    assert [message.hops for message in c0.heard_of(m.Notify)] == [2]
    c0.withdraw(sid)
    world.run()
    assert world.held("b0") == world.held("b1") == world.held("b2") == {}
    p0.leave()
    world.run()
    assert world.known("b0") == {"c0": {""}}
    assert world.events(DisappearanceLearned, "b0") == [DisappearanceLearned("p0", "regtable")]
    world.check_edges()


def test_many_providers_at_once_are_told_in_several_messages(monkeypatch):
    monkeypatch.setattr(exchange, "MOST_AT_ONCE", 3)
    world = chain(3)
    world.run()
    providers = [f"p{number}" for number in range(10)]
    for name in providers:
        world.client(name, "b2", "climate")
    world.run(1)
    assert world.known("b0") == {name: {"b1"} for name in providers}
    assert world.count("b0", "in_regtable") >= 4, "at most three providers a message"
    assert world.count("b1", "out_regtable_bytes") < 1_000, "each provider once"
    assert world.count("b0", "sums_wrong") == world.count("b0", "out_tables") == 0
    world.check_edges()


def test_a_consumer_is_known_one_hop_from_its_home():
    world = chain(3)
    c0 = world.client("c0", "b0")
    world.client("p0", "b0", "climate")
    world.run()
    c0.subscribe("noise")
    world.run()
    assert world.known("b1") == {"p0": {"b0"}, "c0": {"b0"}}
    assert world.known("b2") == {"p0": {"b1"}}


def test_a_broker_whose_service_is_late_keeps_hello():
    world = World(2)
    world.run()
    world.service.publish("b0-b1", to=["b0"])
    world.run()
    assert world.count("b1", "in_hello") == 1
    assert len(world["b1"].neighbours) == 0 and not world["b0"].station.tables.registrations.neighbours
    world.client("p0", "b1", "climate")
    world.run()
    world["bdrs"].say("b1", world.service.whole())
    world.run()
    assert world.known("b0") == {"p0": {"b1"}}
    assert world.count("b0", "dropped_no_edge") == world.count("b1", "dropped_no_edge") == 0


def test_a_new_tree_moves_an_edge():
    world = World(3, ["b0-b1", "b1-b2", "b0-b2"])
    world.run()
    world.service.publish("b0-b1", "b1-b2")
    c0, p0 = world.client("c0", "b0"), world.client("p0", "b2", "climate")
    world.run()
    sid = c0.subscribe("climate")
    world.run()
    world.service.publish("b0-b2", "b1-b2")
    world.run()
    assert world.known("b1") == {"p0": {"b2"}}
    assert world.known("b0") == {"p0": {"b2"}, "c0": {""}}
    assert world.held("b2") == {sid: {"b0"}}
    assert world.held("b1") == {}
    nid = p0.publish("climate")
    world.run(10)
    assert c0.notified == [nid]
    assert world["b0"].peers.address("b1") is None, "sessions to brokers that are no neighbours are closed"
    world.check_edges()


def test_an_old_edge_carries_notifications_until_the_new_one_is_ready():
    world = World(3, ["b0-b1", "b1-b2", "b0-b2"])
    world.run()
    world.service.publish("b0-b1")
    c0, p0 = world.client("c0", "b0"), world.client("p0", "b1", "climate")
    world.run()
    c0.subscribe("climate")
    world.run()
    world.service.publish("b0-b2", "b1-b2", to=["b0", "b1"])  # b2 does not know yet
    world.run()
    nid = p0.publish("climate")
    world.run()
    assert c0.notified == [nid]
    assert world.count("b1", "out_forward") == 1
    sent = world.count("b1", "out_subtable"), world.count("b1", "out_regtable")
    world.client("p1", "b1", "noise")
    world.run()
    assert (world.count("b1", "out_subtable"), world.count("b1", "out_regtable")) == sent, "no tables over it"
    world["bdrs"].say("b2", world.service.whole())
    world.run()
    assert world["b1"].peers.counters["in_hello"] == 2
    second = p0.publish("climate")
    world.run()
    assert c0.notified == [nid, second]
    assert world.held("b1") == {sid: {"b2"} for sid in world.held("b0")}


def test_an_old_edge_ends_after_give_up():
    world = World(3, ["b0-b1", "b1-b2", "b0-b2"], give_up_s=2.0)
    world.run()
    world.service.publish("b0-b1")
    c0 = world.client("c0", "b0")
    p0 = world.client("p0", "b1", "climate")
    world.run()
    sid = c0.subscribe("climate")
    world.run()
    world.service.publish("b0-b2", "b1-b2", to=["b0", "b1"])
    world.run(1.5)
    assert world.held("b1") == {sid: {"b0"}}
    world.run(1)
    assert world.held("b1") == {}
    p0.publish("climate")
    world.run()
    assert c0.notified == []


def test_changes_within_50_ms_wait_for_their_end():
    world = chain(2)
    world.client("p0", "b0", "climate")
    world.run(0.01)
    assert world.count("b0", "out_regtable") == 1
    for number in range(1, 4):
        world.client(f"p{number}", "b0", "climate")
        world.run(0.01)
    assert world.count("b0", "out_regtable") == 1
    world.run(0.05)
    assert world.count("b0", "out_regtable") == 2
    assert world.known("b1") == {f"p{number}": {"b0"} for number in range(4)}
    world.run(0.1)
    assert world.count("b0", "out_regtable") == 2


def test_periodic_exchange_only():
    world = chain(3, out_of_turn=False, exchange_s=2.0)
    world.client("p0", "b0", "climate")
    world.run(0.5)
    assert "p0" not in world.known("b1")
    world.run(4)
    assert world.known("b2") == {"p0": {"b1"}}
    world.check_edges()


def test_an_edge_that_was_away_for_an_epoch_at_one_end_only():
    world = chain(2)
    p0 = world.client("p0", "b0", "climate")
    world.run()
    world.service.publish(to=["b0"])
    world.run()
    p0.leave()
    world.run()
    assert world.known("b1") == {"p0": {"b0"}}
    world.service.publish("b0-b1")
    world.run()
    assert world.known("b1") == {}
    world.check_edges()
