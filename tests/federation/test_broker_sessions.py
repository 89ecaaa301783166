"""Edges whose session ends, whose other end restarts, is unreachable, or away; tables that must be told again."""

from __future__ import annotations

from overlay.channel import Down, Reason
from overlay.core.node import SECOND
from overlay.systems.federation.broker.neighbour_events import NeighbourAway, NeighbourLost
from overlay.systems.federation.broker.store import MOST_STORED
from overlay.systems.federation.tables.destinations import neighbour
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.federation.tree_world import World, chain


def test_a_restarted_neighbour_gets_both_tables_and_its_own_are_replaced():
    world = chain(2)
    world.client("p0", "b1", "climate")
    world.client("p1", "b0", "noise")
    c0 = world.client("c0", "b0")
    world.run()
    c0.subscribe("climate")
    world.run()
    world.start("b1")
    world.run(10)
    assert world.known("b1") == {"p1": {"b0"}, "c0": {"b0"}}
    assert world.known("b0") == {"p1": {""}, "c0": {""}}
    assert world.held("b1") == {}, "no one behind it provides climate any more"
    world.check_edges()


def test_a_lost_session_sends_nothing_again_that_is_known():
    world = chain(2)
    world.client("p0", "b1", "climate")
    c0 = world.client("c0", "b0")
    world.run()
    c0.subscribe("climate")
    world.run()
    before = world.count("b0", "out_subtable"), world.count("b1", "out_regtable")
    world["b0"].peers.close("b1")
    world.drain(world["b0"])
    world.run(3)
    assert world.count("b0", "in_hello") == 2
    assert (world.count("b0", "out_subtable"), world.count("b1", "out_regtable")) == before
    assert world.known("b0") == {"p0": {"b1"}, "c0": {""}}
    world.check_edges()


def test_what_a_lost_session_did_not_deliver_is_told_and_sent_again():
    world = chain(2)
    p0, c0 = world.client("p0", "b1", "climate"), world.client("c0", "b0")
    world.run()
    stream, query = c0.subscribe("climate"), c0.subscribe("climate", once=True)
    world.run()
    world.cut_link("b0-b1")
    nid = p0.publish("climate")
    world.client("p1", "b1", "noise")
    world.run(1)
    session = world["b1"].peers.channel._sessions[b"b0"]
    session.break_off(Reason.OVERFLOW)
    world.heal()
    world["b1"].handle_timer(world.now)
    world.drain(world["b1"])
    world.run(5)
    assert c0.notified == [nid]
    assert world.known("b0") == {"p0": {"b1"}, "p1": {"b1"}, "c0": {""}}
    assert world.count("b1", "sent_again") == 1
    assert world.held("b0") == {stream: {"c0"}} and world.held("b1") == {stream: {"b0"}}, f"{query} has ended"
    world.check_edges()


def test_what_is_forwarded_in_the_step_that_ends_the_session_is_stored():
    world = chain(2)
    p0, c0 = world.client("p0", "b1", "climate"), world.client("c0", "b0")
    world.run()
    c0.subscribe("climate")
    world.run()
    b1 = world["b1"]
    b1.peers.channel._sessions[b"b0"].break_off(Reason.OVERFLOW)
    note = p0.note("climate")
    b1.neighbours.forward("b0", note, 1, ("b1",), (), v.Priority.NORMAL)
    assert b1.neighbours.stored == 1 and world.count("b1", "dropped_stored") == 0
    b1.handle_timer(world.now)
    world.drain(b1)
    world.run(5)
    assert c0.notified == [note.id]
    assert world.count("b1", "sent_again") == 1
    world.check_edges()


def test_the_entries_of_an_unreachable_network_broker_go_at_once():
    world = chain(3, give_up_s=1.0)
    c0 = world.client("c0", "b2")
    world.client("p0", "b0", "climate")
    world.run()
    c0.subscribe("climate")
    world.run()
    world.stop("b0")
    world.run(8)
    assert world.known("b1") == {"c0": {"b2"}}
    assert world.known("b2") == {"c0": {""}}
    assert world.events(NeighbourLost, "b1") == [NeighbourLost("b0", "unreachable")]
    assert world.held("b1") == {}
    world.start("b0")
    world.client("p1", "b0", "climate")
    world.run(10)
    assert world.known("b2") == {"c0": {""}, "p1": {"b1"}}
    world.check_edges()


