"""The interval form: conjunctions of ``this.v + a <= pub.u <= this.v + b``, the use case of the paper (line 141).

A box around the subscriber is such a function. The bounds are computed in this order, so they are the same numbers that
the siena arm writes into filters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.tree import PUBLISHER, SUBSCRIBER, Node, Tree

LARGEST: Final = 1e300
"""Of offsets and variables: no bound computed from such numbers is infinite."""
_FLIPPED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
_INFINITE = float("inf")


class Interval(NamedTuple):
    """``this.subscriber + low <= pub.publisher <= this.subscriber + high``; infinite where there is no bound."""

    publisher: str
    subscriber: str
    low: float
    high: float

    def narrowed(self, other: Interval) -> Interval:
        return self._replace(low=max(self.low, other.low), high=min(self.high, other.high))


class Placed(NamedTuple):
    """An interval where the publisher's variable is ``at``."""

    subscriber: str
    low: float
    high: float
    at: float


def intervals_of(tree: Tree) -> tuple[Interval, ...] | None:
    """None if the function has another form."""
    parts = tree[1:] if tree[0] == "and" else (tree,)
    found: list[Interval] = []
    for part in parts:
        one = _interval(part)
        if one is None:
            return None
        if found and found[-1][:2] == one[:2]:
            # Only neighbours: what is tested first decides whether an error is met.
            one = found.pop().narrowed(one)
        found.append(one)
    return tuple(found)


def placed(intervals: Sequence[Interval], pub: Values) -> tuple[Placed, ...] | None:
    """None if a variable of the publisher is missing or is no number."""
    found = []
    for name, own, low, high in intervals:
        at = pub.get(name)
        if type(at) is not float:
            if type(at) is not int:
                return None
            at = float(at)
        found.append(Placed(own, low, high, at))
    return tuple(found)


def inside(intervals: Sequence[Placed], this: Values) -> bool | None:
    """Whether all hold. None if a variable is missing, is no number, or is too large for this form.

    It stops at the first that does not hold: then the whole is false, whatever the others are.
    """
    for own, low, high, at in intervals:
        centre = this.get(own)
        if type(centre) is not float:
            if type(centre) is not int:
                return None
            centre = float(centre)
        if not -LARGEST <= centre <= LARGEST:
            return None
        if not centre + low <= at <= centre + high:
            return False
    return True


def _interval(part: Tree) -> Interval | None:
    """Of one comparison. A bound without an offset may compare texts, too, so it has another form."""
    if len(part) != 3:
        return None
    op, left, right = part
    if op in _FLIPPED and _is_variable(right, PUBLISHER):
        op, left, right = _FLIPPED[op], right, left
    if op not in ("<=", ">=") or not _is_variable(left, PUBLISHER):
        return None
    found = _offset(right)
    if found is None:
        return None
    name, offset = found
    low, high = (offset, _INFINITE) if op == ">=" else (-_INFINITE, offset)
    return Interval(left[1], name, low, high)


def _offset(node: Node) -> tuple[str, float] | None:
    """The variable and the constant of ``this.v + a``, ``a + this.v`` or ``this.v - a``."""
    match node:
        case ("+", (side, name), int() | float() as number) | ("+", int() | float() as number, (side, name)):
            sign = 1.0
        case ("-", (side, name), int() | float() as number):
            sign = -1.0
        case _:
            return None
    is_plain = side == SUBSCRIBER and abs(number) <= LARGEST
    return (name, sign * number) if is_plain else None


def _is_variable(node: Node, side: str) -> bool:
    return isinstance(node, tuple) and node[0] == side
