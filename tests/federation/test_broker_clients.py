"""The table of section 8 of seed 001, row by row, to the nanosecond. Δ is 2 s, G 4 s."""

from __future__ import annotations

import pytest

from overlay.systems.federation.broker import clients as rooms
from overlay.systems.federation.broker.client_events import ClientRegistered, EntryRemoved, KeepAliveMissed
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.federation.desk import S, World, note, publish, register, subscribe, subscription

DELTA, G = 2 * S, 4 * S
ALIVE = m.KeepAlive(1)
ONE = subscription()
REQUESTS = [subscribe(req=5), publish(req=5), m.Lookup(5, "climate"), m.Query(5, None, None, ("climate",), 100)]


def small(*names, **settings):
    """Without implicit keep-alives and without a cache, unless said."""
    settings = {"keepalive_s": 2.0, "implicit_keepalive": False, "cache_cap": 0.0} | settings
    return World(*names, **settings)


def registered(*names, **settings):
    world = small(*names, **settings)
    for name in names:
        world.says(name, register(name, scopes=("climate",) if name[0] == "p" else ()))
        world.hears(name)
    return world


def refused(message, code):
    kinds = {m.KeepAlive: 2, m.Subscribe: 4, m.Publish: 5, m.Lookup: 8, m.Query: 10, m.Register: 1}
    return (kinds[type(message)], getattr(message, "req", 0), code)


def hears_refusals(world, name):
    return [(one.kind, one.req, one.code) for one in world.hears(name) if isinstance(one, m.Nack)]


# ---- UNKNOWN


def test_unknown_register_makes_valid_is_acknowledged_and_a_provider_is_offered_what_matches():
    world = registered("c0")
    world.enter("p0")
    world.says("c0", subscribe(ONE, subscription(number=2, scopes=("light",))))
    told = world.broker.tree.told
    world.says("p0", register("p0", scopes=("climate",)))
    assert world.hears("p0") == [m.Ack(1), m.Offer((ONE,))]
    assert world.broker.tree.told == told + 1, "neighbours are told out of turn"
    assert world.broker.log[-1] == ClientRegistered("p0", 1)


@pytest.mark.parametrize("message", [ALIVE, *REQUESTS])
def test_unknown_all_but_register_and_unregister_is_refused(message):
    world = small("c0")
    world.says("c0", message)
    assert hears_refusals(world, "c0") == [refused(message, m.Code.UNKNOWN)]
    assert len(world.broker.clients) == 0


def test_a_refused_keep_alive_is_told_why():
    world = small("c0")
    world.says("c0", ALIVE)
    world.says("c0", register("c0", 2))
    world.says("c0", ALIVE)
    assert [one.words for one in world.hears("c0") if isinstance(one, m.Nack)] == [
        "This registration is not known here: one ends 4 s after its last keep-alive.",
        "Another registration of c0 has replaced this one.",
    ]


def test_unknown_unregister_is_acknowledged():
    world = small("c0")
    world.says("c0", m.Unregister(9, 1))
    assert world.hears("c0") == [m.Ack(9)]


# ---- VALID


@pytest.mark.parametrize("message", [ALIVE, register("c0", req=0)])
def test_valid_keepalive_and_register_set_x(message):
    world = registered("c0")
    world.until(DELTA - 1)
    world.says("c0", message)
    world.until(2 * DELTA - 2)
    assert world.broker.clients.is_valid("c0")
    world.until(2 * DELTA - 1)
    assert not world.broker.clients.is_valid("c0")
    assert world.hears("c0") == []


def test_valid_a_changed_advertisement_counts_as_new():
    world = registered("c0", "p0")
    world.says("c0", subscribe(ONE))
    assert world.hears("p0") == [m.Offer((ONE,))]
    told = world.broker.tree.told
    world.says("p0", register("p0", 2, scopes=("climate", "light")))
    assert world.hears("p0") == [m.Ack(1), m.Offer((ONE,))]
    assert world.broker.tree.told == told + 1
    world.says("p0", register("p0", 2, scopes=("climate", "light")))
    assert world.hears("p0") == [m.Ack(1)], "the same again only sets x"
    assert world.broker.tree.told == told + 1


@pytest.mark.parametrize("message", REQUESTS)
@pytest.mark.parametrize("implicit", [False, True])
def test_valid_requests_are_served_and_set_x_if_implicit(message, implicit):
    world = registered("p0", implicit_keepalive=implicit)
    world.until(S)
    world.says("p0", message)
    assert hears_refusals(world, "p0") == []
    world.until(DELTA)
    assert world.broker.clients.is_valid("p0") is implicit
    world.until(S + DELTA)
    assert not world.broker.clients.is_valid("p0")


def test_valid_becomes_invalid_at_x_plus_delta_keeps_all_and_gets_no_offer():
    world = registered("c0", "p0")
    world.until(DELTA - 1)
    world.says("c0", ALIVE, subscribe(ONE))
    assert world.hears("p0") == [m.Offer((ONE,))]
    world.until(DELTA)
    assert world.broker.log[-1] == KeepAliveMissed("p0")
    world.says("c0", subscribe(subscription(number=2)), subscribe(removed=[ONE.id]))
    assert world.hears("p0") == []
    assert "p0" in world.broker.tables.registrations
    world.says("p0", ALIVE)
    assert world.hears("p0") == [m.Offer((subscription(number=2),), (ONE.id,))]


# ---- INVALID


