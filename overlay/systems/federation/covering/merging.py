"""Perfect merging: one subscription for exactly the notifications of two (seed 001, section 5).

Two are merged if they differ in nothing but their scopes, or in one predicate of one name whose values are together
those of one predicate.
"""

from __future__ import annotations

from dataclasses import replace

from overlay.systems.federation.covering.ranges import Interval, interval, is_finite, is_within
from overlay.systems.federation.language.canonical import canonical, identity
from overlay.systems.federation.language.conjunctions import terms
from overlay.systems.federation.language.tree import MAX_CONSTANTS, And, Expression, Predicate
from overlay.systems.federation.wire.composites import MAX_SCOPES
from overlay.systems.federation.wire.values import Subscription


def merged(first: Subscription, second: Subscription) -> Subscription | None:
    """With the id of ``first`` and the smaller ``expires``, after which the rest is merged again, or None.

    Only streams of the same priority are merged.
    """
    if first.once or second.once or first.priority != second.priority:
        return None
    expires = min(first.expires, second.expires)
    if identity(first.expression) == identity(second.expression):
        scopes = tuple(dict.fromkeys(first.scopes + second.scopes))
        return replace(first, scopes=scopes, expires=expires) if len(scopes) <= MAX_SCOPES else None
    expression = _expression(first.expression, second.expression)
    if expression is None or set(first.scopes) != set(second.scopes):
        return None
    return replace(first, expression=expression, expires=expires)


def _expression(first: Expression, second: Expression) -> Expression | None:
    """True exactly where one of both is, if they differ in one predicate."""
    one, other = ({identity(term): term for term in terms(canonical(given))} for given in (first, second))
    own, others = one.keys() - other.keys(), other.keys() - one.keys()
    if len(own) != 1 or len(others) != 1:
        return None
    left, right = one[own.pop()], other[others.pop()]
    if not isinstance(left, Predicate) or not isinstance(right, Predicate) or left.name != right.name:
        return None
    union = joined(left, right)
    common = [term for key, term in one.items() if key in other]
    return None if union is None else And((*common, union))


def joined(first: Predicate, second: Predicate) -> Predicate | None:
    """A predicate on the same name that accepts exactly the values of both; None if there is none."""
    if is_within(first, second):
        return second
    if is_within(second, first):
        return first
    if is_finite(first) and is_finite(second):
        constants = first.constants + second.constants
        return Predicate(first.name, "in", constants) if len(constants) <= MAX_CONSTANTS else None
    left, right = interval(first), interval(second)
    if left is None or right is None or not left.touches(right):
        return None
    return _predicate(first.name, left.joined(right))


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
