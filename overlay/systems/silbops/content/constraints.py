"""Constraints: an attribute, an operator and a value.

A missing attribute, or a value of another kind, satisfies none, not even ``!=``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from sys import intern
from typing import Any, NamedTuple

from overlay.core.errors import shown
from overlay.systems.silbops.content.values import BOOL, KINDS, TEXT, Value, checked_name, checked_value, refuse

EQUAL, UNEQUAL, ANY = "=", "!=", "any"
ABOVE, BELOW = (">", ">="), ("<", "<=")
PARTS = ("prefix", "suffix", "contains")

Compare = Callable[[Any, Any], bool]
"""Of the value of the attribute and that of the constraint, of one kind."""
COMPARISONS: Mapping[str, Compare] = {
    EQUAL: operator.eq,
    UNEQUAL: operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "prefix": str.startswith,
    "suffix": str.endswith,
    "contains": operator.contains,
}
OPERATORS = (*COMPARISONS, ANY)
_SIDES: Sequence[tuple[Sequence[str], Compare]] = ((ABOVE, operator.lt), (BELOW, operator.gt))
"""Bounds of one side, and which of two values is the looser bound."""


class Constraint(NamedTuple):
    name: str
    op: str
    """One of ``OPERATORS``."""
    value: Value | None
    """None for ``any``, which an attribute of any value satisfies."""
    kind: str | None
    """Of the value."""


def constraint(name: Any, op: Any, value: Any = None, *, is_siena: bool = False) -> Constraint:
    """Raises ``InvalidContent``."""
    name = intern(checked_name(name, is_siena=is_siena))  # names are few, and constraints many
    if type(op) is not str or op not in OPERATORS:
        refuse(f"{shown(op)} is none of the operators {' '.join(OPERATORS)}")
    if op == ANY:
        if value is not None:
            refuse("any takes no value")
        return Constraint(name, op, None, None)
    kind = KINDS[type(checked_value(value))]
    if op in PARTS and kind is not TEXT:
        refuse(f"{op} takes a text, not {shown(value)}")
    if kind is BOOL and op not in (EQUAL, UNEQUAL):
        refuse(f"{op} does not compare true and false")
    if value == 0 and type(value) is float:
        value = 0.0  # and not -0.0, its equal, so that equal constraints have equal bytes
    return Constraint(name, op, value, kind)


def satisfies(value: Value, one: Constraint) -> bool:
    """Whether an attribute with this value does."""
    if one.op == ANY:
        return True
    return KINDS[type(value)] is one.kind and COMPARISONS[one.op](value, one.value)


def implies(one: Constraint, other: Constraint) -> bool:
    """Whether every value that satisfies ``one`` satisfies ``other``, which is on the same attribute.

    Never wrongly yes. Some implications are not seen (``prefix b`` implies ``>= b``).
    """
    if other.op == ANY or one == other:
        return True
    if one.op == ANY or one.kind is not other.kind:
        return False
    if one.op == EQUAL:
        return satisfies(_value(one), other)
    if other.op == UNEQUAL:
        return not satisfies(_value(other), one)
    for side, looser in _SIDES:
        if one.op in side and other.op in side:
            if one.value == other.value:
                return len(other.op) == 2 or len(one.op) == 1
            return looser(_value(other), _value(one))
    return one.op in PARTS and other.op in PARTS and _holds(one, other)


def _holds(one: Constraint, other: Constraint) -> bool:
    """Of two parts of a text: the longer one has the other in it, where that one wants it."""
    if other.op == "contains":
        return str(other.value) in str(one.value)
    return one.op == other.op and COMPARISONS[one.op](one.value, other.value)


def _value(one: Constraint) -> Value:
    assert one.value is not None
    return one.value
