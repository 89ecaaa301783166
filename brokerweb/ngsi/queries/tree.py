"""Conditions on an entity, and whether it meets them. Pure.

Parsers: ``v2`` and ``ld``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brokerweb.ngsi.model import Attribute
from brokerweb.ngsi.patterns import Pattern
from brokerweb.ngsi.times import read_time

LONGEST = 2_000
"""Characters of a query."""
MOST_CONDITIONS = 50


@dataclass(frozen=True, slots=True)
class Path:
    """``attribute``, a metadatum of it, and names inside the value, each as far as given."""

    attribute: str
    metadatum: str = ""
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any
    """A number, text, truth value or ``None``."""


@dataclass(frozen=True, slots=True)
class Range:
    """Both ends are in it."""

    low: Any
    high: Any


@dataclass(frozen=True, slots=True)
class Exists:
    path: Path


@dataclass(frozen=True, slots=True)
class Absent:
    path: Path


@dataclass(frozen=True, slots=True)
class Compare:
    path: Path
    operator: str
    """``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``."""
    values: Sequence[Literal | Range]
    """Any of them; one for operators of order."""


@dataclass(frozen=True, slots=True)
class Matches:
    path: Path
    pattern: Pattern
    is_wanted: bool = True
    """False: it must not match."""


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    parts: tuple[Condition, ...]


Condition = Exists | Absent | Compare | Matches | All | Some
EVERYTHING = All(())


class _Missing:
    pass


MISSING = _Missing()


def meets(attributes: Mapping[str, Attribute], condition: Condition) -> bool:
    """Whether an entity with these attributes meets it."""
    match condition:
        case All(parts):
            return all(meets(attributes, one) for one in parts)
        case Some(parts):
            return any(meets(attributes, one) for one in parts)
        case Exists(path):
            return found_at(attributes, path) is not MISSING
        case Absent(path):
            return found_at(attributes, path) is MISSING
        case Matches(path, pattern, is_wanted):
            value = found_at(attributes, path)
            return isinstance(value, str) and (pattern.search(value) is not None) == is_wanted
        case Compare(path, operator, values):
            value = found_at(attributes, path)
            return value is not MISSING and _compares(value, operator, values)


def found_at(attributes: Mapping[str, Attribute], path: Path) -> Any:
    """The value, or ``MISSING``."""
    one = attributes.get(path.attribute)
    if one is None:
        return MISSING
    value = one.value
    if path.metadatum:
        meta = one.metadata.get(path.metadatum)
        if meta is None:
            return MISSING
        value = meta.value
    for name in path.inside:
        if not isinstance(value, dict) or name not in value:
            return MISSING
        value = value[name]
    return value


def _compares(value: Any, operator: str, values: Sequence[Literal | Range]) -> bool:
    if operator == "==":
        return any(_is_in(value, one) for one in values)
    if operator == "!=":
        return not any(_is_in(value, one) for one in values)
    literal = values[0]
    return isinstance(literal, Literal) and _in_order(value, literal.value, ORDERS[operator])


ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def _is_in(value: Any, wanted: Literal | Range) -> bool:
    """Whether the value, or an element of it, is wanted."""
    if isinstance(value, list):
        return any(_is_in(one, wanted) for one in value if not isinstance(one, list))
    if isinstance(wanted, Range):
        return _in_order(value, wanted.low, ORDERS[">="]) and _in_order(value, wanted.high, ORDERS["<="])
    one, other = _comparable(value, wanted.value)
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _in_order(value: Any, other: Any, is_so: Callable[[Any, Any], bool]) -> bool:
    """False for values that have no order."""
    one, other = _comparable(value, other)
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    are_numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return (are_numbers or (isinstance(one, str) and isinstance(other, str))) and is_so(one, other)


def _comparable(value: Any, other: Any) -> tuple[Any, Any]:
    """Two texts that are instants are compared as these."""
    if isinstance(value, str) and isinstance(other, str):
        one, two = read_time(value), read_time(other)
        if one is not None and two is not None:
            return one, two
    return value, other
