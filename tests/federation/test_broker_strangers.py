"""What brokers do not take: from strangers, from clients, from neighbours that misbehave."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.federation.broker import exchange, flood
from overlay.systems.federation.broker.hellos import MOST_HELLOS, Hellos
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.federation.drawn import MESSAGES
from tests.federation.tree_world import World, chain
from tests.thorough import examples

ENTRY = v.Entry(v.Advertisement("p9", 1, v.Role.PROVIDER, "", ("climate",)), "10.0.0.9:9", "b9", 1)
NOTE = v.Notification(v.NotificationId("p9", 1), "room", "r1", "climate", 1, 1 << 60, {"x": 1})
SUB = v.Subscription(v.SubscriptionId("c9", 1), ("climate",), 1 << 60)
OWN = v.BrokerAdvertisement("b9", "10.0.0.9:9")


@pytest.mark.parametrize(
    "message",
    [
        m.SubTable(1, m.Whole.LAST, (SUB,)),
        m.RegTable(1, m.Whole.CHANGES, (ENTRY,), (), v.Summary()),
        m.Tables(m.Table.SUBSCRIPTIONS),
        m.Forward(NOTE),
    ],
    ids=lambda message: type(message).__name__,
)
def test_tables_and_notifications_of_no_neighbour_are_dropped_and_counted(message):
    world = chain(2)
    stranger = world.node("b9")
    stranger.open("b0")
    stranger.say("b0", m.Hello(OWN, 1, v.Summary(), v.Summary()), message, message)
    world.run()
    assert world.count("b0", "dropped_no_edge") == 2
    assert world.known("b0") == world.held("b0") == {}
    assert stranger.heard == []


def test_hello_in_the_name_of_another_is_refused():
    world = chain(2)
    stranger = world.node("b9")
    stranger.open("b0")
    stranger.say("b0", m.Hello(v.BrokerAdvertisement("b1", "10.0.0.9:9"), 1, v.Summary(), v.Summary()))
    world.run()
    assert [message.code for message in stranger.heard_of(m.Nack)] == [m.Code.BAD]
    assert len(world["b0"].neighbours) == 1


def test_hellos_of_strangers_are_bounded():
    neighbours = {"n0": None}
    hellos = Hellos(neighbours)
    hello = m.Hello(OWN, 1, v.Summary(), v.Summary())
    hellos.add("n0", hello)
    for number in range(MOST_HELLOS + 10):
        hellos.add(f"b{number}", hello)
    hellos.check_invariants()
    kept = [number for number in range(MOST_HELLOS + 10) if hellos.get(f"b{number}")]
    assert kept == list(range(10, MOST_HELLOS + 10)) and hellos.get("n0")
    assert hellos.read("n0") and not hellos.read("n0")


def neighbour_of(world, domain=""):
    """A node in the place of b1, which has said HELLO."""
    address = world["b1"].address
    world.stop("b1")
    node = world.node("b1")
    del world.by_address[node.address]
    node.address = address
    world.by_address[address] = "b1"
    node.open("b0")
    world.run(0.1)
    advertisement = v.BrokerAdvertisement("b1", "10.0.0.1:7001", domain=domain)
    node.say("b0", m.Hello(advertisement, 1, v.Summary(), v.Summary()))
    world.run(0.1)
    assert world["b0"].neighbours.is_neighbour("b1")
    return node


def test_a_table_in_parts_is_taken_when_it_is_complete():
    world = chain(2)
    node = neighbour_of(world)
    other = v.Entry(v.Advertisement("p8", 1, v.Role.PROVIDER, "", ("climate",)), "10.0.0.9:9", "b1", 1)
    node.say("b0", m.RegTable(1, m.Whole.PART, (ENTRY,), (), v.Summary()))
    world.run(0.1)
    assert world.known("b0") == {}
    node.say("b0", m.RegTable(2, m.Whole.LAST, (other,), (), v.Summary(2, 0)))
    world.run(0.1)
    assert world.known("b0") == {"p8": {"b1"}, "p9": {"b1"}}
    assert len(node.heard_of(m.Tables)) == 1, "the sum is wrong"
    node.say("b0", m.RegTable(3, m.Whole.LAST, (other,), (), v.Summary(9, 9)))
    world.run(0.1)
    assert world.known("b0") == {"p8": {"b1"}}
    assert len(node.heard_of(m.Tables)) == 1, "asked for once in a period"


def test_a_neighbour_cannot_make_tables_grow_without_end():
    world = chain(2)
    node = neighbour_of(world)
    with patch.object(exchange, "MOST_ROWS", 3):
        for number in range(5):
            one = v.Entry(v.Advertisement(f"p{number}", 1, v.Role.PROVIDER), "10.0.0.9:9", "b1", 1)
            node.say("b0", m.RegTable(number, m.Whole.PART, (one,), (), v.Summary()))
            sub = v.Subscription(v.SubscriptionId("c9", number), ("climate",), world.wall_ms + 1_000)
            node.say("b0", m.SubTable(number, m.Whole.CHANGES, (sub,)))
        world.run(0.1)
    assert [message.code for message in node.heard_of(m.Nack)] == [m.Code.LIMIT] * 4
    assert len(world.held("b0")) == 3


def test_where_links_form_cycles_neither():
    """Nor what is remembered as withdrawn."""
    world = chain(2, cycles="suppress")
    node = neighbour_of(world)
    with patch.object(flood, "MOST_ROWS", 3):
        for number in range(1, 6):
            one = v.Entry(v.Advertisement(f"p{number}", 1, v.Role.PROVIDER), "10.0.0.9:9", "b1", 1)
            node.say("b0", m.RegTable(number, m.Whole.CHANGES, (one,), (), v.Summary()))
            node.say("b0", m.SubTable(number, m.Whole.CHANGES, (), (v.SubscriptionId("c9", number),)))
        node.say("b0", m.SubTable(9, m.Whole.CHANGES, (), (v.SubscriptionId("c9", 1),)))
        world.run(0.1)
    assert [message.code for message in node.heard_of(m.Nack)] == [m.Code.LIMIT] * 4, "what is known takes no room"
    assert world.known("b0") == {f"p{number}": {"b1"} for number in (1, 2, 3)}


def test_a_client_of_two_brokers_stays_at_the_newer_one():
    world = chain(2)
    world.client("p0", "b0", "climate")
    world.run()
    elsewhere = world.client("p0", "b1", "climate")
    world.run()
    assert world.known("b0") == {"p0": {"b1"}} and world.known("b1") == {"p0": {""}}
    assert elsewhere.broker == "b1"
    world.check_edges()


@settings(max_examples=examples(60))
@given(st.lists(st.one_of(*MESSAGES.values()), max_size=6), st.booleans())
def test_nothing_that_a_peer_says_raises(messages, is_neighbour):
    world = chain(2)
    node = neighbour_of(world) if is_neighbour else world.node("b9")
    if not is_neighbour:
        node.open("b0")
    for message in messages:
        if not isinstance(message, m.Discover | m.Here):
            node.peers.now = world.now
            node.peers.send("b0", message)
    world.drain(node)
    world.run(1)
    world.client("p0", "b0", "climate")
    world.run(0.1)
    assert world["b0"].station.tables.registrations.local("p0")


@pytest.mark.parametrize("domain", ["ours", "theirs"])
def test_another_domain_sees_what_is_exported(domain):
    world = World(2, domain="ours", exports="climate")
    world.run()
    world.service.publish("b0-b1", to=["b0"])
    node = neighbour_of(world, domain)
    world.client("p0", "b0", "climate", "noise")
    world.client("p1", "b0", "noise")
    c0 = world.client("c0", "b0")
    world.run(0.1)
    until = world.wall_ms + 10_000
    subs = [v.Subscription(v.SubscriptionId("c9", i), (scope,), until) for i, scope in enumerate(["climate", "noise"])]
    node.say("b0", m.SubTable(1, m.Whole.CHANGES, tuple(subs)))
    world.run(0.1)
    told = {one.advertisement.id: one.advertisement.scopes for row in node.heard_of(m.RegTable) for one in row.added}
    denied = [message.code for message in node.heard_of(m.Nack)]
    assert c0.broker == "b0"
    if domain == "ours":
        assert told == {"p0": ("climate", "noise"), "p1": ("noise",), "c0": ()}
        assert len(world.held("b0")) == 2 and not denied
    else:
        assert told == {"p0": ("climate",)}
        assert world.held("b0") == {subs[0].id: {"b1"}} and denied == [m.Code.DENIED]
