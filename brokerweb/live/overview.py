"""Data of the home page: active and queued runs, results, failures and schedules, in a constant number of queries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils import timezone

from brokerweb.comparison.selection import Figures, columns_of, figures, without_repeats
from brokerweb.comparison.services import values
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.experiments.queue_position import Queue
from brokerweb.experiments.states import ACTIVE, UNFINISHED
from brokerweb.kit.disk import disk
from brokerweb.networks.models import DOWN, Network
from brokerweb.networks.services import worker_missing
from brokerweb.reports import schedules
from brokerweb.reports.models import BEING_MADE, Report, ReportState, Schedule
from telemetry.measures import Measure
from telemetry.reports.grouping import Estimate, Value, estimate
from telemetry.systems.registry import measures, sweep_figures

LATELY = 6
FAILED_READ = 200
"""Number of failed runs grouped by reason."""
ACTIVE_SHOWN = 5
"""Maximum number of active runs shown; the rest is counted."""
UNREAD = ("observed", "note", "experiment__definition")
ARMS = 6
_DIGITS = re.compile(r"\d+(?:\.\d+)*(?::\d+)?")


@dataclass(frozen=True, slots=True)
class Failure:
    """Runs that failed with the same reason."""

    reason: str
    """Reason of the latest one."""
    newest: Run
    count: int


def grouped(failed: Iterable[Run], most: int = LATELY) -> list[Failure]:
    """Reasons of failed runs, newest first; reasons that differ only in numbers are grouped."""
    found: dict[str, Failure] = {}
    for run in failed:
        reason = run.reason or "No reason given."
        key = _DIGITS.sub("#", reason)
        known = found.get(key)
        found[key] = Failure(known.reason, known.newest, known.count + 1) if known else Failure(reason, run, 1)
    return list(found.values())[:most]


def now() -> dict[str, Any]:
    """The live part of the page, polled every few seconds."""
    runs = Run.objects.select_related("experiment").defer(*UNREAD)
    reports = Report.objects.defer("result")
    queue = Queue()
    under_way = runs.filter(state__in=ACTIVE).order_by("launched_at")
    active = list(under_way[:ACTIVE_SHOWN])
    for run in active:
        run.queue_position = queue.position(run)  # type: ignore[attr-defined]
    failed = runs.filter(state=RunState.FAILED).order_by("-ended_at").defer("configuration", "summary", *UNREAD)
    waiting = queue.queued
    return {
        "active": active,
        "active_more": max(0, len(queue.active) - len(active)),
        "queued": len(waiting),
        "next_run": queue.position(waiting[0]) if waiting else None,
        "queue_ends_s": queue.queue_ends_s,
        "queue_held": queue.held if waiting else "",
        "networks": Network.objects.exclude(state__in=DOWN)[:LATELY],
        "reports": reports.filter(state__in=BEING_MADE)[:LATELY],
        "finished": runs.filter(state=RunState.DONE).order_by("-ended_at").prefetch_related("tags")[:LATELY],
        "failures": grouped(failed[:FAILED_READ]),
        "newest_reports": reports.filter(state=ReportState.DONE).prefetch_related("experiments")[:3],
        "coming": coming(timezone.now()),
        "worker_missing": worker_missing(),
        "disk": disk(),
    }


def coming(now: datetime, count: int = 3) -> list[tuple[datetime, Schedule]]:
    """The next times of all schedules."""
    times = [(moment, one) for one in schedules.with_hours() for moment in schedules.next_times(one, now, 1)]
    return sorted(times, key=lambda pair: pair[0])[:count]


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure as shown."""

    text: str
    spread: str
    """95 % interval; empty if there is none."""
    n: int
    """Number of replicates."""
    is_best: bool


@dataclass(frozen=True, slots=True)
class Matrix:
    """The latest finished sweep: figures by topology."""

    experiment: str
    """Its id."""
    name: str
    heads: list[tuple[str, str]]
    """Name and kind of each topology."""
    rows: list[tuple[Measure, list[Cell]]]
    left_out: int
    """Number of topologies not shown."""


def matrix() -> Matrix | None:
    """Mean of each measure by topology, for the latest finished sweep of several topologies, computed like a
    comparison. Without what-if runs.
    """
    runs = Run.objects.unchanged().filter(experiment=OuterRef("pk"))
    done = Run.objects.unchanged().filter(state=RunState.DONE)
    ended = done.filter(experiment=OuterRef("pk")).order_by("-ended_at").values("ended_at")[:1]
    several = Experiment.objects.filter(
        Q(definition__topology__1__isnull=False) | Q(definition__blocks__1__isnull=False)
    )
    finished = several.exclude(Exists(runs.filter(state__in=UNFINISHED))).annotate(ended=Subquery(ended))
    newest = finished.exclude(ended=None).order_by("-ended").first()
    if newest is None:
        return None
    names = sweep_figures(newest.definition["system"])
    of_it = done.filter(experiment=newest).order_by("topology_kind", "topology_name", "created", "position")
    told = ("topology_name", "topology_kind")
    rows = list(of_it.values_list(*told, *columns_of(names)))
    topologies = {run: (name, kind) for name, kind, run, *_ in rows}
    measured = [figures(row[len(told) :], names) for row in rows]
    arms: dict[tuple[str, str], list[Figures]] = {}
    for one in without_repeats(measured):
        arms.setdefault(topologies[one.run], []).append(one)
    if len(arms) < 2:
        return None
    heads = list(arms)[:ARMS]
    found = [_row(measures()[name], [values(arms[head], at) for head in heads]) for at, name in enumerate(names)]
    return Matrix(newest.pk, newest.name, heads, found, len(arms) - len(heads))


def _row(measure: Measure, arms: Iterable[list[Value]]) -> tuple[Measure, list[Cell]]:
    found = [estimate(values, measure) for values in arms]
    known = [one.value for one in found if one.value is not None]
    best = (max if measure.better == "higher" else min)(known, default=None) if measure.better else None
    return measure, [_cell(one, measure, is_best=one.value is not None and one.value == best) for one in found]


def _cell(one: Estimate, measure: Measure, *, is_best: bool) -> Cell:
    spread = "" if one.low is None or one.high is None else f"{measure.text(one.low)} to {measure.text(one.high)}"
    return Cell(measure.text(one.value), spread, one.n, is_best)
