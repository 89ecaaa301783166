"""Results of an experiment by configuration: replicates, figures with intervals, thresholds.

Read from columns; documents are read only for the configurations of one page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import BooleanField, Count, ExpressionWrapper, Q
from django.http import QueryDict

from brokerweb.experiments.figures import Figure, of_configurations, requests_behind
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.kit.ids import in_chunks
from brokerweb.kit.tables import Table
from overlay.core.engines import SIMULATED
from overlay.core.settings import ENGINE
from overlay.experiment.sweeps import axes
from overlay.systems import relevance
from overlay.systems.registry import SYSTEMS
from telemetry.formatting import joined, natural
from telemetry.measures import Measure
from telemetry.statistics.intervals import interval

SHOWN = 25
NATURAL = "configuration"
"""Default order: by varied values, numbers by size, also those within words."""
CELLS = 40
"""Runs of a configuration shown as marks; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One run as a mark: its state and its verdicts."""

    run: str
    replicate: int
    state: str
    verdict: str
    passed: bool | None


@dataclass
class Configuration:
    """A configuration with its runs."""

    hash: str
    ids: list[str] = field(default_factory=list)
    """Its runs by replicate, reruns included."""
    runs: int = 0
    failed: int = 0
    shown_figures: list[Figure] = field(default_factory=list)
    """The figures of its system that tables show."""
    figures: dict[str, list[float]] = field(default_factory=dict)
    """The values of its runs, by measure."""
    requests: dict[str, list[float]] = field(default_factory=dict)
    """For a share: the numbers of requests that it is a share of, if above 0."""
    passed: list[bool] = field(default_factory=list)
    """For each evaluated run, whether it passed all thresholds."""
    values: list[Any] = field(default_factory=list)
    """Varied values, in the order of the experiment's axes."""
    cells: list[Cell] = field(default_factory=list)
    """Its runs in the order of their ids."""

    @property
    def shown(self) -> list[Cell]:
        return self.cells[:CELLS]

    @property
    def more(self) -> int:
        """Number of runs not shown as marks."""
        return max(0, len(self.cells) - CELLS)

    @property
    def place(self) -> tuple[tuple[Any, ...], ...]:
        """Sort key by varied values; missing values last."""
        numbers = [isinstance(value, int | float) for value in self.values]
        return tuple(
            (value is None, not is_number, value if is_number else 0, natural(str(value).lower()))
            for value, is_number in zip(self.values, numbers, strict=True)
        )

    @property
    def n(self) -> int:
        """Number of runs with data."""
        return max(map(len, (*self.figures.values(), *self.requests.values())), default=0)

    @property
    def estimates(self) -> list[tuple[Figure, dict[str, Any]]]:
        """Each figure with its ``telemetry.statistics.intervals.interval``."""
        return [(figure, self._estimate(figure.measure)) for figure in self.shown_figures]

    def _estimate(self, measure: Measure) -> dict[str, Any]:
        values, requests = self.figures.get(measure.name, []), self.requests.get(measure.name)
        return interval(values, measure.scale, requests=requests, most=measure.most)

    @property
    def verdict(self) -> str:
        """ "passed" if all evaluated runs passed, "broken" if one did not; empty if none was evaluated."""
        return ("passed" if all(self.passed) else "broken") if self.passed else ""

    def key(self, sort: str) -> tuple[bool, float]:
        """Sort key for one of ``sorts``; missing values last in both orders."""
        name, sign = sort.removeprefix("-"), -1 if sort.startswith("-") else 1
        if name == "n":
            return False, sign * self.n
        values = self.figures.get(name, [])
        return not values, sign * sum(values) / len(values) if values else 0.0


def axes_of(experiment: Experiment) -> list[str]:
    """The varied parameters."""
    return list(axes(experiment.definition))


@dataclass(frozen=True)
class Known:
    """All runs of an experiment without figures: the data that the page polls."""

    configurations: list[Configuration]
    """In default order, with varied values and run ids."""
    by_state: Mapping[str, int]
    """Number of runs by state."""
    changed: list[str]
    """Ids of what-if runs, which belong to no configuration."""

    @property
    def runs(self) -> list[str]:
        """Ids of all runs by configuration and replicate; what-if runs last."""
        return [run for one in self.configurations for run in one.ids] + self.changed