@pytest.mark.parametrize("message", [ALIVE, register("c0", req=0)])
def test_invalid_keepalive_and_register_before_x_plus_g_make_valid_and_deliver_what_was_held(message):
    world = registered("c0", "p0")
    world.says("c0", subscribe(ONE))
    world.until(DELTA)
    world.says("p0", ALIVE, publish(note()), publish(note(number=2)))
    world.until(G - 1)
    world.hears("c0")
    world.says("c0", message)
    assert world.hears("c0") == [m.Notify(note(), (ONE.id,)), m.Notify(note(number=2), (ONE.id,))]
    world.until(G - 1 + DELTA - 1)
    assert world.broker.clients.is_valid("c0")


@pytest.mark.parametrize("message", REQUESTS)
def test_invalid_requests_are_refused(message):
    world = registered("p0")
    world.until(DELTA)
    world.says("p0", message)
    assert hears_refusals(world, "p0") == [refused(message, m.Code.INVALID)]
    world.until(G - 1)
    assert "p0" in world.broker.clients
    world.until(G)
    assert "p0" not in world.broker.clients, "a refused message does not set x"


@pytest.mark.parametrize("message", REQUESTS)
def test_invalid_requests_are_served_and_make_valid_if_implicit(message):
    world = registered("p0", implicit_keepalive=True)
    world.until(G - 1)
    world.says("p0", message)
    assert hears_refusals(world, "p0") == []
    assert world.broker.clients.is_valid("p0")


@pytest.mark.parametrize(("grace_from", "end"), [("last_heard", 2 * DELTA), ("first_missed", 3 * DELTA)])
def test_invalid_is_removed_at_x_plus_g_with_its_subscriptions(grace_from, end):
    world = registered("c0", grace_from=grace_from)
    world.says("c0", subscribe(ONE))
    told = world.broker.tree.told
    world.until(end - 1)
    assert len(world.broker.tables.subscriptions) == 1
    world.until(end)
    assert len(world.broker.tables.subscriptions) == len(world.broker.tables.registrations) == 0
    assert world.broker.tree.told == told + 1, "neighbours are told out of turn"
    assert world.broker.log[-1] == EntryRemoved("c0", "expired", end // 1_000)


@pytest.mark.parametrize(("instant", "code"), [(DELTA, m.Code.INVALID), (G, m.Code.UNKNOWN)])
def test_timers_come_before_the_datagrams_of_their_instant(instant, code):
    world = registered("p0")
    world.before(instant)
    world.says("p0", REQUESTS[0])
    assert hears_refusals(world, "p0") == [refused(REQUESTS[0], code)]


@pytest.mark.parametrize("instant", [S, DELTA + S])
def test_valid_and_invalid_unregister_removes_at_once(instant):
    world = registered("c0", "p0")
    world.says("c0", subscribe(ONE))
    world.hears("p0")
    world.until(instant)
    world.says("p0", ALIVE)
    world.hears("p0"), world.hears("c0")
    told = world.broker.tree.told
    world.says("c0", m.Unregister(4, 1))
    assert world.hears("c0") == [m.Ack(4)]
    assert world.hears("p0") == [m.Offer((), (ONE.id,))]
    removed = world.broker.log[-1]
    assert (removed.client, removed.reason) == ("c0", "unregistered")
    assert world.broker.tree.told == told + 1
    assert "c0" not in world.broker.clients


# ---- which registration


def test_messages_of_an_earlier_registration_change_nothing():
    world = registered("c0")
    world.says("c0", register("c0", 7))
    world.hears("c0")
    world.says("c0", m.Unregister(4, 1), m.KeepAlive(1))
    assert [type(one) for one in world.hears("c0")] == [m.Ack, m.Nack]
    assert world.broker.clients.get("c0").registration == 7


def test_a_client_that_is_registered_elsewhere_since_is_removed_here():
    world = World("c0", brokers=("b0", "b1"), keepalive_s=20.0)
    world.says("c0", register("c0", 5), subscribe(ONE))
    world.meet("c0", "b1")
    world.settle()
    world.says("c0", register("c0", 6), to="b1")
    assert "c0" not in world.broker.clients
    assert "c0" in world.desks["b1"].clients
    removed = world.broker.log[-1]
    assert (removed.client, removed.reason) == ("c0", "superseded")
    assert world.broker.tables.registrations.next_hops("c0") == ("b1",)


@pytest.mark.parametrize("name", ["b0", "b2", "bdrs"])
def test_no_client_has_the_name_of_a_server(name):
    world = World(brokers=("b0",) if name != "b0" else ("b1",))
    broker = "b0" if name != "b0" else "b1"
    world.enter(name, broker)
    world.settle()
    world.says(name, register(name, role=v.Role.CONSUMER), to=broker)
    (refusal,) = world.hears(name)
    assert (refusal.code, refusal.words) == (m.Code.BAD, f"{name} is the name of a server.")
    assert len(world.desks[broker].clients) == 0


def test_no_client_registers_under_the_name_of_another():
    world = registered("c0", "c1")
    world.says("c0", register("c1", 9))
    assert hears_refusals(world, "c0") == [(1, 1, m.Code.BAD)]
    assert world.broker.clients.get("c1").registration == 1


def test_a_broker_has_a_bounded_number_of_clients(monkeypatch):
    monkeypatch.setattr(rooms, "MOST_CLIENTS", 1)
    world = small("c0", "c1")
    world.says("c0", register("c0"))
    world.says("c1", register("c1"))
    assert hears_refusals(world, "c1") == [(1, 1, m.Code.LIMIT)]
    world.says("c0", register("c0", 2), m.Unregister(3, 2))
    world.says("c1", register("c1"))
    assert world.hears("c1") == [m.Ack(1)]
