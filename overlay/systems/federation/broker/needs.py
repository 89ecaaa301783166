"""In which order scopes are asked for: what a provider needs comes first (seed 001, section 9). Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Set
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from overlay.systems.federation.wire.messages import Code

MOST_DEPTH = 8
"""Scopes that need one another in a chain."""
MOST_SCOPES = 64
"""Scopes of one query, with all that they need."""


NeedsOf = Callable[[str, Callable[[Iterable[str]], bool]], Collection[str] | None]
"""What those providers of a scope need that can be asked, ``None`` without any; which needs can be met is told."""


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


def plan(scopes: Iterable[str], given: Collection[str], needs_of: NeedsOf) -> dict[str, Step]:
    """The steps, needed ones first. ``given`` scopes are known already and none of ``scopes``.

    Raises ``Unanswerable``: NO_PROVIDER, CYCLE, or LIMIT for more than 64 scopes and chains of more than 8.
    """
    needs = _closure(tuple(scopes), given, needs_of)
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


def _closure(scopes: tuple[str, ...], given: Collection[str], needs_of: NeedsOf) -> dict[str, tuple[str, ...]]:
    """The scopes that must be asked for, each with what it needs."""
    missing: set[str] = set()
    for _ in range(MOST_DEPTH + 1):
        found, new = _reached(scopes, given, needs_of, missing)
        if not new:
            return found
        if not new.isdisjoint(scopes):
            raise Unanswerable(Code.NO_PROVIDER)
        missing |= new  # who needs these is not asked: once more, with the other providers
    raise Unanswerable(Code.LIMIT)


def _reached(
    scopes: tuple[str, ...], given: Collection[str], needs_of: NeedsOf, missing: Set[str]
) -> tuple[dict[str, tuple[str, ...]], set[str]]:
    """The scopes that are needed in the end, each with what it needs itself, and those that prove missing, too."""
    found: dict[str, tuple[str, ...]] = {}
    new: set[str] = set()
    waiting = dict.fromkeys(scopes)
    while waiting:
        scope, _ = waiting.popitem()
        needs = needs_of(scope, missing.isdisjoint)
        if needs is None:
            new.add(scope)
            continue
        if len(found) == MOST_SCOPES:
            raise Unanswerable(Code.LIMIT)
        found[scope] = tuple(dict.fromkeys(needs))
        further = (need for need in needs if need not in found and need not in new and need not in given)
        waiting.update(dict.fromkeys(further))
    return found, new
