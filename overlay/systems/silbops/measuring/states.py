"""What an application has set, state by state, and the window of a publication.

A *state* is a client's subscriptions and context, or advertisements and context; each call makes a new one. The window
of a publication and a client: from its newest state that all brokers had processed at the publication, to its last one
before the last copy of the publication was processed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.tree import Tree

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A subscription."""

    filter: Filter
    scope: Tree | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """An advertisement, as ``publishing.permitted`` wants it."""

    filter: Filter
    variables: frozenset[str] = frozenset()
    subscriber_variables: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Change(Generic[_Row]):
    """A call. Times are µs."""

    at_us: float
    processed_us: float
    """When all brokers had processed what it caused; infinite: never."""
    context: Values | None = None
    """The new one, of a call that sets it."""
    id: int = 0
    """Of what is set or removed, if it is no context."""
    row: _Row | None = None
    """``None``: it is removed."""


@dataclass(slots=True)
class Span(Generic[_Row]):
    """A subscription or advertisement, from state ``first`` to the one before ``end``."""

    row: _Row
    first: int
    end: float = float("inf")

    def is_in(self, state: int) -> bool:
        return self.first <= state < self.end


@dataclass(slots=True)
class States(Generic[_Row]):
    """All states of a client. State 0 is before its first call: it has set nothing."""

    contexts: list[Values | None] = field(default_factory=lambda: [None])
    spans: list[Span[_Row]] = field(default_factory=list)
    _at: list[float] = field(default_factory=lambda: [float("-inf")])
    _known: list[float] = field(default_factory=lambda: [float("-inf")])
    """When this state or a later one was processed by all brokers."""

    @classmethod
    def of(cls, changes: Iterable[Change[_Row]]) -> States[_Row]:
        """``changes`` in any order; those of one instant in theirs."""
        found = cls()
        open_: dict[int, Span[_Row]] = {}
        for change in sorted(changes, key=lambda one: one.at_us):
            state = len(found.contexts)
            found._at.append(change.at_us)
            found._known.append(max(change.processed_us, found._known[-1]))
            found.contexts.append(found.contexts[-1] if change.context is None else change.context)
            if change.context is None:
                known = open_.pop(change.id, None)
                if known is not None:
                    known.end = state
                if change.row is not None:
                    found.spans.append(Span(change.row, state))
                    open_[change.id] = found.spans[-1]
        return found

    def window(self, published_us: float, processed_us: float) -> range:
        """The numbers of its states. ``processed_us``: when the last copy was."""
        first = bisect_right(self._known, published_us) - 1
        last = bisect_right(self._at, processed_us) - 1
        return range(first, max(first, last) + 1)


def rows_in(spans: Iterable[Span[_Row]], state: int) -> list[_Row]:
    return [span.row for span in spans if span.is_in(state)]


def states_by_client(changes: Mapping[str, Iterable[Change[_Row]]]) -> dict[str, States[_Row]]:
    return {client: States.of(several) for client, several in sorted(changes.items())}
