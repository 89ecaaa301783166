"""The values that a predicate accepts, as a set, an interval, or all of a kind but one.

An array satisfies a predicate if one of its elements does. So ``x > 3 and x < 5`` is true of [1, 10], and is no
interval. What this module decides is about one predicate, that is about single elements, and remains true of arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from overlay.systems.federation.language.tree import Constant, Predicate
from overlay.systems.federation.language.values import accepts

NUMBER, TEXT, BOOLEAN = "number", "text", "boolean"
_LAST = "\U0010ffff"
_BEFORE_SURROGATES, _AFTER_SURROGATES = "\ud7ff", "\ue000"
"""Between them is no character."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Of numbers or of texts. A bound is None where there is none."""

    kind: str
    low: Any = None
    has_low: bool = False
    """Whether ``low`` itself is in it."""
    high: Any = None
    has_high: bool = False

    @property
    def is_empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return bool(self.low > self.high or (self.low == self.high and not (self.has_low and self.has_high)))

    def contains(self, other: Interval) -> bool:
        """Whether all of ``other``, which is not empty, is in it."""
        return self.kind == other.kind and self._begins_before(other) and self._ends_after(other)

    def _begins_before(self, other: Interval) -> bool:
        if self.low is None or other.low is None:
            return self.low is None
        return bool(self.low < other.low or (self.low == other.low and self.has_low >= other.has_low))

    def _ends_after(self, other: Interval) -> bool:
        if self.high is None or other.high is None:
            return self.high is None
        return bool(self.high > other.high or (self.high == other.high and self.has_high >= other.has_high))

    def touches(self, other: Interval) -> bool:
        """Whether there is no value between them, so that together they are an interval."""
        return self.kind == other.kind and not self._is_before(other) and not other._is_before(self)

    def _is_before(self, other: Interval) -> bool:
        if self.high is None or other.low is None:
            return False
        return bool(self.high < other.low or (self.high == other.low and not (self.has_high or other.has_low)))

    def joined(self, other: Interval) -> Interval:
        """Both together, if they touch."""
        first = self if self._begins_before(other) else other
        last = self if self._ends_after(other) else other
        return Interval(self.kind, first.low, first.has_low, last.high, last.has_high)


def kind_of(constant: Constant) -> str:
    if isinstance(constant, bool):
        return BOOLEAN
    return TEXT if isinstance(constant, str) else NUMBER


def is_finite(predicate: Predicate) -> bool:
    """Whether it accepts its constants and nothing else."""
    return predicate.operator in ("=", "in")


def interval(predicate: Predicate) -> Interval | None:
    """None if it accepts no interval, or nothing at all."""
    if not predicate.constants:
        return None
    first, last = predicate.constants[0], predicate.constants[-1]
    kind = kind_of(first)
    if kind == BOOLEAN or kind != kind_of(last):
        return None
    match predicate.operator:
        case "<" | "<=":
            return Interval(kind, high=first, has_high=predicate.operator == "<=")
        case ">" | ">=":
            return Interval(kind, low=first, has_low=predicate.operator == ">=")
        case "between":
            return Interval(kind, first, True, last, True)
        case "prefix" if kind == TEXT:
            return Interval(kind, first, True, _after(str(first)), False)
    return None


def accepts_nothing(predicate: Predicate) -> bool:
    """Whether no value satisfies it, such as ``x between 5 and 3`` or ``x > true``."""
    if is_finite(predicate) or predicate.operator in ("exists", "!="):
        return False
    found = interval(predicate)
    if predicate.operator == "contains":
        return kind_of(predicate.constants[0]) != TEXT
    return found is None or found.is_empty


def is_within(narrow: Predicate, wide: Predicate) -> bool:
    """Whether each value that ``narrow`` accepts is accepted by ``wide``, too."""
    if wide.operator == "exists" or accepts_nothing(narrow):
        return True
    if narrow.operator == "exists":
        return False
    if is_finite(narrow):
        return all(map(accepts(wide), narrow.constants))
    constant = wide.constants[0]
    if wide.operator == "!=":
        return _kind_accepted(narrow) == kind_of(constant) and not accepts(narrow)(constant)
    if wide.operator == "contains":
        return narrow.operator in ("contains", "prefix") and _is_part(constant, narrow.constants[0])
    inner, outer = interval(narrow), interval(wide)
    return inner is not None and outer is not None and outer.contains(inner)


def _kind_accepted(predicate: Predicate) -> str:
    """Of the values that it accepts, all of which are of the kind of its constants."""
    return kind_of(predicate.constants[0])


def _is_part(constant: Constant, of: Constant) -> bool:
    return isinstance(constant, str) and isinstance(of, str) and constant in of


def _after(prefix: str) -> str | None:
    """The first text after all that begin with ``prefix``; None if there is none."""
    stem = prefix.rstrip(_LAST)
    if not stem:
        return None
    return stem[:-1] + (_AFTER_SURROGATES if stem[-1] == _BEFORE_SURROGATES else chr(ord(stem[-1]) + 1))
