"""A subscription, tried on notifications: which satisfy it, and why others do not. Nothing is sent to the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brokerweb.systems.federation.doors.documents import expression_of
from brokerweb.systems.federation.subscribing.recent import Recent
from overlay.systems.federation.language.explaining import Said, explained, warnings
from overlay.systems.federation.language.text import formatted
from overlay.systems.federation.language.tree import And, Expression, Or, written


@dataclass(frozen=True, slots=True)
class Tried:
    recent: Recent
    holds: bool
    is_in_scope: bool
    said: Sequence[Said]
    """The predicates that decide; empty if its scope was not chosen."""


@dataclass(frozen=True, slots=True)
class DryRun:
    text: str
    expression: list[Any]
    """As nested lists that begin with ``and`` or ``or``."""
    warnings: Sequence[str]
    rows: Sequence[Tried]

    @property
    def satisfied(self) -> int:
        return sum(row.holds for row in self.rows)


def dry_run(scopes: Sequence[str], said: str | list[Any], notifications: Sequence[Recent]) -> DryRun:
    """Without scopes, those of all notifications. Raises ``InvalidSetting``."""
    is_empty = isinstance(said, str) and not said.strip()
    expression, chosen = expression_of(None if is_empty else said), set(scopes)
    rows = [_tried(expression, one, not chosen or one.notification.scope in chosen) for one in notifications]
    group = expression if isinstance(expression, And | Or) else And((expression,))
    return DryRun(formatted(expression), written(group), warnings(expression), rows)


def _tried(expression: Expression, one: Recent, is_in_scope: bool) -> Tried:
    if not is_in_scope:
        return Tried(one, False, False, ())
    found = explained(expression, one.notification)
    return Tried(one, found.holds, True, found.decisive)
