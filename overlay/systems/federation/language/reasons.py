"""Why an expression holds for a notification, or does not: for dry runs. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from overlay.systems.federation.language.compiler import Notified, compiled
from overlay.systems.federation.language.tree import RESERVED, And, Expression, Not, Or, Predicate


class Reason(NamedTuple):
    """One predicate of the expression, for one notification."""

    predicate: Predicate
    holds: bool
    is_missing: bool
    """Whether the notification has no such parameter, so that no predicate on it holds."""


def reasons(expression: Expression, notification: Notified) -> list[Reason]:
    """Of all predicates, in their order in the text."""
    return [
        Reason(one, compiled(one)(notification), not compiled(Predicate(one.name, "exists", ()))(notification))
        for one in predicates(expression)
    ]


def predicates(expression: Expression) -> Iterator[Predicate]:
    match expression:
        case Predicate():
            yield expression
        case Not(part):
            yield from predicates(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from predicates(part)


def negated(expression: Expression, *, is_inside: bool = False) -> list[str]:
    """The parameters that are compared inside an odd number of ``not``: logic is two-valued, so the expression can hold
    where they are missing (seed 001, section 5)."""
    match expression:
        case Predicate(name, operator):
            return [name] if is_inside and operator != "exists" and name not in RESERVED else []
        case Not(part):
            return negated(part, is_inside=not is_inside)
        case And(parts) | Or(parts):
            return list(dict.fromkeys(name for part in parts for name in negated(part, is_inside=is_inside)))
