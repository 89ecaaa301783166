"""What an experiment has come to, configuration by configuration: replicates, figures with intervals, thresholds.

Read from the columns beside the runs' documents; of those only what one page shows is looked into.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count
from django.http import QueryDict

from brokerweb.definitions import relevance
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.ids import in_chunks
from brokerweb.tables import Table
from overlay.engines import SIMULATED
from overlay.experiment.sweeps import axes
from overlay.systems import SYSTEMS
from telemetry.intervals import interval

SHOWN = 25
FIGURES = ("p50", "p95")
SORTS = ("p50", "-p50", "p95", "-p95", "n", "-n")


@dataclass
class Configuration:
    """One of them, with all its runs."""

    hash: str
    run: str
    """The id of one of its runs, for what they all share."""
    runs: int = 0
    failed: int = 0
    figures: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in FIGURES})
    passed: list[bool] = field(default_factory=list)
    """Of the runs that were held against thresholds, whether each kept all of them."""
    values: list[Any] = field(default_factory=list)
    """What varies, in the order of the experiment's axes."""

    @property
    def n(self) -> int:
        return len(self.figures["p50"])

    @property
    def p50(self) -> dict[str, Any]:
        return interval(self.figures["p50"])

    @property
    def p95(self) -> dict[str, Any]:
        return interval(self.figures["p95"])

    @property
    def verdict(self) -> str:
        """ "passed" where every run judged kept its thresholds, "broken" where one did not; empty where none was."""
        return ("passed" if all(self.passed) else "broken") if self.passed else ""

    def key(self, sort: str) -> tuple[bool, float]:
        """To sort by one of ``SORTS``; what was not measured comes last, upwards and downwards."""
        name, sign = sort.removeprefix("-"), -1 if sort.startswith("-") else 1
        if name == "n":
            return False, sign * self.n
        values = self.figures[name]
        return not values, sign * sum(values) / len(values) if values else 0.0


def axes_of(experiment: Experiment) -> list[str]:
    """What varies between its configurations."""
    return list(axes(experiment.definition))


def page(experiment: Experiment, asked: QueryDict | Mapping[str, str]) -> Page[Configuration]:
    """The configurations that ``?sort=`` and ``?configurations=`` (a page's number) ask for."""
    shown = Paginator(_ordered(experiment, str(asked.get("sort", ""))), SHOWN).get_page(asked.get("configurations"))
    _tell_values(experiment, list(shown))
    return shown


def table(experiment: Experiment, sort: str = "") -> Table:
    """All of them with what varies, their figures in µs with the 95 % interval, and how many runs they had."""
    found = _ordered(experiment, sort)
    _tell_values(experiment, found)
    varies = [name.rpartition(".")[2] for name in axes_of(experiment)]
    intervals = [f"{name}_us{end}" for name in FIGURES for end in ("", "_low", "_high")]
    rows = [
        [
            one.hash,
            experiment.definition["engine"],
            *one.values,
            one.n,
            *(figure[end] for figure in (one.p50, one.p95) for end in ("value", "low", "high")),
            one.runs,
            one.failed,
            one.verdict or None,
        ]
        for one in found
    ]
    return Table(["configuration", "engine", *varies, "n", *intervals, "runs", "failed", "thresholds"], rows)


def _ordered(experiment: Experiment, sort: str) -> list[Configuration]:
    """Sorted as ``SORTS`` has it, by their medians where ``sort`` is none of them."""
    by = sort if sort in SORTS else "p50"
    return sorted(_grouped(experiment), key=lambda one: one.key(by))


def _grouped(experiment: Experiment) -> list[Configuration]:
    """All of them, but those of a "what if". A simulated run that was run again with its seed is no other replicate."""
    launched = experiment.runs.filter(compared_with=None).order_by("position")
    found: dict[str, Configuration] = {}
    seen: set[tuple[str, str]] = set()
    columns = ("pk", "configuration_hash", "state", "seed", "engine", "passed", *(f"figure_{name}" for name in FIGURES))
    for pk, name, state, seed, engine, passed, *figures in launched.values_list(*columns):
        one = found.setdefault(name, Configuration(name, pk))
        one.runs += 1
        one.failed += state == RunState.FAILED
        if state != RunState.DONE or (engine == SIMULATED and (name, seed) in seen):
            continue
        seen.add((name, seed))
        for figure, value in zip(FIGURES, figures, strict=True):
            if value is not None:
                one.figures[figure].append(value)
        if passed is not None:
            one.passed.append(passed)
    return list(found.values())


def _tell_values(experiment: Experiment, shown: list[Configuration]) -> None:
    """Reads from one run of each what varies; of a setting that its others do not use, nothing."""
    names = axes_of(experiment)
    if not names or not shown:
        return
    paths = ["topology_name" if name == "topology" else f"configuration__{name.replace('.', '__')}" for name in names]
    by_run: dict[str, list[Any]] = {}
    for some in in_chunks([one.run for one in shown]):
        rows = Run.objects.filter(pk__in=some).order_by().values_list("pk", *paths)
        by_run |= {pk: list(values) for pk, *values in rows}
    definition, system = experiment.definition, SYSTEMS[experiment.definition["system"]]
    base = {relevance.ENGINE: definition["engine"], **definition["settings"], **definition["workload"]}
    bare = [name.rpartition(".")[2] for name in names]
    for one in shown:
        told = dict(zip(bare, by_run[one.run], strict=True))
        unused = relevance.unused((*system.settings, *system.workload), {**base, **told})
        one.values = [None if name in unused else value for name, value in told.items()]


@dataclass(frozen=True)
class Verdict:
    """What came of an experiment's thresholds."""

    passed: int
    broken: int
    left: int
    """Runs that have not been judged: they have not ended, or ended badly."""

    @property
    def word(self) -> str:
        """ "broken" as soon as one run broke a threshold, "passed" once all kept them; "open" till then."""
        return "broken" if self.broken else "open" if self.left or not self.passed else "passed"


def verdict(experiment: Experiment) -> Verdict | None:
    """``None`` where it has no thresholds."""
    return verdicts([experiment]).get(experiment.pk)


def verdicts(experiments: Iterable[Experiment]) -> dict[str, Verdict]:
    """By experiment's id, of those that have thresholds, in one query."""
    judging = [experiment.pk for experiment in experiments if experiment.definition.get("thresholds")]
    by_outcome = {experiment: dict.fromkeys((True, False, None), 0) for experiment in judging}
    rows = Run.objects.filter(experiment__in=judging).order_by().values_list("experiment", "passed")
    for experiment, passed, count in rows.annotate(Count("pk")):
        by_outcome[experiment][passed] = count
    return {name: Verdict(passed=by[True], broken=by[False], left=by[None]) for name, by in by_outcome.items()}
