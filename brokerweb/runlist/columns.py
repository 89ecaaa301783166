"""The columns of a list of runs: value, sort order and export names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet

from brokerweb.experiments.models import Run
from brokerweb.runlist.fields import FIGURES, QUALIFIED, SETTINGS, Field
from overlay.core.errors import InvalidSetting
from overlay.experiment.whatif import in_words
from overlay.systems.registry import FIRST, SYSTEMS, have_topologies
from telemetry.filters import did_you_mean
from telemetry.formatting import shortened, sig3, words
from telemetry.measures import with_unit
from telemetry.systems.registry import listed_figures, measures

Value = str | int | float | bool | None
Read = Callable[[Run], Value]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the list."""

    name: str
    title: str
    exported: tuple[tuple[str, Read], ...]
    """Export names and values; combined cells are split."""
    sort: str = ""
    """Sort lookup; empty if not sortable."""
    is_number: bool = False
    unit: str = ""
    needs: tuple[str, ...] = ()
    """Paths read from the configuration, which lists do not read completely."""
    shown: Callable[[Value], str] | None = None
    """Formatter of a single value; ``None`` if the template formats it."""
    words: Callable[[Run], str] | None = None
    """Formatter of a combined cell."""
    help: str = ""
    systems: tuple[str, ...] = ()
    """The systems whose runs alone have it; empty: any."""

    def text(self, run: Run) -> str:
        """The text on the page, unless the template formats it; a dash if empty."""
        if self.words is not None:
            return self.words(run)
        value = self.exported[0][1](run)
        if self.shown is not None:
            return self.shown(value)
        return "–" if value in (None, "") else str(value)


def _attribute(name: str) -> Read:
    return lambda run: getattr(run, name)


def change_of(run: Run) -> Value:
    """The change of a what-if run."""
    return in_words(run.change) if run.change else ""


def _figure(key: str) -> Read:
    """Formatter of a measure."""
    return lambda run: run.figures.get(key)


def _whole(key: str) -> Read:
    """Formatter of a count."""

    def read(run: Run) -> Value:
        value: float | None = run.figures.get(key)
        return None if value is None else int(value)

    return read


def _moment(name: str) -> Read:
    def read(run: Run) -> Value:
        moment: datetime | None = getattr(run, name)
        return moment.isoformat() if moment else None

    return read


def _plain(name: str, title: str, attribute: str = "", *, is_number: bool = False, help: str = "") -> Column:
    attribute = attribute or name
    return Column(name, title, ((name, _attribute(attribute)),), attribute, is_number, help=help)


def _annotation(path: str) -> str:
    return f"read_{path.replace('__', '_')}"


def _of_document(path: str) -> Read:
    return _attribute(_annotation(path))


CLIENTS = {
    name: f"configuration__workload__{name}"
    for name in dict.fromkeys(name for system in SYSTEMS.values() for name in system.client_fields)
}
"""The paths of the numbers of clients, by workload field."""


def _clients(run: Run) -> str:
    """ "50 + 1000"."""
    fields = SYSTEMS[run.system].client_fields if run.system in SYSTEMS else CLIENTS
    numbers = [getattr(run, _annotation(CLIENTS[name]), None) for name in fields if name in CLIENTS]
    return " + ".join(str(number) for number in numbers if number is not None) or "–"


_OWN = (
    _plain("state", "State"),
    Column(
        "topology",
        "Topology",
        tuple((name, _attribute(name)) for name in ("topology_kind", "topology_name", "brokers")),
        "topology_kind",
    ),
    _plain("brokers", "Brokers", is_number=True),
    _plain("strategy", "Strategy", help="Search strategy"),
    _plain("engine", "Engine"),
    _plain("system", "System"),
    Column(
        "clients",
        "Clients",
        tuple((name, _of_document(path)) for name, path in CLIENTS.items()),
        CLIENTS[SYSTEMS[FIRST].client_fields[-1]],
        is_number=True,
        needs=tuple(CLIENTS.values()),
        words=_clients,
        help="; ".join(" + ".join(system.client_fields).capitalize() for system in SYSTEMS.values()),
    ),
    Column(
        "answered_of",
        "Answered",
        (("answered", _whole("answered")), ("requests", _whole("requests"))),
        "figures__answer_ratio",
        is_number=True,
        help="Answered requests of all; sorted by the share",
    ),
    _plain("verdict", "Verdict", help="Validity of the measurement"),
    _plain("passed", "Thresholds", help="Whether all thresholds passed"),
    Column("tags", "Tags", (("tags", lambda run: " ".join(tag.name for tag in run.tags.all())),)),
    Column("note", "Note", (("note", _attribute("note")),)),
    _plain("kept", "Kept", help="Exempt from retention"),
    _plain("seed", "Seed"),
    Column(
        "changed",
        "What if",
        (("changed", change_of),),
        help="Change of a what-if run; empty for other runs",
    ),
    _plain("replicate", "Replicate", is_number=True, help="From 0"),
    _plain("configuration", "Configuration", "configuration_hash", help="Hash of the configuration"),
    _plain("host", "Host"),
    Column("owner", "Owner", (("owner", lambda run: run.owner.username if run.owner else ""),), "owner__username"),
    Column("created", "Queued", (("created", _moment("created")),), "created"),
    Column("ended", "Ended", (("ended", _moment("ended_at")),), "ended_at"),
)


