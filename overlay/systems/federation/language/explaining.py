"""Why a notification satisfies an expression, or not: what each predicate says of it; and what people overlook. Pure.

Counterpart: ``compiler`` evaluates fast; here each predicate is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from overlay.systems.federation.language.compiler import Notified, compiled
from overlay.systems.federation.language.text import formatted
from overlay.systems.federation.language.tree import RESERVED, And, Expression, Not, Or, Predicate

MOST_SHOWN = 80
"""Characters of a value."""
_ATTRIBUTES = {"entity.type": "entity_type", "entity.id": "entity_id"}
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Said:
    """What one predicate says of a notification."""

    predicate: str
    """In the text form."""
    holds: bool
    why: str
    """The value that was tested."""
    is_missing: bool
    """Whether the notification has no such parameter, so that no predicate on it holds."""


@dataclass(frozen=True, slots=True)
class Explained:
    holds: bool
    decisive: tuple[Said, ...]
    """Those predicates that make it so: with other values of them, the outcome could be another one. One under an odd
    number of ``not`` is negated, so that all of them hold, or none, as the expression does."""


def explained(expression: Expression, notification: Notified) -> Explained:
    holds = compiled(expression)(notification)
    found = dict.fromkeys(_decisive(expression, notification, holds))
    said = {one: _said(one, notification) for one, _ in found}
    return Explained(holds, tuple(_negation(one, said[one]) if is_negated else said[one] for one, is_negated in found))


def of_each(expression: Expression, notification: Notified) -> list[Said]:
    """What all predicates say, in their order in the text."""
    return [_said(one, notification) for one in _predicates(expression)]


def overlooked(expression: Expression) -> list[Predicate]:
    """Negated predicates that also count where there is no such parameter, since logic is two-valued (seed 001,
    section 5)."""
    return list(dict.fromkeys(one for one in _negated(expression, False) if _may_be_missing(one)))


def warnings(expression: Expression) -> list[str]:
    """What two-valued logic makes of negations, as sentences."""
    return [
        f"“{formatted(Not(one))}” also holds where there is no “{one.name}”. If that is not meant, write: "
        f"{formatted(Predicate(one.name, 'exists'))} and {formatted(Not(one))}"
        for one in overlooked(expression)
    ]


def _predicates(expression: Expression) -> Iterator[Predicate]:
    match expression:
        case Predicate():
            yield expression
        case Not(part):
            yield from _predicates(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _predicates(part)


def _may_be_missing(one: Predicate) -> bool:
    return one.name not in RESERVED and one.operator != "exists"


def _negated(expression: Expression, is_negated: bool, known: frozenset[str] = frozenset()) -> Iterator[Predicate]:
    """Predicates under an odd number of ``not``, but not those of names that must exist there anyway."""
    match expression:
        case Predicate():
            if is_negated and expression.name not in known:
                yield expression
        case Not(part):
            yield from _negated(part, not is_negated, known)
        case And(parts) | Or(parts):
            if isinstance(expression, And) and not is_negated:
                known |= {part.name for part in parts if isinstance(part, Predicate)}
            for part in parts:
                yield from _negated(part, is_negated, known)


def _decisive(
    expression: Expression, notification: Notified, holds: bool, is_negated: bool = False
) -> Iterator[tuple[Predicate, bool]]:
    """Each with whether it is negated. ``holds`` is what ``expression`` says."""
    match expression:
        case Predicate():
            yield expression, is_negated
        case Not(part):
            yield from _decisive(part, notification, not holds, not is_negated)
        case And(parts) | Or(parts):
            for part in parts:
                if compiled(part)(notification) is holds:
                    yield from _decisive(part, notification, holds, is_negated)


def _negation(one: Predicate, said: Said) -> Said:
    return replace(said, predicate=formatted(Not(one)), holds=not said.holds)


def _said(one: Predicate, notification: Notified) -> Said:
    holds = compiled(one)(notification)
    is_missing = not compiled(Predicate(one.name, "exists"))(notification)
    return Said(formatted(one), holds, _why(one, notification, holds), is_missing)


def _why(one: Predicate, notification: Notified, holds: bool) -> str:
    value = _value(one, notification)
    if value is _MISSING:
        return f"{one.name} is missing"
    text = f"{one.name} is {_shown(value)}"
    return text if holds or not _is_other_type(one, value) else f"{text}, of another type"


def _value(one: Predicate, notification: Notified) -> Any:
    if one.name in RESERVED:
        return getattr(notification, _ATTRIBUTES.get(one.name, one.name))
    value: Any = notification.data
    for part in one.path:
        if isinstance(value, list):
            return value  # any of its elements may lead on
        if not isinstance(value, dict) or part not in value:
            return _MISSING
        value = value[part]
    return value


def _is_other_type(one: Predicate, value: Any) -> bool:
    if isinstance(value, list | dict) or not one.constants:
        return False
    return _type(value) not in {_type(constant) for constant in one.constants}


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = f"“{value}”" if isinstance(value, str) else str(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"