def known(experiment: Experiment) -> Known:
    """Reads all runs in one query."""
    found: dict[str, Configuration] = {}
    by_state: Counter[str] = Counter()
    changed = []
    is_own = ExpressionWrapper(Q(change={}), output_field=BooleanField())
    rows = experiment.runs.order_by("replicate", "position", "created").annotate(is_own=is_own)
    for pk, name, state, own in rows.values_list("pk", "configuration_hash", "state", "is_own"):
        if not own:
            changed.append(pk)
            continue
        by_state[state] += 1
        if (one := found.get(name)) is None:
            one = found[name] = Configuration(name)
        one.ids.append(pk)
    _read_values(experiment, found.values())
    return Known(sorted(found.values(), key=lambda one: one.place), by_state, changed)


def page(
    experiment: Experiment, found: list[Configuration], asked: QueryDict | Mapping[str, str]
) -> Page[Configuration]:
    """The page of ``found`` selected by ``?sort=`` and ``?configurations=`` (page number), with figures."""
    sort = sort_of(experiment, asked)
    if sort != NATURAL:  # sorting by figures needs all of them
        _read_figures(experiment, found)
    shown = Paginator(_sorted(found, sort), SHOWN).get_page(asked.get("configurations"))
    if sort == NATURAL:
        _read_figures(experiment, list(shown.object_list))
    _forget_unused(experiment, shown)
    return shown


def sorts(system: str) -> tuple[str, ...]:
    """The orders of an experiment's configurations."""
    names = [figure.measure.name for figure in of_configurations(system) if not figure.counts]
    return (NATURAL, *(f"{sign}{name}" for name in (*names, "n") for sign in ("", "-")))


def sort_of(experiment: Experiment, asked: QueryDict | Mapping[str, str]) -> str:
    """One of ``sorts``: the requested order or the default."""
    sort = str(asked.get("sort", ""))
    return sort if sort in sorts(experiment.definition["system"]) else NATURAL


def averages(shown: Sequence[Figure]) -> str:
    """How the replicates of each figure are averaged, as sentences."""
    titles: dict[str, list[str]] = {}
    for figure in shown:
        titles.setdefault(figure.measure.mean, []).append(figure.title)
    if len(titles) == 1:
        return f"{next(iter(titles)).capitalize()} of the replicates"
    said = [f"{joined([_quoted(one) for one in names])}: {mean}" for mean, names in titles.items()]
    return ". ".join([f"{said[0]} of the replicates", *said[1:]]) if said else ""


def _quoted(title: str) -> str:
    return f"“{title}”" if "," in title else title


def table(experiment: Experiment, sort: str = "") -> Table:
    """All configurations with varied values, figures with 95 % intervals, and run counts."""
    found, system = known(experiment).configurations, experiment.definition["system"]
    _read_figures(experiment, found)
    shown = [figure.measure for figure in of_configurations(system)]
    found = _sorted(found, sort or shown[0].name)
    _forget_unused(experiment, found)
    varies = [name.rpartition(".")[2] for name in axes_of(experiment)]
    intervals = [f"{one.declared}{end}" for one in shown for end in ("", "_low", "_high")]
    rows = [
        [
            one.hash,
            experiment.definition["engine"],
            *one.values,
            one.n,
            *(estimate[end] for _, estimate in one.estimates for end in ("value", "low", "high")),
            one.runs,
            one.failed,
            one.verdict or None,
        ]
        for one in found
    ]
    return Table(["configuration", "engine", *varies, "n", *intervals, "runs", "failed", "thresholds"], rows)


def _sorted(found: list[Configuration], sort: str) -> list[Configuration]:
    """Sorted by one of ``sorts``."""
    return found if sort == NATURAL else sorted(found, key=lambda one: one.key(sort))


