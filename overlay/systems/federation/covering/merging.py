"""Merging: one subscription for exactly the notifications of two (seed 001, section 5).

Two are merged if they differ in nothing but their scopes, or in one predicate of one name whose values are together
those of one predicate. Imperfect merging also fills the gap between two intervals.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from overlay.systems.federation.covering.ranges import Interval, interval, is_finite, is_within
from overlay.systems.federation.language.canonical import canonical, identity
from overlay.systems.federation.language.conjunctions import terms
from overlay.systems.federation.language.tree import MAX_CONSTANTS, And, Expression, Predicate
from overlay.systems.federation.wire.composites import MAX_SCOPES
from overlay.systems.federation.wire.values import Subscription

MOST_CHARACTERS = 8_192
"""Of an expression: a merged one fits into a message like its parts."""


@dataclass(frozen=True, slots=True)
class Mergeable:
    """A subscription, prepared for many comparisons."""

    subscription: Subscription
    terms: Mapping[str, Expression]
    """By their ``identity``."""
    scopes: frozenset[str]

    @classmethod
    def of(cls, subscription: Subscription) -> Mergeable:
        parts = {identity(term): term for term in terms(canonical(subscription.expression))}
        return cls(subscription, parts, frozenset(subscription.scopes))

    @property
    def may_be_merged(self) -> bool:
        """Queries are not: they end with their first notification."""
        return not self.subscription.once and sum(map(len, self.terms)) <= MOST_CHARACTERS

    def places(self) -> list[Hashable]:
        """Only those that share one can be merged: with equal expressions, or equal but for one predicate."""
        priority, all_of_it = self.subscription.priority, frozenset(self.terms)
        found: list[Hashable] = [(priority, all_of_it)]
        for key, term in self.terms.items():
            if isinstance(term, Predicate):
                found.append((priority, all_of_it - {key}, term.name, self.scopes))
        return found


def merged(first: Mergeable, second: Mergeable, *, is_perfect: bool = True) -> Subscription | None:
    """With the id of ``first`` and the smaller ``expires``, after which the rest is merged again, or None.

    Only streams of the same priority are merged.
    """
    one, other = first.subscription, second.subscription
    if not (first.may_be_merged and second.may_be_merged) or one.priority != other.priority:
        return None
    expires = min(one.expires, other.expires)
    if first.terms.keys() == second.terms.keys():
        scopes = tuple(dict.fromkeys(one.scopes + other.scopes))
        return replace(one, scopes=scopes, expires=expires) if len(scopes) <= MAX_SCOPES else None
    expression = _expression(first.terms, second.terms, is_perfect)
    if expression is None or first.scopes != second.scopes:
        return None
    return replace(one, expression=expression, expires=expires)


def _expression(one: Mapping[str, Expression], other: Mapping[str, Expression], is_perfect: bool) -> Expression | None:
    """True where one of both is, and nowhere else if it is perfect, if they differ in one predicate."""
    own, others = one.keys() - other.keys(), other.keys() - one.keys()
    if len(own) != 1 or len(others) != 1:
        return None
    left, right = one[own.pop()], other[others.pop()]
    if not isinstance(left, Predicate) or not isinstance(right, Predicate) or left.name != right.name:
        return None
    union = joined(left, right, is_perfect=is_perfect)
    common = [term for key, term in one.items() if key in other]
    return None if union is None else And((*common, union))


def joined(first: Predicate, second: Predicate, *, is_perfect: bool = True) -> Predicate | None:
    """A predicate on the same name that accepts exactly the values of both, or those between them, too; None if there
    is none."""
    if is_within(first, second):
        return second
    if is_within(second, first):
        return first
    if is_finite(first) and is_finite(second):
        constants = first.constants + second.constants
        return Predicate(first.name, "in", constants) if len(constants) <= MAX_CONSTANTS else None
    left, right = interval(first), interval(second)
    if left is None or right is None or left.kind != right.kind:
        return None
    if left.touches(right):
        union = _predicate(first.name, left.joined(right))
        if union is not None or is_perfect:
            return union
    return None if is_perfect else _wider(first.name, left.joined(right))


def _predicate(name: str, values: Interval) -> Predicate | None:
    """A single one; an interval with two bounds of which one is excluded needs two, which arrays tell apart."""
    match values:
        case Interval(low=None, high=None):
            return None
        case Interval(high=None):
            return Predicate(name, ">=" if values.has_low else ">", (values.low,))
        case Interval(low=None):
            return Predicate(name, "<=" if values.has_high else "<", (values.high,))
        case Interval(has_low=True, has_high=True):
            return Predicate(name, "between", (values.low, values.high))
    return None


def _wider(name: str, values: Interval) -> Predicate | None:
    """With both bounds in it. All numbers, or all texts, are not said by any."""
    return _predicate(name, replace(values, has_low=values.low is not None, has_high=values.high is not None))
