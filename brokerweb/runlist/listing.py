"""A list of runs as an address says it: which, in what order, with what columns. Pages, REST and commands share it.

``q=topology = ring&sort=-p95&columns=state,p95&size=50``; the parameters ``state``, ``verdict``, ``engine``,
``topology`` and ``experiment`` of older addresses become part of the filter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import F, QuerySet
from django.http import QueryDict

from brokerweb.experiments.models import Run
from brokerweb.runlist import columns
from brokerweb.runlist.columns import COLUMNS, DEFAULT, Column
from brokerweb.runlist.filtering import condition
from overlay.core.errors import InvalidSetting
from telemetry.filters import Comparison, Everything, InvalidFilter, Node, did_you_mean, parse
from telemetry.filters.changing import both

OLD = {
    "state": "state",
    "verdict": "verdict",
    "engine": "engine",
    "topology": "topology",
    "experiment": "experiment.id",
    "tag": "tag",
}
"""Parameters that stand for a condition on a field."""
SIZES = (25, 50, 100, 250)


@dataclass(frozen=True, slots=True)
class Listing:
    """What an address asks for, as far as it can be read."""

    text: str
    """The filter as it was typed, with older parameters put to it."""
    tree: Node
    columns: Sequence[Column]
    sort: str
    """A column's name, after ``-`` for the largest first; empty for the newest first."""
    size: int
    problems: Sequence[InvalidSetting] = field(default=())
    """What could not be read, one for each parameter."""

    @property
    def wrong_filter(self) -> InvalidFilter | None:
        return next((one for one in self.problems if isinstance(one, InvalidFilter)), None)

    @property
    def has_columns(self) -> bool:
        """Whether its columns are others than the usual ones."""
        return tuple(column.name for column in self.columns) != DEFAULT

    def rows(self, now: datetime) -> QuerySet[Run]:
        """The runs, in order. Raises ``InvalidFilter``."""
        return ordered(Run.objects.filter(condition(self.tree, now)), self.sort)

    def query(self, **changes: Any) -> str:
        """The address's query that says this list, with some parameters changed; ``None`` is the default."""
        said: dict[str, Any] = {
            "q": self.text,
            "sort": self.sort,
            "columns": ",".join(column.name for column in self.columns),
            "size": self.size,
            **changes,
        }
        default = {"q": "", "sort": "", "columns": ",".join(DEFAULT), "size": SIZES[0]}
        return urlencode({name: value for name, value in said.items() if value not in (None, default.get(name))})


def of_address(query: QueryDict) -> Listing:
    """``read`` of a page's address, in which columns may be named together or one by one."""
    given = {name: str(query.get(name, "")) for name in query}
    return read({**given, "columns": ",".join(map(str, query.getlist("columns")))})


def read(query: Mapping[str, str]) -> Listing:
    """The list that an address's query asks for. What is wrong is in ``problems``, and its default stands in."""
    problems: list[InvalidSetting] = []
    text = query.get("q", "").strip()
    tree: Node = Everything()
    older = [Comparison(name, "=", query[old].strip()) for old, name in OLD.items() if query.get(old, "").strip()]
    try:
        tree = parse(text)
        for one in older:
            tree = both(tree, one)
        text = str(tree) if older else text
    except InvalidFilter as error:
        problems.append(error)
    names = [name.strip() for name in query.get("columns", "").split(",") if name.strip()]
    shown: Sequence[Column] = [COLUMNS[name] for name in DEFAULT]
    try:
        shown = columns.chosen(names) if names else shown
    except InvalidSetting as error:
        problems.append(error)
    sort, size = query.get("sort", "").strip(), SIZES[0]
    try:
        check_sort(sort)
    except InvalidSetting as error:
        problems.append(error)
        sort = ""
    if (asked := query.get("size", "")) in map(str, SIZES):
        size = int(asked)
    elif asked:
        problems.append(InvalidSetting("size", f"must be one of {', '.join(map(str, SIZES))}, not {asked!r:.20}"))
    return Listing(text, tree, shown, sort, size, problems)


def check_sort(sort: str) -> None:
    """Raises ``InvalidSetting``."""
    name = sort.removeprefix("-")
    if name and (name not in COLUMNS or not COLUMNS[name].sort):
        sortable = [one.name for one in COLUMNS.values() if one.sort]
        raise InvalidSetting("sort", f"runs are not sorted by “{name:.40}”{did_you_mean(name, sortable)}")


def ordered(rows: QuerySet[Run], sort: str) -> QuerySet[Run]:
    """By a column, what was not measured last; else the newest first."""
    newest_first = ("-created", "position", "pk")
    if not sort:
        return rows.order_by(*newest_first)
    path = F(COLUMNS[sort.removeprefix("-")].sort)
    by = path.desc(nulls_last=True) if sort.startswith("-") else path.asc(nulls_last=True)
    return rows.order_by(by, *newest_first)
