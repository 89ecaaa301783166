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

from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.kit.ids import in_chunks
from brokerweb.kit.tables import Table
from overlay.core.engines import SIMULATED
from overlay.core.settings import ENGINE
from overlay.experiment.sweeps import axes
from overlay.systems import relevance
from overlay.systems.registry import SYSTEMS
from telemetry.measures import COMMON
from telemetry.statistics.intervals import interval

SHOWN = 25
FIGURES = ("p50", "p95", "answer_ratio", "requests")
"""Columns of each run; ``requests`` only if above 0, as the base of a share."""
NATURAL = "configuration"
"""Default order: by varied values, numbers by size, words alphabetically."""
SORTS = (NATURAL, "p50", "-p50", "p95", "-p95", "n", "-n")
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
    figures: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in FIGURES})
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
            (value is None, not is_number, value if is_number else 0, str(value).lower())
            for value, is_number in zip(self.values, numbers, strict=True)
        )

    @property
    def n(self) -> int:
        """Number of runs with data."""
        return max(map(len, self.figures.values()))

    @property
    def p50(self) -> dict[str, Any]:
        return self._estimate("p50")

    @property
    def p95(self) -> dict[str, Any]:
        return self._estimate("p95")

    @property
    def answer_ratio(self) -> dict[str, Any]:
        return self._estimate("answer_ratio")

    def _estimate(self, name: str) -> dict[str, Any]:
        """See ``telemetry.reports.grouping.estimate``."""
        measure, requests = COMMON[name], self.figures["requests"] if name == "answer_ratio" else None
        return interval(self.figures[name], measure.scale, requests=requests, most=measure.most)

    @property
    def verdict(self) -> str:
        """ "passed" if all evaluated runs passed, "broken" if one did not; empty if none was evaluated."""
        return ("passed" if all(self.passed) else "broken") if self.passed else ""

    def key(self, sort: str) -> tuple[bool, float]:
        """Sort key for one of ``SORTS``; missing values last in both orders."""
        name, sign = sort.removeprefix("-"), -1 if sort.startswith("-") else 1
        if name == "n":
            return False, sign * self.n
        values = self.figures[name]
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
    sort = sort_of(asked)
    if sort != NATURAL:  # sorting by figures needs all of them
        _read_figures(experiment, found)
    shown = Paginator(_sorted(found, sort), SHOWN).get_page(asked.get("configurations"))
    if sort == NATURAL:
        _read_figures(experiment, list(shown.object_list))
    _forget_unused(experiment, shown)
    return shown


def sort_of(asked: QueryDict | Mapping[str, str]) -> str:
    """One of ``SORTS``: the requested order or the default."""
    sort = str(asked.get("sort", ""))
    return sort if sort in SORTS else NATURAL


def table(experiment: Experiment, sort: str = "") -> Table:
    """All configurations with varied values, figures in µs with 95 % intervals, and run counts."""
    found = known(experiment).configurations
    _read_figures(experiment, found)
    found = _sorted(found, sort or "p50")
    _forget_unused(experiment, found)
    varies = [name.rpartition(".")[2] for name in axes_of(experiment)]
    intervals = [f"{name}{end}" for name in ("p50_us", "p95_us", "answer_ratio") for end in ("", "_low", "_high")]
    rows = [
        [
            one.hash,
            experiment.definition["engine"],
            *one.values,
            one.n,
            *(figure[end] for figure in (one.p50, one.p95, one.answer_ratio) for end in ("value", "low", "high")),
            one.runs,
            one.failed,
            one.verdict or None,
        ]
        for one in found
    ]
    return Table(["configuration", "engine", *varies, "n", *intervals, "runs", "failed", "thresholds"], rows)


def _sorted(found: list[Configuration], sort: str) -> list[Configuration]:
    """Sorted by one of ``SORTS``."""
    return found if sort == NATURAL else sorted(found, key=lambda one: one.key(sort))


def _read_figures(experiment: Experiment, found: Sequence[Configuration]) -> None:
    """Read the figures of the runs of ``found``. A rerun of a simulated run is not another replicate."""
    by_name = {one.hash: one for one in found}
    cells: dict[str, Cell] = {}
    seen: set[tuple[str, str]] = set()
    columns = ("pk", "configuration_hash", "state", "seed", "engine", "passed", "replicate", "verdict")
    for names in in_chunks(list(by_name)):
        launched = experiment.runs.unchanged().filter(configuration_hash__in=names).order_by("position")
        rows = launched.values_list(*columns, *(f"figures__{name}" for name in FIGURES))
        for pk, name, state, seed, engine, passed, replicate, verdict, *figures in rows:
            one = by_name[name]
            cells[pk] = Cell(pk, replicate, state, verdict, passed)
            one.runs += 1
            one.failed += state == RunState.FAILED
            if state != RunState.DONE or (engine == SIMULATED and (name, seed) in seen):
                continue
            seen.add((name, seed))
            for figure, value in zip(FIGURES, figures, strict=True):
                if value is not None and (value or figure != "requests"):
                    one.figures[figure].append(value)
            if passed is not None:
                one.passed.append(passed)
    for one in found:
        one.cells = [cells[run] for run in one.ids if run in cells]  # a run may have been deleted meanwhile


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