def test_a_broker_that_the_service_says_is_gone():
    world = chain(3)
    world.client("p0", "b0", "climate")
    world.run()
    world.stop("b0")
    del world.service.brokers["b0"]
    world.service.publish("b1-b2")
    world.run()
    assert world.known("b1") == world.known("b2") == {}
    assert world.events(NeighbourLost, "b1") == [NeighbourLost("b0", "gone")]


# ---- a mobile broker


def mobile(**settings):
    """b1 is mobile; a provider at b0, a consumer at b1."""
    world = chain(2, mobile_brokers="1", give_up_s=1.0, broker_keepalive_s=10.0, **settings)
    p0, c0 = world.client("p0", "b0", "climate"), world.client("c0", "b1")
    world.run()
    sid = c0.subscribe("climate")
    world.run()
    assert world.held("b0") == {sid: {"b1"}}
    world.cut_link("b0-b1")
    return world, p0, c0, sid


def test_notifications_for_an_away_mobile_broker_are_stored():
    world, p0, c0, sid = mobile()
    first = p0.publish("climate")
    world.run(8)
    assert world.events(NeighbourAway, "b0") == [NeighbourAway("b1")]
    several = [p0.publish("climate") for _ in range(3)]
    expired = p0.publish("climate", life_s=0.5)
    world.run(1)
    assert world["b0"].neighbours.stored == 4
    assert world.held("b0") == {sid: {"b1"}}
    world.client("p1", "b0", "noise")
    second = c0.subscribe("climate")
    world.run(1)
    world.heal()
    world.run(5)
    assert c0.notified == [first, *several]
    assert expired not in c0.notified and world["b0"].neighbours.stored == 0
    assert world.held("b0") == {sid: {"b1"}, second: {"b1"}}
    assert world.known("b1") == {"p0": {"b0"}, "p1": {"b0"}, "c0": {""}}
    world.check_edges()


def test_a_mobile_broker_that_is_away_too_long():
    world, p0, c0, _ = mobile()
    world.run(8)
    p0.publish("climate")
    world.run(21)
    world.client("p1", "b0", "noise")
    assert world.held("b0") == {} and world["b0"].neighbours.stored == 0
    assert world.events(NeighbourLost, "b0") == [NeighbourLost("b1", "away")]
    world.heal()
    world.run(5)
    nid = p0.publish("climate")
    world.run()
    assert c0.notified[-1] == nid
    world.check_edges()


def test_a_mobile_broker_comes_back_elsewhere():
    world, p0, c0, _ = mobile()
    world.run(4)
    nid = p0.publish("climate")
    moving = world["b1"]
    world.by_address.pop(moving.address)
    moving.address = ("10.0.9.9", 9_000)
    world.by_address[moving.address] = "b1"
    world.heal()
    moving._begin(world.now)
    moving.membership.move(moving.address)
    world.drain(moving)
    world.run()
    world.service.publish("b0-b1")
    world.run(5)
    assert c0.notified == [nid]
    assert world["b0"].peers.address("b1") == moving.address
    world.check_edges()


def test_the_store_is_bounded():
    world, p0, _, _ = mobile()
    world.run(8)
    for _ in range(3):
        p0.say("b0", m.Publish(0, tuple(v.Publication(p0.note("climate")) for _ in range(400))))
        world.run(0.5)
    assert world["b0"].neighbours.stored == MOST_STORED
    assert world.count("b0", "dropped_stored") == 1_200 - MOST_STORED


# ---- versions and sums


def test_a_missing_version_or_a_wrong_sum_asks_for_the_whole_table():
    world = chain(2, exchange_s=5.0)
    world.client("p0", "b1", "climate")
    c0 = world.client("c0", "b0")
    world.run()
    sid = c0.subscribe("climate")
    world.run()
    b1 = world["b1"]
    b1.station.tables.subscriptions.remove(sid, neighbour("b0"))  # as if it had been lost
    b1.station.tables.registrations.remove("c0", "b0")
    world.run(5)
    assert world.count("b1", "sums_wrong") == world.count("b1", "out_tables") == 1
    assert world.known("b1") == {"p0": {""}, "c0": {"b0"}}
    world["b0"].neighbours._edges["b1"].told[m.Table.SUBSCRIPTIONS] += 1
    c0.subscribe("climate")
    world.run()
    assert world.count("b1", "versions_missed") == 1
    assert len(world.held("b1")) == 2
    world.check_edges()