def _read_figures(experiment: Experiment, found: Sequence[Configuration]) -> None:
    """Read the figures of the runs of ``found``. A rerun of a simulated run is not another replicate."""
    by_name = {one.hash: one for one in found}
    shown = of_configurations(experiment.definition["system"])
    paths = _paths([figure.measure for figure in shown])
    cells: dict[str, Cell] = {}
    seen: set[tuple[str, str]] = set()
    columns = ("pk", "configuration_hash", "state", "seed", "engine", "passed", "replicate", "verdict")
    for names in in_chunks(list(by_name)):
        launched = experiment.runs.unchanged().filter(configuration_hash__in=names).order_by("position")
        rows = launched.values_list(*columns, *paths.values())
        for pk, name, state, seed, engine, passed, replicate, verdict, *figures in rows:
            one = by_name[name]
            cells[pk] = Cell(pk, replicate, state, verdict, passed)
            one.runs += 1
            one.failed += state == RunState.FAILED
            if state != RunState.DONE or (engine == SIMULATED and (name, seed) in seen):
                continue
            seen.add((name, seed))
            for (figure, is_value), value in zip(paths, figures, strict=True):
                if value is not None and (value or is_value):
                    (one.figures if is_value else one.requests).setdefault(figure, []).append(value)
            if passed is not None:
                one.passed.append(passed)
    for one in found:
        one.shown_figures = shown
        one.cells = [cells[run] for run in one.ids if run in cells]  # a run may have been deleted meanwhile


def _paths(shown: Sequence[Measure]) -> dict[tuple[str, bool], str]:
    """The columns with the values of these measures, ``True``, and with the requests that shares are of, ``False``."""
    values = {(one.name, True): f"figures__{one.key}" for one in shown}
    return values | {(one.name, False): requests_behind(one) for one in shown if one.of_path}


def _read_values(experiment: Experiment, found: Collection[Configuration]) -> None:
    """Read the varied values of each configuration from one of its runs."""
    names = axes_of(experiment)
    if not names or not found:
        return
    paths = ["topology_name" if name == "topology" else f"configuration__{name.replace('.', '__')}" for name in names]
    by_run: dict[str, list[Any]] = {}
    for some in in_chunks([one.ids[0] for one in found]):
        rows = Run.objects.filter(pk__in=some).order_by().values_list("pk", *paths)
        by_run |= {pk: list(values) for pk, *values in rows}
    for one in found:
        one.values = by_run[one.ids[0]]


def _forget_unused(experiment: Experiment, shown: Iterable[Configuration]) -> None:
    """Removes values of settings that the configuration does not use."""
    definition, system = experiment.definition, SYSTEMS[experiment.definition["system"]]
    base = {ENGINE: definition["engine"], **definition["settings"], **definition["workload"]}
    bare = [name.rpartition(".")[2] for name in axes_of(experiment)]
    infos = relevance.bearing_on(system, bare, (*system.settings, *system.workload))
    for one in shown:
        told = dict(zip(bare, one.values, strict=True))
        unused = relevance.unused(system, infos, {**base, **told})
        one.values = [None if name in unused else value for name, value in told.items()]


@dataclass(frozen=True)
class Verdict:
    """Threshold results of an experiment."""

    passed: int
    broken: int
    left: int
    """Runs not evaluated: unfinished or failed."""

    @property
    def word(self) -> str:
        """ "broken" if one run broke a threshold, "passed" once all passed, otherwise "open"."""
        return "broken" if self.broken else "open" if self.left or not self.passed else "passed"


def verdict(experiment: Experiment) -> Verdict | None:
    """``None`` without thresholds."""
    return verdicts([experiment]).get(experiment.pk)


def verdicts(experiments: Iterable[Experiment]) -> dict[str, Verdict]:
    """By experiment id, for experiments with thresholds, in one query."""
    judging = [experiment.pk for experiment in experiments if experiment.definition.get("thresholds")]
    if not judging:
        return {}
    by_outcome = {experiment: dict.fromkeys((True, False, None), 0) for experiment in judging}
    rows = Run.objects.unchanged().filter(experiment__in=judging).order_by().values_list("experiment", "passed")
    for experiment, passed, count in rows.annotate(Count("pk")):
        by_outcome[experiment][passed] = count
    return {name: Verdict(passed=by[True], broken=by[False], left=by[None]) for name, by in by_outcome.items()}
