"""Every index finds what testing every filter finds (seed 002, spec section 8)."""

from __future__ import annotations

from array import array
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.silbops.content.constraints import constraint
from overlay.systems.silbops.content.filters import EVERYTHING, Filter, filter_of
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index import INDEXES, Index, Scan, access, counting
from tests.silbops.drawn import NOTIFICATIONS, filters
from tests.thorough import examples

OTHERS = [name for name in INDEXES if name != "scan"]
PLACES = st.sampled_from([-40, -20.5, 0, 0.25, 19, 20, 60, 1e9, 1e305])
POSITIONS = st.dictionaries(st.sampled_from(["@x", "@y", "@z"]), PLACES)


@st.composite
def boxes(draw: st.DrawFn) -> Filter:
    """As the siena arm writes them, with content and without."""
    parts = list(draw(filters(2)))
    for name, value in draw(POSITIONS).items():
        radius = draw(st.sampled_from([0, 0.25, 20, 1e300]))
        parts += [
            constraint(name, draw(st.sampled_from([">", ">="])), value - radius, is_siena=True),
            constraint(name, draw(st.sampled_from(["<", "<="])), value + radius, is_siena=True),
        ]
    return filter_of(parts, is_siena=True)


CHANGES = st.lists(st.tuples(st.integers(0, 6), st.one_of(filters(), boxes(), st.none())), max_size=20)
"""Filters by their number; None takes it away."""


def changed(index: Index, known: dict[int, Filter], changes: list[tuple[int, Filter | None]]) -> None:
    for key, one in changes:
        if key in known:
            index.remove(key)
            del known[key]
        if one is not None:
            index.add(key, one)
            known[key] = one


@pytest.mark.parametrize("few", [0, 1, access.FEW])
@pytest.mark.parametrize("name", OTHERS)
@settings(max_examples=examples(100))
@given(CHANGES, st.lists(st.tuples(NOTIFICATIONS, POSITIONS), min_size=1, max_size=4))
def test_every_index_finds_what_a_scan_finds(name: str, few: int, changes: Any, notifications: Any) -> None:
    index: Index = INDEXES[name]()
    known: dict[int, Filter] = {}
    with patch.object(access, "FEW", few):
        changed(index, known, changes)
    oracle: Scan = Scan()
    for key, one in known.items():
        oracle.add(key, one)
    assert len(index) == len(known)
    for content, position in notifications:
        values: Values = content | position
        with patch.object(counting, "MANY", few):
            found = index.match(values)
        assert sorted(found) == sorted(oracle.match(values))


@pytest.mark.parametrize("few", [0, access.FEW])
@pytest.mark.parametrize("name", OTHERS)
@given(CHANGES)
def test_nothing_is_left_when_all_filters_are_gone(name: str, few: int, changes: Any) -> None:
    index: Any = INDEXES[name]()
    known: dict[int, Filter] = {}
    with patch.object(access, "FEW", few):
        changed(index, known, [*changes, *((key, None) for key in range(7))])
    assert len(index) == 0
    assert left(index) == []


def left(index: Any) -> list[str]:
    """What an index still holds, but for the places that its numbers had."""
    found = []
    for name, value in vars(index).items():
        if hasattr(value, "__dict__"):
            found += left(value)
        elif value and not (isinstance(value, list) and all(one is None for one in value)):
            found.append(f"{name}: {value}")
    return found


def test_orders_are_found_again_after_each_change() -> None:
    index = INDEXES["access"]()
    for number, (op, bound) in enumerate([(">", 1), (">=", 2), ("<", 3), ("<=", 2), (">", "a"), ("<=", "b")]):
        index.add(number, filter_of([constraint("x", op, bound)]))
    assert sorted(index.match({"x": 2})) == [0, 1, 2, 3]
    assert sorted(index.match({"x": 1.5})) == [0, 2, 3]
    assert sorted(index.match({"x": "b"})) == [4, 5]
    index.remove(0)
    index.add(6, filter_of([constraint("x", "<", 2.5)]))
    assert sorted(index.match({"x": 2})) == [1, 2, 3, 6]
    assert sorted(index.match({"x": 3})) == [1]


@pytest.mark.parametrize("name", INDEXES)
def test_the_empty_filter_is_found_by_every_notification(name: str) -> None:
    index: Index = INDEXES[name]()
    index.add(3, EVERYTHING)
    assert index.match({"a": 1}) == array("i", [3])
    index.remove(3)
    assert not index.match({"a": 1})
