"""Rows to pick from in a form: those that are picked already, and of those asked for as many as a list shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

FIND, FIND_RUNS = "find", "find_runs"
"""The fields in which is typed what a list is to show: part of a name, and a filter of runs."""
MOST = 50
MOST_TYPED = 200
HAS_SEARCH = 12
"""Rows from which on a list has a field to search it."""


@dataclass(frozen=True)
class Picks:
    """What a list shows."""

    rows: list[Any]
    more: int
    """How many others fit what was typed."""
    find: str = ""
    """What was typed."""
    wrong: str = ""
    """Why what was typed finds nothing, if it cannot be read."""

    @property
    def has_search(self) -> bool:
        return bool(self.more or self.find) or len(self.rows) > HAS_SEARCH


def by_name(rows: QuerySet[Any], chosen: Sequence[str], find: str = "", most: int = MOST) -> Picks:
    """Those whose name contains ``find``, the ones of the ids ``chosen`` first, whatever they are called."""
    find = find.strip()[:MOST_TYPED]
    return of(rows.filter(name__icontains=find) if find else rows, rows.filter(pk__in=chosen), find, most)


def of(fitting: QuerySet[Any], chosen: QuerySet[Any], find: str, most: int = MOST) -> Picks:
    """All of ``chosen``, then of ``fitting`` what is shown besides."""
    first = list(chosen)
    others = fitting.exclude(pk__in=[row.pk for row in first])
    shown = list(others[:most])
    more = others.count() - len(shown) if len(shown) == most else 0
    return Picks([*first, *shown], more, find)
