"""Compares groups of replicates: figures with intervals, and differences to a baseline.

The page, REST, exports and the command all show the result of ``compare``. The statistics are in
``telemetry.reports.grouping``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import fmean
from typing import Any

from brokerweb.comparison import parameters, selection
from brokerweb.comparison.parameters import Configuration, Parameter
from brokerweb.comparison.query import Asked
from brokerweb.comparison.selection import Figures, Selection
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from telemetry.lake.configurations import in_words, label_of
from telemetry.measures import Measure
from telemetry.reports import grouping
from telemetry.reports.grouping import Difference, Estimate, Value
from telemetry.systems.registry import first_figure, shared_figure

_HASH = re.compile(r"[0-9a-f]{16}")
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Group:
    """Runs aggregated as replicates: one configuration, or several that agree in the grouping parameters."""

    key: Key
    label: str
    engine: str
    role: str
    """As ``telemetry.charts.charts`` has it."""
    kind: str
    """Kind of its topology, for the colour; empty if it has several."""
    factors: Mapping[str, Any]
    """Values that distinguish it from other groups, by parameter name."""
    configurations: tuple[str, ...]
    runs: tuple[Figures, ...]
    estimates: Mapping[str, Estimate]
    """By measure."""
    published: float | None
    """Published values of the first measure for the same configurations."""
    number: int = 0
    """Position in the order of the parameters, from 1; charts and table refer to the group by it."""
    difference: Difference | None = None
    is_baseline: bool = False

    @property
    def id(self) -> str:
        """Identifies the group when it is pinned as baseline."""
        return self.configurations[0]


@dataclass(frozen=True)
class Baseline:
    """The baseline."""

    text: str
    label: str
    runs: int
    is_filter: bool


@dataclass(frozen=True)
class Comparison:
    """The complete result."""

    asked: Asked
    groups: list[Group]
    differing: list[Parameter]
    shared: Mapping[str, Any]
    configurations: Mapping[str, Configuration]
    selection: Selection
    baseline: Baseline | None = None
    verdicts: Mapping[str, int] = field(default_factory=dict)
    """Count by verdict; empty without a baseline."""

    @property
    def numbers(self) -> list[Parameter]:
        """Parameters with numeric values."""
        return [one for one in self.differing if one.is_number and len(one.values) > 1]


def compare(asked: Asked, now: datetime) -> Comparison:
    """Raises ``InvalidSetting`` that names the invalid parameter."""
    if not asked.metrics:
        asked = replace(asked, metrics=(_usual_figure(asked, now),))
    chosen = selection.select("q", asked.q or "", asked.runs, asked.columns, now)
    held, text, configuration = _baseline(asked, chosen, now)
    if held is not None:
        of_it = {one.run for one in held.runs}
        chosen = Selection(
            [one for one in chosen.runs if one.run not in of_it], chosen.not_done, chosen.repeats, chosen.changed
        )
    configurations = parameters.known({**(held.representatives() if held else {}), **chosen.representatives()})
    compared = [configurations[name] for name in chosen.representatives()]
    asked = replace(asked, systems=parameters.systems_of(compared))
    differing = parameters.differing(compared)
    _check(asked, differing)
    groups = grouped(asked, chosen.runs, configurations, differing)
    shared = parameters.shared(compared, differing)
    found = Comparison(asked, groups, differing, shared, configurations, chosen)
    if held is not None:
        return _against(found, grouped(asked, held.runs, configurations, differing), text)
    return _against_one(found, configuration) if configuration else found


def _usual_figure(asked: Asked, now: datetime) -> str:
    """The first figure of the system; of several systems one that all of them have, if there is any."""
    chosen = selection.chosen("q", asked.q or "", asked.runs, now)
    systems = selection.systems(chosen)
    return shared_figure(selection.measured(chosen, systems)) if len(systems) > 1 else first_figure(systems)


def _check(asked: Asked, differing: Sequence[Parameter]) -> None:
    names = [one.name for one in differing]
    single = [(where, [name]) for where, name in (("x", asked.x), ("y", asked.y)) if name]
    for where, asked_for in (*single, ("by", asked.by)):
        for name in asked_for:
            if name not in names:
                known = f"varied parameters: {', '.join(names)}" if names else "only the seed differs"
                raise InvalidSetting(where, f"these runs do not differ in {name!r:.40}; {known}")
    if asked.x and asked.x == asked.y:
        raise InvalidSetting("y", f"{asked.y} is already the x axis; the heat map needs two different parameters")


def grouped(
    asked: Asked,
    runs: Sequence[Figures],
    configurations: Mapping[str, Configuration],
    differing: Sequence[Parameter],
    by: Sequence[str] | None = None,
) -> list[Group]:
    """The groups in the order of their parameters. Live and simulated runs are never in one group. ``by`` overrides the
    requested grouping.
    """
    names = asked.by if by is None else by
    found: dict[Key, list[Figures]] = {}
    for one in runs:
        factors = configurations[one.configuration].factors
        key = (*(factors.get(name) for name in names), one.engine) if names else (one.configuration,)
        found.setdefault(key, []).append(one)
    told = [one.name for one in differing]
    groups = [_group(asked, key, members, configurations, names or told, bool(names)) for key, members in found.items()]
    groups.sort(key=lambda group: [parameters.order(value) for value in (*group.factors.values(), group.id)])
    return [replace(group, number=number) for number, group in enumerate(groups, start=1)]


def _group(
    asked: Asked,
    key: Key,
    runs: Sequence[Figures],
    configurations: Mapping[str, Configuration],
    names: Sequence[str],
    is_by: bool,
) -> Group:
    hashes = tuple(dict.fromkeys(one.configuration for one in runs))
    members = [configurations[name] for name in hashes]
    factors = {name: members[0].factors.get(name) for name in names}
    kinds, roles = {one.kind for one in members}, {one.role for one in members}
    return Group(
        key=key,
        label=_label(factors, runs[0].engine) if is_by else label_of(members[0].factors, names),
        engine=runs[0].engine,
        role=roles.pop() if len(roles) == 1 else "shaped",  # for live groups only; engines are never mixed
        kind=kinds.pop() if len(kinds) == 1 else "",
        factors=factors,
        configurations=hashes,
        runs=tuple(runs),
        estimates={
            measure.name: grouping.estimate(values(runs, at), measure, asked.aggregate)
            for at, measure in enumerate(asked.measures)
        },
        published=published(members, asked.measure),
    )


def ordered(found: Comparison) -> list[Group]:
    """The groups in the table's order: ``sort`` is a column, reversed by a leading ``-``. Missing values come last in
    both orders. Raises ``InvalidSetting``.
    """
    name = found.asked.sort.removeprefix("-")
    if not name:
        return found.groups
    known: dict[str, Callable[[Group], Any]] = {
        "n": lambda group: len(group.runs),
        "difference": lambda group: group.difference and group.difference.value,
    }
    known |= {one: _estimated(one) for one in found.asked.columns}
    known |= {one.name: _factor(one.name) for one in found.differing}
    if name not in known:
        raise InvalidSetting("sort", f"must be one of {', '.join(known)}, not {name!r:.40}")
    of = known[name]
    told = [group for group in found.groups if of(group) is not None]
    told.sort(key=lambda group: parameters.order(of(group)), reverse=found.asked.sort.startswith("-"))
    return told + [group for group in found.groups if of(group) is None]


def _estimated(name: str) -> Callable[[Group], Any]:
    return lambda group: group.estimates[name].value


def _factor(name: str) -> Callable[[Group], Any]:
    return lambda group: group.factors.get(name)


def short(found: Comparison, group: Group) -> str:
    """A short label of a group from its distinguishing values: "Ring of 10 · 50 · 500"; ``legend`` names them."""
    told = [parameters.said(group.factors.get(name)) for name in _told(found)]
    return " · ".join([*told, *([SIMULATED] if group.engine == SIMULATED else [])]) or group.label


def legend(found: Comparison) -> str:
    """Names of the values in ``short``: "topology · brokers · duration"."""
    titles = {one.name: one.axis for one in found.differing}
    return " · ".join(titles[name] for name in _told(found))


def _told(found: Comparison) -> list[str]:
    if found.asked.by:
        return [name for name in found.asked.by if name != "engine"]
    names = [one.name for one in found.differing if one.name not in ("links", "engine", "kind")]
    return [name for name in names if name != "brokers" or "topology" not in names]


def _label(factors: Mapping[str, Any], engine: str) -> str:
    plain = ("topology", "kind", "system")
    said = [
        str(value) if name in plain else in_words(name, value)
        for name, value in factors.items()
        if value not in (None, "") and name != "engine"
    ]
    if engine == SIMULATED:
        said.append(SIMULATED)
    return ", ".join(said) or "all"


def values(runs: Sequence[Figures], at: int = 0) -> list[Value]:
    """The runs' values of the measure at ``at``, without missing ones."""
    return [value for one in runs if (value := one.value(at)) is not None]


