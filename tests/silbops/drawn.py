"""Hypothesis strategies: values that meet often, filters over them, contexts and functions."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from overlay.systems.silbops.content.constraints import ANY, OPERATORS, PARTS, Constraint, constraint
from overlay.systems.silbops.content.filters import Filter, filter_of
from overlay.systems.silbops.content.values import Value
from overlay.systems.silbops.scope.tree import COMPARISONS, InvalidScope, Tree, read

NAMES = st.sampled_from(["a", "b", "c.d", "_e"])
TEXTS = st.sampled_from(["", "a", "ab", "abc", "b", "ba", "é"])
NUMBERS = st.sampled_from([-2, -1.5, 0, 0.5, 1, 1.0, 2, 2**53, 2**53 + 1, float(2**53)])
VALUES: st.SearchStrategy[Value] = st.one_of(st.booleans(), NUMBERS, TEXTS)
NOTIFICATIONS = st.dictionaries(NAMES, VALUES, min_size=1, max_size=4)


@st.composite
def constraints(draw: st.DrawFn) -> Constraint:
    name, op = draw(NAMES), draw(st.sampled_from(OPERATORS))
    if op == ANY:
        return constraint(name, op)
    if op in PARTS:
        return constraint(name, op, draw(TEXTS))
    return constraint(name, op, draw(VALUES if op in ("=", "!=") else st.one_of(NUMBERS, TEXTS)))


def filters(most: int = 4) -> st.SearchStrategy[Filter]:
    return st.lists(constraints(), max_size=most).map(filter_of)


# ---- context

VARIABLES = st.sampled_from(["x", "y", "kind"])
CONTEXTS = st.dictionaries(VARIABLES, st.one_of(VALUES, st.sampled_from([1e300, -1e308, 0.1, 30])), max_size=3)
_CONSTANTS = st.one_of(st.sampled_from([0, 0.1, 1, 20, -20, 1e308, 1e-300]), TEXTS, st.booleans())
_VARIABLE_NODES = st.tuples(st.sampled_from(["p", "s"]), VARIABLES)


def _operands(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.tuples(st.sampled_from("+-*/"), inner, inner),
        st.tuples(st.sampled_from(["-", "abs"]), inner),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner, inner),
        st.tuples(st.just("dist"), inner, inner, inner, inner),
    )


_OPERANDS = st.recursive(st.one_of(_VARIABLE_NODES, _VARIABLE_NODES, _CONSTANTS), _operands, max_leaves=4)
_ATOMS = st.one_of(
    st.tuples(st.sampled_from(COMPARISONS), _OPERANDS, _OPERANDS),
    st.tuples(st.just("exists"), _VARIABLE_NODES),
)


def _tests(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner, inner),
    )


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Functions whose kinds are right."""
    for _ in range(20):
        try:
            return read(draw(st.recursive(_ATOMS, _tests, max_leaves=5)))
        except InvalidScope:
            continue
    return read(["exists", ["p", "x"]])


@st.composite
def boxes(draw: st.DrawFn) -> Tree:
    """Conjunctions of bounds of one variable of the publisher by one of the subscriber."""
    parts = draw(st.lists(_bounds(), min_size=1, max_size=5))
    return read(["and", *parts]) if len(parts) > 1 else read(parts[0])


@st.composite
def _bounds(draw: st.DrawFn) -> list[Any]:
    offset = draw(st.sampled_from([0, 0.1, 1, 20, 0.5]))
    own = ("s", draw(VARIABLES))
    bound = draw(st.sampled_from([("+", own, offset), ("-", own, offset), ("+", offset, own)]))
    sides = [("p", draw(VARIABLES)), bound]
    return [draw(st.sampled_from(["<=", ">="])), *draw(st.permutations(sides))]
