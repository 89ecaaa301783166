"""Covering and merging, compared with the evaluation of drawn notifications."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from overlay.systems.federation.covering.covers import Coverable, uncovered
from overlay.systems.federation.covering.implication import Conjunction
from overlay.systems.federation.covering.kept import MOST_COMPARED, Kept
from overlay.systems.federation.covering.merging import Mergeable, joined, merged
from overlay.systems.federation.covering.ranges import is_within
from overlay.systems.federation.language.canonical import identity
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.language.tree import And
from overlay.systems.federation.language.values import accepts
from overlay.systems.federation.wire.values import Notification, NotificationId, Priority, Subscription, SubscriptionId
from tests.federation.drawn import conjunctions, expressions, predicates, subscriptions
from tests.federation.naive import compare, satisfies
from tests.thorough import examples

VALUES = (-4, -3, -0.5, 0, 0.25, 1, 2.0, 3, 4, "", "a", "aa", "ab", "abc", "b", "c", "r17", "\U0010ffff", True, False)
"""Of single predicates: all that a drawn constant is, and what is next to it."""
random = Random(1)
LISTS = [random.choices(VALUES, k=n) for n in (0, 1, 2, 2, 2, 3, 3, 4)]
NOTES = [
    Notification(
        NotificationId("p", 1),
        random.choice(["room", "hall"]),
        random.choice(["r17", "r18", "a", "b"]),
        random.choice(["climate", "light"]),
        random.randrange(6),
        9,
        {
            name: value
            for name, value in {
                "temperature": random.choice([*VALUES, *LISTS]),
                "occupied": random.choice([True, False, True, False, 1]),
                "label": random.choice([*VALUES, *LISTS]),
                "position": random.choice([{"x": random.choice([*VALUES, *LISTS])}, {}, [{"x": 1}, {"x": -1}], 3]),
                "history": random.choice(LISTS),
            }.items()
            if random.random() < 0.8
        },
    )
    for _ in range(60)
]

ONE_NAME = predicates(st.just("temperature"))
TWO_NAMES = st.sampled_from(["temperature", "position.x", "position"])
CLOSE = st.lists(predicates(TWO_NAMES), max_size=2).map(lambda parts: And(tuple(parts)))


def accepted(predicate, value):
    return predicate.operator == "exists" or compare(value, predicate.operator, predicate.constants)


@settings(max_examples=examples(400))
@given(ONE_NAME, ONE_NAME)
def test_no_value_is_accepted_by_a_predicate_and_not_by_one_that_it_is_within(narrow, wide):
    union = joined(narrow, wide)
    for value in VALUES:
        by_each = accepted(narrow, value), accepted(wide, value)
        assert narrow.operator == "exists" or accepts(narrow)(value) is by_each[0]
        assert not is_within(narrow, wide) or by_each[1] or not by_each[0]
        assert union is None or accepted(union, value) is any(by_each)


@settings(max_examples=examples(400))
@given(CLOSE | conjunctions | expressions, CLOSE | conjunctions | expressions)
def test_what_satisfies_an_expression_satisfies_those_that_it_implies(narrow, wide):
    does_imply = Conjunction.of(narrow).implies(Conjunction.of(wide))
    event(f"implied: {does_imply}")
    assert not does_imply or all(satisfies(wide, note) for note in NOTES if satisfies(narrow, note))


@settings(max_examples=examples(150))
@given(conjunctions | expressions, st.lists(expressions, max_size=2))
def test_each_term_more_is_covered(expression, more):
    narrow = Conjunction.of(And((expression, *more)))
    assert narrow.implies(Conjunction.of(expression))
    assert narrow.implies(narrow)


@pytest.mark.parametrize(
    ("narrow", "wide", "does_imply"),
    [
        ("a > 5", "a > 3", True),
        ("a > 3", "a > 5", False),
        ("a > 3", "a >= 3", True),
        ("a >= 3", "a > 3", False),
        ("a between 1 and 2", "a between 1 and 3", True),
        ("a between 1 and 2", "a < 2", False),
        ("a = 4", "a in (3, 4, 5)", True),
        ("a in (3, 4)", "a > 2", True),
        ("a in (3, x)", "a > 2", False),
        ("a > 3 and b = 1", "a > 2", True),
        ("a > 3", "a > 3 and b = 1", False),
        ("a >= 3 and a <= 5", "a between 3 and 5", False),  # an array may have 1 and 10
        ("a between 3 and 5", "a >= 3 and a <= 5", True),
        ("a prefix abc", "a prefix ab", True),
        ("a prefix ab", "a contains b", True),
        ("a contains abc", "a contains b", True),
        ("a prefix b", "a between b and c", True),
        ("a = 5", "a exists", True),
        ("position.x > 1", "position exists", True),
        ("entity.id = r17", "entity exists", False),  # a parameter of that name
        ("a > 5", "a != 5", True),
        ("a > 4", "a != 5", False),
        ("a > 5", 'a != "5"', False),
        ("a between 2 and 1", "b = 3", False),
        ("not a > 3", "not a > 3 and true", True),
        ("a = 1 or b = 2", "b = 2 or a = 1", True),
        ("a > true", "a = 9", True),  # nothing satisfies it
    ],
)
def test_implication(narrow, wide, does_imply):
    assert Conjunction.of(parse(narrow)).implies(Conjunction.of(parse(wide))) is does_imply


def subscription(text="temperature > 20", number=1, **changes):
    return replace(Subscription(SubscriptionId("c", number), ("climate",), 10, parse(text)), **changes)


@pytest.mark.parametrize(
    ("wide", "narrow", "does_cover"),
    [
        ({}, {}, True),
        ({"scopes": ("climate", "light")}, {}, True),
        ({}, {"scopes": ("climate", "light")}, False),
        ({"expires": 9}, {}, False),  # the temporal bound
        ({"expires": 11}, {}, True),
        ({"once": True}, {}, False),
        ({}, {"once": True}, False),
        ({"priority": Priority.LOW}, {}, False),
        ({"priority": Priority.HIGH}, {}, True),
    ],
)
def test_what_covers_a_subscription(wide, narrow, does_cover):
    first = Coverable.of(subscription("temperature > 20", **wide))
    assert first.covers(Coverable.of(subscription("temperature > 25", 2, **narrow))) is does_cover


@settings(max_examples=examples(150))
@given(
    st.lists(subscriptions(CLOSE, times=st.integers(0, 3), scopes=st.sampled_from(["climate", "light"])), max_size=5)
)
def test_what_is_not_covered_finds_all_that_all_find(drawn):
    several = [Coverable.of(replace(one, id=SubscriptionId("c", i))) for i, one in enumerate(drawn)]
    kept = uncovered(several)
    assert all(any(one.covers(other) for one in kept) for other in several if other not in kept)
    assert not any(one.covers(other) for one in kept for other in kept if one is not other)
    for note in NOTES[:20]:
        finds = [any(matches(one.subscription, note) for one in some) for some in (kept, several)]
        assert finds[0] is finds[1]


@settings(max_examples=examples(120))
@given(
    st.lists(
        subscriptions(CLOSE, times=st.integers(0, 1), scopes=st.sampled_from(["climate", "light"])).map(
            lambda one: replace(one, id=SubscriptionId("c", one.id.number % 5), once=False, priority=Priority.LOW)
        ),
        max_size=9,
    ),
    st.randoms(),
)
def test_those_kept_cover_all_others_as_they_come_and_go(drawn, random):
    kept, there, known = Kept(), {}, {}
    for one in drawn:
        there[one.id] = one
        changed = [kept.put(one)]
        if random.random() < 0.4:
            changed.append(kept.drop(there.popitem()[0]))
        kept.check_invariants()
        remaining = [Coverable.of(kept.get(sid)) for sid in there if kept.get(sid)]
        for sid, other in there.items():
            assert kept.get(sid) is other or any(each.covers(Coverable.of(other)) for each in remaining)
        for sid in {sid for ids in changed for sid in ids}:
            known[sid] = kept.get(sid)
        assert {sid for sid, found in known.items() if found} == {sid for sid in there if kept.get(sid)}


def test_many_different_subscriptions_of_one_client_do_not_make_the_next_ones_dearer(monkeypatch):
    compared = []
    covers = Coverable.covers
    monkeypatch.setattr(Coverable, "covers", lambda one, other: compared.append(one) or covers(one, other))
    kept, works = Kept(), []
    for i in range(1_000):
        compared.clear()
        kept.put(subscription(f"temperature between {2 * i} and {2 * i + 1}", i))
        works.append(len(compared))
    assert max(works) <= 2 * MOST_COMPARED
    assert all(kept.get(SubscriptionId("c", i)) for i in (0, 500, 999))


def matches(one, note):
    return note.scope in one.scopes and satisfies(one.expression, note)


def union_of(first, second, **more):
    return merged(Mergeable.of(first), Mergeable.of(second), **more)


MERGEABLE = subscriptions(
    st.tuples(ONE_NAME, st.sampled_from(["true", "occupied = true"]).map(parse)).map(And),
    times=st.integers(0, 3),
    scopes=st.sampled_from(["climate", "light"]),
).map(lambda one: replace(one, once=False, priority=Priority.NORMAL, scopes=tuple(set(one.scopes))))


@settings(max_examples=examples(300))
@given(MERGEABLE, MERGEABLE)
def test_merging_is_perfect(first, second):
    one = union_of(first, second)
    event(f"merged: {one is not None}")
    if one is None:
        return
    assert one.expires == min(first.expires, second.expires)
    for note in NOTES:
        assert matches(one, note) is (matches(first, note) or matches(second, note))


@pytest.mark.parametrize(
    ("first", "second", "union"),
    [
        ("a = 1", "a in (2, 3)", "a in (1, 2, 3)"),
        ("a between 1 and 2", "a between 2 and 3", "a between 1 and 3"),
        ("a < 3", "a between 3 and 5", "a <= 5"),
        ("a > 7 and b = 1", "b = 1 and a between 5 and 7", "b = 1 and a >= 5"),
        ("a < 3", "a > 3", None),
        ("a < 3", "a >= 3", None),  # all numbers, which no predicate says
        ("a between 1 and 2", "a between 3 and 4", None),
        ("a = 1 and b = 1", "a = 2 and b = 2", None),
        ("a = 1", "b = 1", None),
        ("a = 1", "not a = 2", None),
        ("a prefix ab", "a prefix ac", None),  # one end is not included
    ],
)
def test_the_union_of_two(first, second, union):
    one = union_of(subscription(first), subscription(second, 2))
    assert (one and identity(one.expression)) == (union and identity(parse(union)))


def test_scopes_are_merged_and_queries_are_not():
    light = subscription(number=2, scopes=("light",), expires=5)
    one = union_of(subscription(), light)
    assert (one.id.number, one.scopes, one.expires) == (1, ("climate", "light"), 5)
    assert union_of(subscription(), replace(light, once=True)) is None
    assert union_of(subscription(), replace(light, priority=Priority.LOW)) is None
    many = subscription(scopes=tuple(f"s{i}" for i in range(16)))
    assert union_of(many, light) is None