def test_a_whole_table_that_lacks_a_part_is_asked_for_again():
    """The channel loses nothing: the sender counts a part that it does not send."""
    world = chain(2)
    world.client("p0", "b1", "climate")
    c0 = world.client("c0", "b0")
    world.run()
    sids = [c0.subscribe("climate") for _ in range(3)]
    world.run()
    b0, b1 = world["b0"], world["b1"]
    first, _, last = (one for one in b1.station.tables.subscriptions.held_from(neighbour("b0")))
    told = b0.neighbours._edges["b1"].told
    b0._begin(world.now)
    b0.peers.send("b1", m.SubTable(told[m.Table.SUBSCRIPTIONS] + 1, m.Whole.PART, (first,)))
    b0.peers.send("b1", m.SubTable(told[m.Table.SUBSCRIPTIONS] + 3, m.Whole.LAST, (last,)))
    told[m.Table.SUBSCRIPTIONS] += 3
    world.drain(b0)
    world.run()
    assert world.count("b1", "versions_missed") == world.count("b1", "out_tables") == 1
    assert world.held("b1").keys() == set(sids)
    world.check_edges()


def test_a_query_that_is_told_again_while_it_ends_leaves_no_ghost():
    """The whole table, asked for before, crosses the notification that ends the query."""
    world = chain(2)
    p0, c0 = world.client("p0", "b1", "climate"), world.client("c0", "b0")
    world.run()
    c0.subscribe("climate", once=True)
    world.run()
    b1 = world["b1"]
    b1._begin(world.now)
    b1.peers.send("b0", m.Tables(m.Table.SUBSCRIPTIONS))
    world.drain(b1)
    p0.publish("climate")
    world.run()
    assert len(c0.notified) == 1
    assert world.held("b1") == world.held("b0") == {}
    world.check_edges()


def test_long_tables_go_in_parts():
    number = 300
    world = World(2)
    world.is_checking = False  # it takes long with so many rows
    world.run()
    world.client("p0", "b1", "climate")
    c0 = world.client("c0", "b0")
    world.run()
    scopes = ("climate", *(f"a scope with a long name that no one serves {i}" for i in range(10)))
    for _ in range(0, number, 50):
        subs = tuple(
            v.Subscription(v.SubscriptionId("c0", next(world.numbers)), scopes, world.wall_ms + 10**6)
            for _ in range(50)
        )
        c0.say("b0", m.Subscribe(0, subs, ()))
    world.run()
    world.service.publish("b0-b1")
    world.run(3)
    assert len(world.held("b1")) == number
    assert world.count("b0", "too_large") == 0
    parts = world.count("b0", "out_subtable")
    assert parts > 1 and world.count("b0", "out_subtable_bytes") / parts < 65_536
    world["b1"].peers.close("b0")
    world.drain(world["b1"])
    world.start("b1")
    world.client("p0", "b1", "climate")
    world.run(10)
    assert len(world.held("b1")) == number
    world.check_edges()


def test_tables_are_answered_once_a_second():
    world = chain(2)
    b1 = world["b1"]
    for _ in range(5):
        b1._begin(world.now)
        b1.peers.send("b0", m.Tables(m.Table.REGISTRATIONS))
        world.drain(b1)
        world.run(0.1)
    assert world.count("b0", "out_regtable") == 1
    assert world.count("b0", "refused_limit") == 4


def test_nothing_is_told_after_leaving():
    world = chain(3)
    b1 = world["b1"]
    b1.leave(world.now)
    world.drain(b1)
    world.run(1.5)
    assert world.service.brokers.keys() == {"b0", "b2"}
    assert len(b1.neighbours) == 0 and b1.peers.address("bdrs") is None
    assert [type(one) for one in world.service.events_of_sessions].count(Down) == 1
    assert world.now > SECOND


def test_a_subscription_that_expired_on_its_way_is_in_no_table():
    world = chain(2)
    p0 = world.client("p0", "b1", "climate")
    c0 = world.client("c0", "b0")
    world.run()
    world.cut_link("b0-b1")
    sid = c0.subscribe("climate", life_s=0.5)
    world.run(1)
    assert not world.held("b0")
    world.heal()
    world.run(2)
    assert sid not in world.held("b1")
    assert not p0.heard_of(m.Offer)


def test_whoever_has_no_session_waits_behind_those_who_have_one_however_many_addresses_it_claims():
    world = chain(2)
    consumer = world.client("c0", "b0")
    world.run(2)
    knows = world["b0"].knows
    assert knows(consumer.address) and knows(world.servers[1]) and knows(world.servers[-1])
    assert not any(knows((f"10.9.{i}.1", 4_000)) for i in range(100))
    late = world.client("c1", "b0")
    world.run(2)
    assert knows(late.address)
