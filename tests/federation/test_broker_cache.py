"""The broker's cache (seed 001, section 10): transcripts, and random histories against the rule as it is written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.federation.broker import cache as rooms
from overlay.systems.federation.broker.cache import Cache
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.federation.desk import WALL_MS, S, World, note, publish, register, subscribe, subscription
from tests.federation.naive import satisfies
from tests.thorough import examples

ONE = subscription()


def world_of(*names, **settings):
    """All registered at ``b0``, and a note of p0 published at 0."""
    world = World(*names, **({"keepalive_s": 600.0} | settings))
    for name in names:
        world.says(name, register(name, scopes=("climate", "light") if name[0] == "p" else ()))
    world.says("p0", publish(note(s=5, x=1)))
    for name in names:
        world.hears(name)
    return world


def test_a_query_that_the_cache_answers_ends_there():
    world = world_of("c0", "p0")
    world.until(3 * S)
    world.says("c0", subscribe(subscription(once=True)))
    assert world.hears("c0") == [m.Ack(2), m.Notify(note(s=5, x=1), (("c0", 1),), True, 0)]
    assert world.hears("p0") == []
    assert len(world.broker.tables.subscriptions) == 0
    counters = world.broker.station.counters
    assert (counters["cache_received"], counters["hits"], counters["cache_age_ms"]) == (1, 1, 3_000)


def test_a_stream_that_the_cache_answers_goes_on():
    world = world_of("c0", "p0")
    world.says("c0", subscribe(ONE))
    assert world.hears("c0") == [m.Ack(2), m.Notify(note(s=5, x=1), (ONE.id,), True, 0)]
    assert world.hears("p0") == [m.Offer((ONE,))]
    world.says("p0", publish(note(number=2)))
    assert world.hears("c0") == [m.Notify(note(number=2), (ONE.id,))]


@pytest.mark.parametrize(
    "other",
    [subscription(text="x = 2"), subscription(scopes=("light",)), subscription(text="entity.id = r2")],
)
def test_only_what_satisfies_answers(other):
    world = world_of("c0", "p0")
    world.says("c0", subscribe(other))
    assert world.hears("c0") == [m.Ack(2)]


@pytest.mark.parametrize(("instant", "hits"), [(5 * S - 1, 1), (5 * S, 0)])
def test_a_notification_answers_until_it_expires(instant, hits):
    world = world_of("c0", "p0")
    world.until(instant)
    world.says("c0", subscribe(subscription(once=True)))
    assert world.broker.station.counters["hits"] == hits


def test_a_renewal_is_no_new_subscription():
    world = world_of("c0", "p0")
    world.says("c0", subscribe(subscription(s=9)), subscribe(subscription(s=10)))
    assert [type(one) for one in world.hears("c0")] == [m.Ack, m.Notify, m.Ack]
    assert world.broker.station.counters["cache_received"] == 1


def test_one_note_answers_several_subscriptions_of_a_message_at_once():
    world = world_of("c0", "p0")
    world.says("c0", subscribe(ONE, subscription(number=2, once=True)))
    assert world.hears("c0") == [m.Ack(2), m.Notify(note(s=5, x=1), (("c0", 1), ("c0", 2)), True, 0)]


def test_a_provider_is_not_answered_by_itself():
    world = world_of("p0", "p1")
    world.says("p0", subscribe(subscription("p0")))
    world.says("p1", subscribe(subscription("p1")))
    assert world.broker.station.counters["hits"] == 1


def test_refused_subscriptions_do_not_count():
    world = world_of("c0", "p0")
    world.says("c0", subscribe(ONE, subscription("c1", 2)))
    assert world.broker.station.counters["cache_received"] == 0


def test_neighbours_subscriptions_are_not_answered_but_fill_the_cache_with_their_notes():
    world = World("c0", brokers=("b0", "b1", "b2"), keepalive_s=600.0)
    world.enter("p0", "b2")
    world.enter("c1", "b1")
    world.settle()
    world.says("p0", register("p0", scopes=("climate",)), publish(note(s=5)), to="b2")
    world.says("c0", register("c0"), subscribe(subscription(once=True)))
    assert [type(one) for one in world.hears("c0")] == [m.Ack, m.Ack], "b2 has it, for its own clients"
    world.says("p0", publish(note(number=2)), to="b2")
    assert len(world.hears("c0")) == 1
    world.says("c1", register("c1"), subscribe(subscription("c1", once=True)), to="b1")
    assert world.hears("c1")[2:] == [m.Notify(note(number=2), (("c1", 1),), True, 0)]


@pytest.mark.parametrize(("cap", "hits"), [(1.0, 40), (0.15, 6), (0.5, 20), (0.0, 0)])
def test_the_cap_is_a_share_of_the_subscriptions_so_far_with_the_one_that_asks(cap, hits):
    cache = Cache(cap)
    cache.put(note(), WALL_MS)
    answered = [cache.answer(subscription(number=i), WALL_MS) is not None for i in range(40)]
    assert sum(answered) == hits
    assert answered[0] is (cap > 0), "0 hits are below the cap of one subscription"
    if cap == 0.15:
        assert [i for i, is_hit in enumerate(answered, 1) if is_hit] == [1, 7, 14, 21, 27, 34]
    cache.check_invariants()


def test_the_least_recently_used_goes_first_and_what_has_expired_before(monkeypatch):
    monkeypatch.setattr(rooms, "MOST_CACHED", 3)
    cache = Cache(1)
    for entity in ("r1", "r2", "r3"):
        cache.put(note(entity=entity), WALL_MS)
    assert cache.answer(subscription(text="entity.id = r1"), WALL_MS)
    cache.put(note(entity="r4"), WALL_MS)
    assert [bool(cache.answer(subscription(text=f"entity.id = r{i}"), WALL_MS)) for i in (1, 2, 3, 4)] == [1, 0, 1, 1]
    cache.put(note(entity="r1", number=9, at_s=1, s=2), WALL_MS)
    cache.put(note(entity="r3", number=9, at_s=1), WALL_MS)
    cache.put(note(entity="r4", number=9, at_s=1), WALL_MS)
    cache.put(note(entity="r5"), WALL_MS + 2_000)
    assert [bool(cache.answer(subscription(text=f"entity.id = r{i}"), WALL_MS)) for i in (1, 3, 4, 5)] == [0, 1, 1, 1]
    cache.check_invariants()


def test_one_message_makes_a_bounded_number_of_comparisons(monkeypatch):
    monkeypatch.setattr(rooms, "MOST_TESTED", 10)
    cache = Cache(1)
    for number in range(8):
        cache.put(note(entity=f"r{number}", x=number), WALL_MS)
    cache.begin()
    assert cache.answer(subscription(text="x = 0"), WALL_MS).data == {"x": 0}
    assert cache.answer(subscription(text="x = 0"), WALL_MS) is None
    cache.begin()
    assert cache.answer(subscription(text="x = 0"), WALL_MS)


def test_of_notifications_of_one_instant_the_last_one_is_the_newest():
    cache = Cache(1)
    for number, at_s in ((1, 1), (2, 1), (3, 0)):
        cache.put(note(number=number, at_s=at_s), WALL_MS)
    assert cache.answer(subscription(), WALL_MS).id.number == 2


# ---- against the rule


TEXTS = ["true", "x > 1", "entity.id = r1", "entity.id = r2 and x < 2", "x in (0, 2)"]
notes = st.builds(
    lambda provider, entity, scope, at, life, x: ("put", provider, entity, scope, at, life, x),
    st.sampled_from(["p0", "p1"]),
    st.sampled_from(["r1", "r2", "r3"]),
    st.sampled_from(["climate", "light"]),
    st.integers(0, 3),
    st.integers(0, 4),
    st.integers(0, 2),
)
asked = st.tuples(
    st.just("ask"),
    st.sampled_from(["c0", "p0"]),
    st.lists(st.sampled_from(["climate", "light"]), min_size=1, max_size=2),
    st.sampled_from(TEXTS),
)
histories = st.lists(st.one_of(notes, asked, asked, st.just(("wait",))), max_size=40)


@given(histories, st.sampled_from([0.15, 0.5, 1.0]))
@settings(max_examples=examples(200))
def test_a_subscription_hits_if_a_valid_note_satisfies_it_and_the_cap_allows(history, cap):
    cache, now = Cache(cap), WALL_MS
    newest, received, hits = {}, 0, 0
    for number, (what, *rest) in enumerate(history):
        if what == "wait":
            now += 1
        elif what == "put":
            provider, entity, scope, at, life, x = rest
            nid = v.NotificationId(provider, number)
            one = v.Notification(nid, "room", entity, scope, now - at, now - at + life, {"x": x})
            cache.put(one, now)
            newest = {place: kept for place, kept in newest.items() if kept.expires > now}
            if (scope, entity) not in newest or newest[scope, entity].timestamp <= one.timestamp:
                newest[scope, entity] = one
        else:
            name, scopes, text = rest
            one = v.Subscription(v.SubscriptionId(name, number), tuple(scopes), now + 9, parse(text))
            received += 1
            valid = [
                kept
                for kept in newest.values()
                if kept.scope in scopes and kept.expires > now and kept.id.provider != name
                if satisfies(one.expression, kept)
            ]
            expected = bool(valid) and hits < cap * received
            found = cache.answer(one, now)
            assert (found is not None) is expected
            assert found is None or found in valid
            hits += expected
        cache.check_invariants()
    assert (cache.received, cache.hits) == (received, hits)
