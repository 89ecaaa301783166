"""Values, constraints and filters (seed 002, spec section 3)."""

from __future__ import annotations

import pytest
from hypothesis import given

from overlay.systems.silbops.content.constraints import constraint, implies, satisfies
from overlay.systems.silbops.content.filters import (
    EVERYTHING,
    Filter,
    covers,
    filter_of,
    intersects,
    matches,
    read_filter,
    written_filter,
)
from overlay.systems.silbops.content.values import InvalidContent, Value, Values, checked_values
from tests.silbops.drawn import NOTIFICATIONS, VALUES, constraints, filters


def of(*parts: list[object]) -> Filter:
    return read_filter(list(parts))


def test_a_filter_is_a_conjunction_and_the_empty_one_matches_everything() -> None:
    fire = of(["kind", "=", "fire"], ["level", ">", 3])
    assert matches(fire, {"kind": "fire", "level": 4, "site": "north"})
    assert not matches(fire, {"kind": "fire", "level": 3})
    assert not matches(fire, {"kind": "fire"})
    assert matches(EVERYTHING, {"any": True})


@pytest.mark.parametrize(
    ("value", "op", "wanted", "is_satisfied"),
    [
        (1, "=", 1.0, True),
        (True, "=", 1, False),
        (1, "=", True, False),
        (2**53 + 1, "=", float(2**53), False),
        ("1", "!=", 1, False),
        ("b", ">", "a", True),
        ("Z", "<", "a", True),
        ("waxwing", "prefix", "wax", True),
        ("waxwing", "suffix", "wing", True),
        ("waxwing", "contains", "xwi", True),
        (False, "!=", True, True),
    ],
)
def test_kinds_are_not_converted(value: Value, op: str, wanted: Value, is_satisfied: bool) -> None:
    assert satisfies(value, constraint("n", op, wanted)) is is_satisfied


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (["n", "any"], ["n", "=", "x"]),
        (["n", ">", 3], ["n", "=", 4]),
        (["n", ">=", 3], ["n", ">", 3]),
        (["n", "<", 5], ["n", "<=", 4]),
        (["n", "prefix", "a"], ["n", "prefix", "ab"]),
        (["n", "contains", "a"], ["n", "suffix", "ab"]),
        (["n", "!=", 3], ["n", ">", 3]),
        (["n", "!=", "b"], ["n", "prefix", "a"]),
    ],
)
def test_a_broader_filter_covers_a_narrower_one(wide: list[object], narrow: list[object]) -> None:
    assert covers(of(wide), of(narrow, ["m", "=", 1]))
    assert not covers(of(narrow, ["m", "=", 1]), of(wide))
    assert intersects(of(wide), of(narrow))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["n", "=", 1], ["n", "=", 2]),
        (["n", "=", 1], ["n", "=", True]),
        (["n", ">", 3], ["n", "<", 3]),
        (["n", ">=", 3], ["n", "<", 3]),
        (["n", ">", 3], ["n", "<", "a"]),
        (["n", "prefix", "a"], ["n", "prefix", "b"]),
        (["n", "!=", True], ["n", "!=", False]),
        (["n", "=", "abc"], ["n", "suffix", "b"]),
    ],
)
def test_contradicting_constraints_have_nothing_in_common(one: list[object], other: list[object]) -> None:
    assert not intersects(of(one), of(other))
    assert not intersects(of(one, other), EVERYTHING), "a filter may contradict itself"


@given(constraints(), constraints(), VALUES)
def test_what_is_implied_is_true(one: object, other: object, value: Value) -> None:
    if one.name == other.name and implies(one, other) and satisfies(value, one):  # type: ignore[attr-defined]
        assert satisfies(value, other)  # type: ignore[arg-type]


@given(filters(), filters(), NOTIFICATIONS)
def test_covering_and_intersecting_are_never_wrong(one: Filter, other: Filter, values: Values) -> None:
    if covers(one, other) and matches(other, values):
        assert matches(one, values)
    if matches(one, values) and matches(other, values):
        assert intersects(one, other)
    assert covers(one, one)
    assert intersects(one, other) == intersects(other, one)


@given(filters())
def test_a_written_filter_reads_as_the_same_in_whatever_order(one: Filter) -> None:
    lists = written_filter(one)
    assert read_filter(lists[::-1] + lists) == one


@pytest.mark.parametrize(
    ("lists", "sentence"),
    [
        ([["@x", "=", 1]], "'@x' is no name"),
        ([["x", "~", 1]], "'~' is none of the operators"),
        ([["x", "<", True]], "< does not compare true and false"),
        ([["x", "prefix", 1]], "prefix takes a text, not 1"),
        ([["x", "any", 1]], "any takes no value"),
        ([["x", "=", 1 << 63]], "more than 64 bits"),
        ([["x", "=", float("nan")]], "nan is no finite number"),
        ([["x", "=", "é" * 600]], "more than 1,024 bytes"),
        ([["x", "=", "\ud800"]], "half a surrogate pair"),
        ([["x", "=", None]], "null is no value"),
        ([["x", "="]], "null is no value"),
        (["x"], "'x' is no constraint"),
        ("x", "'x' is no list of constraints"),
        ([[f"x{at}", "any"] for at in range(17)], "17 constraints; 16 are the most"),
    ],
)
def test_a_filter_that_is_none_is_refused_with_a_sentence(lists: object, sentence: str) -> None:
    with pytest.raises(InvalidContent, match=sentence):
        read_filter(lists)


def test_a_notification_has_1_to_64_names() -> None:
    with pytest.raises(InvalidContent, match="0 names instead of 1 to 64"):
        checked_values({}, fewest=1)
    with pytest.raises(InvalidContent, match="65 names instead of 1 to 64") as refused:
        checked_values({f"n{at}": at for at in range(65)}, fewest=1)
    assert refused.value.is_limit
    assert list(checked_values({"b": 1, "a": 2})) == ["a", "b"]
    assert filter_of([constraint("@x", ">", 1, is_siena=True)], is_siena=True)
