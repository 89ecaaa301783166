"""Which values satisfy an operator with its constants.

Numbers are compared with numbers, texts with texts and booleans with booleans; all other comparisons are false, ``!=``
included. Booleans have no order. Texts are ordered by code points. An array satisfies what one of its elements does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from overlay.systems.federation.language.tree import Constant, Predicate

Accepts = Callable[[Any], bool]
"""Of a value that is present."""

_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBERS = (int, float)
_EQUALITIES = ("=", "!=")
_PARTS: Mapping[str, Callable[[str, str], bool]] = {"prefix": str.startswith, "contains": str.__contains__}


def accepts(predicate: Predicate) -> Accepts:
    """Whether a value satisfies ``predicate``, which is not ``exists``."""
    name, constants = predicate.operator, predicate.constants
    if name in _COMPARISONS:
        return _compared(_COMPARISONS[name], constants[0], has_order=name not in _EQUALITIES)
    if name == "in":
        return _one_of(constants)
    if name == "between":
        return _between(*constants)
    return _part(_PARTS[name], constants[0])


def _never(value: Any) -> bool:
    return False


def _compared(compare: Callable[[Any, Any], bool], constant: Constant, *, has_order: bool) -> Accepts:
    if isinstance(constant, bool):
        return _never if has_order else _of_kind(bool, lambda value: compare(value, constant))
    if isinstance(constant, str):
        return _of_kind(str, lambda value: compare(value, constant))
    return _of_numbers(lambda value: compare(value, constant))


def _of_kind(wanted: type, test: Accepts) -> Accepts:
    def accepted(value: Any) -> bool:
        kind = type(value)
        if kind is wanted:
            return test(value)
        return kind is list and _has(value, (wanted,), test)

    return accepted


def _of_numbers(test: Accepts) -> Accepts:
    def accepted(value: Any) -> bool:
        kind = type(value)
        if kind is float or kind is int:
            return test(value)
        return kind is list and _has(value, _NUMBERS, test)

    return accepted


def _has(values: list[Any], wanted: tuple[type, ...], test: Accepts) -> bool:
    """Whether ``test`` is true of an element of one of these types.

    A function that called itself would be a cycle, which only the garbage collector frees, for every subscription.
    """
    return any(
        _has(value, wanted, test) if type(value) is list else type(value) in wanted and test(value) for value in values
    )


def _one_of(constants: tuple[Constant, ...]) -> Accepts:
    numbers = frozenset(one for one in constants if type(one) is int or type(one) is float)
    allowed: Mapping[type, frozenset[Constant]] = {
        str: frozenset(one for one in constants if isinstance(one, str)),
        bool: frozenset(one for one in constants if isinstance(one, bool)),
        int: numbers,
        float: numbers,
    }
    scalars = tuple(allowed)

    def is_allowed(value: Any) -> bool:
        return value in allowed[type(value)]

    def member(value: Any) -> bool:
        kind = type(value)
        if kind in allowed:
            return value in allowed[kind]
        return kind is list and _has(value, scalars, is_allowed)

    return member


def _between(low: Constant, high: Constant) -> Accepts:
    """Both ends included, and one element of an array between both."""
    if isinstance(low, str) and isinstance(high, str):
        return _of_kind(str, lambda value: low <= value <= high)
    if isinstance(low, bool | str) or isinstance(high, bool | str):
        return _never
    return _of_numbers(lambda value: bool(low <= value <= high))


def _part(has: Callable[[str, str], bool], constant: Constant) -> Accepts:
    if not isinstance(constant, str):
        return _never
    return _of_kind(str, lambda value: has(value, constant))
