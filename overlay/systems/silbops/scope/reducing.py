"""A function as constraints on the publisher's context, for the siena arm (seed 002, section 2).

There the publisher's variable ``x`` is the attribute ``@x`` of its notifications. A function reduces if it is an
``and`` of comparisons of one variable of the publisher with what reads nothing of the publisher, and of ``exists
pub.x``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from overlay.systems.silbops.content.constraints import ANY, Constraint, constraint
from overlay.systems.silbops.content.values import BOOL, KINDS, InvalidContent, Values
from overlay.systems.silbops.scope.evaluation import ScopeError, value_of
from overlay.systems.silbops.scope.tree import COMPARISONS, ORDERS, PUBLISHER, Node, Tree, variables

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


class Bound(NamedTuple):
    """``pub.name op operand``; ``exists pub.name`` has the operator ``any``."""

    name: str
    op: str
    operand: Node


def reduced(tree: Tree) -> tuple[Bound, ...] | None:
    """None if it does not reduce."""
    parts = tree[1:] if tree[0] == "and" else (tree,)
    found = [_bound(part) for part in parts]
    return None if None in found else tuple(one for one in found if one is not None)


def constraints_of(bounds: Sequence[Bound], this: Values) -> list[Constraint] | None:
    """On ``@`` names, for a subscriber with this context. None if the function is false whatever the publisher's is:
    a variable of the subscriber is missing, or its values do not fit.
    """
    try:
        return [_constraint(one, this) for one in bounds]
    except (ScopeError, InvalidContent, KeyError):
        return None


def _constraint(one: Bound, this: Values) -> Constraint:
    name = f"@{one.name}"
    if one.op == ANY:
        return constraint(name, ANY, is_siena=True)
    value = value_of(one.operand, this)
    if one.op in ORDERS and KINDS[type(value)] is BOOL:
        raise ScopeError(f"{one.op} does not compare true and false")
    return constraint(name, one.op, value, is_siena=True)


def _bound(part: Tree) -> Bound | None:
    head, *operands = part
    if head == "exists":
        side, name = operands[0]
        return Bound(name, ANY, True) if side == PUBLISHER else None
    if head not in COMPARISONS:
        return None
    left, right = operands
    if not _is_publishers(left):
        head, left, right = _FLIPPED[head], right, left
    if not _is_publishers(left) or variables(right, PUBLISHER):
        return None
    return Bound(left[1], head, right)


def _is_publishers(node: Node) -> bool:
    return isinstance(node, tuple) and node[0] == PUBLISHER