def _of_figure(field: Field) -> Column:
    measure = measures()[field.name]
    value = (_whole if measure.is_count else _figure)(measure.key)
    read = ((with_unit(field.name, field.unit), value),)
    shown: Callable[[Any], str] = measure.text
    title = measure.short or measure.title
    if measure.unit == "per_s" and "per s" in title:
        shown = sig3
    return Column(field.name, title, read, field.path, is_number=True, shown=shown, help=measure.title)


def _of_setting(field: Field) -> Column:
    name = field.name.rpartition(".")[2]
    unit = "" if field.unit in ("", "fraction") or name.endswith(f"_{field.unit}") else f", {field.unit}"
    title = f"{words(name)}{f', {field.unit}' if name.endswith(f'_{field.unit}') else unit}"
    if field.systems:
        title = f"{title} ({', '.join(SYSTEMS[name].title for name in field.systems)})"
    is_number = field.what == "number"
    read = ((field.name, _of_systems(field.systems, _of_document(field.path))),)
    shown = _yes_or_no if field.what == "flag" else sig3 if is_number else _text if field.what == "text" else None
    return Column(
        field.name,
        title,
        read,
        field.path,
        is_number,
        needs=(field.path,),
        shown=shown,
        help=field.help,
        systems=field.systems,
    )


def _of_systems(systems: tuple[str, ...], read: Read) -> Read:
    """``read`` for runs of these systems, or of any; another's run has nothing of it."""
    return read if not systems else lambda run: read(run) if run.system in systems else None


def _text(value: Any) -> str:
    return "–" if value in (None, "") else shortened(str(value))


def _yes_or_no(value: Any) -> str:
    return "–" if value is None else "yes" if value else "no"


COLUMNS: Mapping[str, Column] = {
    column.name: column for column in (*_OWN, *map(_of_figure, FIGURES.values()), *map(_of_setting, SETTINGS.values()))
}
ALIASES: Mapping[str, Column] = {alias: COLUMNS[name] for alias, name in QUALIFIED.items()}
"""Columns that also have a name with their system."""
_AS_COUNTS = {"answer_ratio": "answered_of"}
"""The columns that show a share as *this of that*."""


def default(systems: Iterable[str]) -> tuple[str, ...]:
    """The columns of a list of runs of these systems that names none; without systems, those of the first."""
    systems = list(systems)
    figures = (_AS_COUNTS.get(name, name) for name in listed_figures(systems))
    topology = ("topology",) if have_topologies(systems) else ()
    return ("state", *topology, "clients", *figures, "verdict", "tags", "ended")


GROUPS: Mapping[str, tuple[Column, ...]] = {
    "Runs": _OWN,
    "Figures": tuple(COLUMNS[name] for name in FIGURES),
    "Workload": tuple(COLUMNS[name] for name in SETTINGS if ".workload." in f".{name}"),
    "Settings": tuple(COLUMNS[name] for name in SETTINGS if ".settings." in f".{name}"),
}
"""Groups of the column selection."""
MOST = 40
"""Maximum number of columns of a list."""


def chosen(names: Iterable[str]) -> list[Column]:
    """The columns with these names, without duplicates. Raises ``InvalidSetting``."""
    found = []
    for name in dict.fromkeys(names):
        column = COLUMNS.get(name) or ALIASES.get(name)
        if column is None:
            raise InvalidSetting("columns", f"unknown column “{name:.40}”{did_you_mean(name, COLUMNS)}")
        found.append(column)
    if len(found) > MOST:
        raise InvalidSetting("columns", f"a list has at most {MOST} columns, not {len(found)}")
    return found


def reading(rows: QuerySet[Run], columns: Iterable[Column]) -> QuerySet[Run]:
    """``rows`` with the data of the columns, without unused documents."""
    wanted = list(columns)
    needs = {path for column in wanted for path in column.needs}
    documents = ("configuration", "summary", "observed", "experiment__definition")
    found = rows.select_related("experiment", "owner").defer(*documents)
    if any(column.name == "tags" for column in wanted):
        found = found.prefetch_related("tags")
    return found.annotate(**{_annotation(path): F(path) for path in sorted(needs)})
