"""The built-in logics."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.systems.contextnet.groups.selection import ByField, ByRegion

NODE = bytes(16)
ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers()) | st.binary()


@pytest.mark.parametrize(
    ("x", "y", "groups"),
    [
        (0, 0, {"0:0"}),
        (99.9, -0.1, {"0:-1"}),
        (100, 250.5, {"1:2"}),
        ("100", 0, set()),
        (None, 0, set()),
        (math.inf, 0, set()),
    ],
)
def test_a_node_is_in_the_cell_of_its_place(x, y, groups):
    assert ByRegion(100).groups(NODE, {"x": x, "y": y}, frozenset()) == groups


@pytest.mark.parametrize("cell", [0, -1, math.nan, math.inf])
def test_a_cell_has_a_side(cell):
    with pytest.raises(ValueError, match="above 0"):
        ByRegion(cell)


@pytest.mark.parametrize(
    ("value", "groups"),
    [("red", {"red"}), (3, {"3"}), (True, {"true"}), (0.5, {"0.5"}), ("", set()), ("x" * 65, set()), ([1], set())],
)
def test_a_node_is_in_the_group_of_a_value(value, groups):
    assert ByField("f0").groups(NODE, {"f0": value}, frozenset()) == groups


def test_a_node_without_the_field_is_in_no_group():
    assert ByField("f0").groups(NODE, {"f1": 1}, {"1"}) == set()


@given(st.dictionaries(st.sampled_from(["x", "y", "f0"]), ANYTHING))
def test_no_context_makes_a_built_in_logic_fail(context):
    for selection in (ByRegion(10), ByField("f0")):
        assert all(len(name.encode()) > 0 for name in selection.groups(NODE, context, frozenset()))
