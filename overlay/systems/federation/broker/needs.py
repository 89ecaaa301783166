"""In which order scopes are asked for: what a provider needs comes first (seed 001, section 9). Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from overlay.systems.federation.wire.messages import Code

MOST_DEPTH = 8
"""Scopes that need one another in a chain."""
MOST_SCOPES = 64
"""Scopes of one query, with all that they need."""


class Unanswerable(Exception):
    """A query that fails before anything is asked."""

    def __init__(self, code: Code) -> None:
        super().__init__(code.name)
        self.code = code


class Step(NamedTuple):
    """One scope of a query."""

    needs: tuple[str, ...]
    """Those whose data its providers want: answered before, or given."""
    levels: int
    """Of the longest chain that waits for it, itself included: into so many parts the time left is split."""


def plan(
    scopes: Iterable[str], given: Collection[str], needs_of: Callable[[str], Collection[str] | None]
) -> dict[str, Step]:
    """The steps, needed ones first. ``given`` scopes are known already and none of ``scopes``. ``needs_of``: ``None``
    without a provider.

    Raises ``Unanswerable``: NO_PROVIDER, CYCLE, or LIMIT for more than 64 scopes and chains of more than 8.
    """
    needs = _closure(scopes, given, needs_of)
    graph = {scope: [need for need in of if need not in given] for scope, of in needs.items()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError:
        raise Unanswerable(Code.CYCLE) from None
    levels = dict.fromkeys(order, 1)
    for scope in reversed(order):
        for need in graph[scope]:
            levels[need] = max(levels[need], levels[scope] + 1)
    if max(levels.values(), default=0) > MOST_DEPTH:
        raise Unanswerable(Code.LIMIT)
    return {scope: Step(needs[scope], levels[scope]) for scope in order}


def _closure(
    scopes: Iterable[str], given: Collection[str], needs_of: Callable[[str], Collection[str] | None]
) -> dict[str, tuple[str, ...]]:
    """The scopes that must be asked for, each with what it needs."""
    found: dict[str, tuple[str, ...]] = {}
    waiting = dict.fromkeys(scopes)
    while waiting:
        scope, _ = waiting.popitem()
        needs = needs_of(scope)
        if needs is None:
            raise Unanswerable(Code.NO_PROVIDER)
        if len(found) == MOST_SCOPES:
            raise Unanswerable(Code.LIMIT)
        found[scope] = tuple(dict.fromkeys(needs))
        waiting.update(dict.fromkeys(need for need in needs if need not in found and need not in given))
    return found
