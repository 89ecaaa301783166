"""Selection lists of forms: the selected rows, and a limited number of matching ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

FIND, FIND_RUNS = "find", "find_runs"
"""Names of the search fields: part of a name, and a filter of runs."""
MOST = 50
MOST_TYPED = 200
HAS_SEARCH = 12
"""Number of rows from which a list has a search field."""


@dataclass(frozen=True)
class Picks:
    """The rows of a selection list."""

    rows: list[Any]
    more: int
    """Number of matching rows not shown."""
    find: str = ""
    """The search text."""
    wrong: str = ""
    """The error of an invalid search text."""

    @property
    def has_search(self) -> bool:
        return bool(self.more or self.find) or len(self.rows) > HAS_SEARCH


def by_name(rows: QuerySet[Any], chosen: Sequence[str], find: str = "", most: int = MOST) -> Picks:
    """Rows whose name contains ``find``; the selected ones (``chosen``) come first in any case."""
    find = find.strip()[:MOST_TYPED]
    return of(rows.filter(name__icontains=find) if find else rows, rows.filter(pk__in=chosen), find, most)


def of(fitting: QuerySet[Any], chosen: QuerySet[Any], find: str, most: int = MOST) -> Picks:
    """All of ``chosen``, then the first of ``fitting``."""
    first = list(chosen)
    others = fitting.exclude(pk__in=[row.pk for row in first])
    shown = list(others[:most])
    more = others.count() - len(shown) if len(shown) == most else 0
    return Picks([*first, *shown], more, find)