def published(members: Sequence[Configuration], measure: Measure) -> float | None:
    """Mean of the published figures of these configurations; ``None`` unless all of them were published."""
    rows = [one.published for one in members]
    found = [row[measure.name] for row in rows if row is not None and measure.name in row]
    return fmean(found) if found and None not in rows else None


def _baseline(asked: Asked, chosen: Selection, now: datetime) -> tuple[Selection | None, str, str]:
    """The baseline: its runs and the filter if a filter selects them, otherwise the pinned configuration."""
    if not asked.baseline:
        return None, "", ""
    if not _HASH.fullmatch(asked.baseline):
        held = selection.select("baseline", asked.baseline, (), asked.columns, now)
        if not held.runs:
            raise InvalidSetting("baseline", "matches no finished run")
        return held, asked.baseline, ""
    if any(one.configuration == asked.baseline for one in chosen.runs):
        return None, "", asked.baseline
    held = selection.of_configuration(asked.baseline, asked.columns)
    if not held.runs:
        raise InvalidSetting("baseline", f"no finished run has the configuration {asked.baseline}")
    return held, asked.baseline, ""


def _against(found: Comparison, held: Sequence[Group], text: str) -> Comparison:
    """Compare each group with the baseline's runs of the same parameters; with a single baseline group, with that."""
    by_key = {group.key: group for group in held}
    alone = held[0] if len(held) == 1 else None
    groups = [_held(group, by_key.get(group.key) or alone, found.asked.measure) for group in found.groups]
    runs = sum(len(group.runs) for group in held)
    is_filter = not _HASH.fullmatch(text)
    return _with(found, groups, Baseline(text, text if is_filter else held[0].label, runs, is_filter))


def _against_one(found: Comparison, configuration: str) -> Comparison:
    """Compare each group with the group that contains a configuration."""
    pinned = next(group for group in found.groups if configuration in group.configurations)
    groups = [
        replace(group, is_baseline=True) if group is pinned else _held(group, pinned, found.asked.measure)
        for group in found.groups
    ]
    return _with(found, groups, Baseline(configuration, pinned.label, len(pinned.runs), False))


def _held(group: Group, baseline: Group | None, measure: Measure) -> Group:
    ours, theirs = values(group.runs), values(baseline.runs) if baseline else []
    return replace(group, difference=grouping.difference(ours, theirs, measure))


def _with(found: Comparison, groups: list[Group], baseline: Baseline) -> Comparison:
    verdicts = grouping.counted(group.difference.verdict for group in groups if group.difference)
    return replace(found, groups=groups, baseline=baseline, verdicts=verdicts)
