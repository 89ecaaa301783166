"""What a function means: it walks the tree. The other ways to evaluate have the same results, which tests hold."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from math import isfinite, sqrt
from typing import Any

from overlay.systems.silbops.content.values import KINDS, TEXT, Value, Values, as_number
from overlay.systems.silbops.scope.tree import COMPARISONS, ORDERS, PUBLISHER, SUBSCRIBER, TRUTHS, Node, Tree, variables

Operand = bool | float | str
"""A value as functions see it: numbers are float64."""


class ScopeError(Exception):
    """The function has no result for these contexts, so it is false. A sentence."""


COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


def holds(tree: Tree, pub: Values, this: Values) -> bool:
    """False if a variable is missing. Raises ``ScopeError``."""
    is_missing = any(name not in pub for name in variables(tree, PUBLISHER))
    if is_missing or any(name not in this for name in variables(tree, SUBSCRIBER)):
        return False
    return _holds(tree, {PUBLISHER: pub, SUBSCRIBER: this})


def value_of(node: Node, this: Values) -> Operand:
    """Of an operand that reads nothing of the publisher, all variables of which are there. Raises ``ScopeError``."""
    return _value(node, {SUBSCRIBER: this})


def operand(value: Value) -> Operand:
    number = as_number(value)
    return value if number is None else number


def compared(op: str, left: Operand, right: Operand) -> bool:
    """Raises ``ScopeError``."""
    kind = KINDS[type(left)]
    if kind is not KINDS[type(right)]:
        raise ScopeError(f"{op} compares a {kind} with a {KINDS[type(right)]}")
    if op in ORDERS and type(left) is bool:
        raise ScopeError(f"{op} does not compare true and false")
    return COMPARE[op](left, right)


def computed(op: str, operands: list[Operand]) -> float:
    """Raises ``ScopeError``."""
    numbers = []
    for one in operands:
        if type(one) is not float:
            raise ScopeError(f"{op} takes numbers, not a {'text' if KINDS[type(one)] is TEXT else 'bool'}")
        numbers.append(one)
    try:
        result = COMPUTE[op](*numbers)
    except ZeroDivisionError:
        raise ScopeError("division by zero") from None
    if not isfinite(result):
        raise ScopeError(f"the result of {op} is not finite")
    return result


def _minus(left: float, right: float | None = None) -> float:
    return -left if right is None else left - right


def _distance(x: float, y: float, other_x: float, other_y: float) -> float:
    wide, high = x - other_x, y - other_y
    return sqrt(wide * wide + high * high)


COMPUTE: Mapping[str, Callable[..., float]] = {
    "+": operator.add,
    "-": _minus,
    "*": operator.mul,
    "/": operator.truediv,
    "abs": abs,
    "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
    "dist": _distance,
}


def _holds(tree: Tree, sides: Mapping[str, Values]) -> bool:
    head, *operands = tree
    if head == "and":
        return all(_holds(one, sides) for one in operands)
    if head == "or":
        return any(_holds(one, sides) for one in operands)
    if head == "not":
        return not _holds(operands[0], sides)
    if head == "exists":
        side, name = operands[0]
        return name in sides[side]
    assert head in COMPARISONS
    left, right = (_value(one, sides) for one in operands)
    return compared(head, left, right)


def _value(node: Node, sides: Mapping[str, Values]) -> Operand:
    if not isinstance(node, tuple):
        return operand(node)
    head, *operands = node
    if head in sides:
        return operand(sides[head][operands[0]])
    if head in TRUTHS:
        return TRUTHS[head]
    return computed(head, [_value(one, sides) for one in operands])
