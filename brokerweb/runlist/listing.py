"""A list of runs from a URL: filter, order and columns. Shared by pages, REST and commands.

``q=topology = ring&sort=-p95&columns=state,p95&size=50``; the parameters ``state``, ``verdict``, ``engine``,
``topology`` and ``experiment`` of older URLs are added to the filter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Case, F, QuerySet, When
from django.http import QueryDict

from brokerweb.experiments.models import Run
from brokerweb.runlist import columns
from brokerweb.runlist.columns import COLUMNS, Column
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
"""Older parameters that are equivalent to a condition."""
SIZES = (25, 50, 100, 250)


@dataclass(frozen=True, slots=True)
class Listing:
    """The valid parameters of a URL."""

    text: str
    """The filter text, with older parameters added."""
    tree: Node
    columns: Sequence[Column]
    sort: str
    """A column name, with ``-`` for descending order; empty for newest first."""
    size: int
    names_columns: bool = False
    """Whether the URL names its columns."""
    default: tuple[str, ...] = ()
    """The names of the columns of a list that names none."""
    problems: Sequence[InvalidSetting] = field(default=())
    """Errors, at most one per parameter."""

    @property
    def wrong_filter(self) -> InvalidFilter | None:
        return next((one for one in self.problems if isinstance(one, InvalidFilter)), None)

    @property
    def has_columns(self) -> bool:
        """Whether its columns differ from the default."""
        return tuple(column.name for column in self.columns) != self.default

    def rows(self, now: datetime) -> QuerySet[Run]:
        """The runs, in order. Raises ``InvalidFilter``."""
        return ordered(Run.objects.filter(condition(self.tree, now)), self.sort)

    def of_systems(self, systems: Iterable[str]) -> Listing:
        """With the default columns of runs of these systems."""
        default = columns.default(systems)
        shown = self.columns if self.names_columns else [COLUMNS[name] for name in default]
        return replace(self, default=default, columns=shown)

    @property
    def complete_query(self) -> str:
        """The query string for an address that reads its columns before any run."""
        return replace(self, default=columns.default(())).query()

    def query(self, **changes: Any) -> str:
        """The query string of this list, with some parameters changed; ``None`` resets one to its default."""
        said: dict[str, Any] = {
            "q": self.text,
            "sort": self.sort,
            "columns": ",".join(column.name for column in self.columns),
            "size": self.size,
            **changes,
        }
        default = {"q": "", "sort": "", "columns": ",".join(self.default), "size": SIZES[0]}
        return urlencode({name: value for name, value in said.items() if value not in (None, default.get(name))})


def of_address(query: QueryDict) -> Listing:
    """``read`` for a page's URL, where columns may be repeated parameters."""
    given = {name: str(query.get(name, "")) for name in query}
    return read({**given, "columns": ",".join(map(str, query.getlist("columns")))})


def read(query: Mapping[str, str]) -> Listing:
    """Parse a query string. Errors go to ``problems``; defaults replace invalid values."""
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
    default = columns.default(())
    shown: Sequence[Column] = [COLUMNS[name] for name in default]
    try:
        shown = columns.chosen(names) if names else shown
    except InvalidSetting as error:
        problems.append(error)
        names = []
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
    return Listing(text, tree, shown, sort, size, bool(names), default, problems)


def check_sort(sort: str) -> None:
    """Raises ``InvalidSetting``."""
    name = sort.removeprefix("-")
    if name and (name not in COLUMNS or not COLUMNS[name].sort):
        sortable = [one.name for one in COLUMNS.values() if one.sort]
        raise InvalidSetting("sort", f"runs cannot be sorted by “{name:.40}”{did_you_mean(name, sortable)}")


def ordered(rows: QuerySet[Run], sort: str) -> QuerySet[Run]:
    """Sorted by a column, missing values last; by default newest first."""
    newest_first = ("-created", "position", "pk")
    if not sort:
        return rows.order_by(*newest_first)
    column = COLUMNS[sort.removeprefix("-")]
    path: F | Case = F(column.sort)
    if column.systems:  # another system may have a setting of that name
        path = Case(When(system__in=column.systems, then=path))
    by = path.desc(nulls_last=True) if sort.startswith("-") else path.asc(nulls_last=True)
    return rows.order_by(by, *newest_first)
