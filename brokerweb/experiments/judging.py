"""Thresholds evaluated for chosen runs; nothing is stored. For pipelines, whose conditions are their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F

from brokerweb.experiments import evaluation
from brokerweb.experiments.models import Experiment, Run, RunState
from overlay.core.errors import InvalidSetting, shown
from telemetry import thresholds
from telemetry.systems.registry import measures_of
from telemetry.thresholds import Judged, Threshold

MOST_RUNS = 5_000
"""Of one request; the most that one launch creates."""


class Measured(Judged):
    """The result of a threshold, with the unit of its value."""

    unit: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The thresholds of one run. ``passed`` is ``None`` while it is not done, and without thresholds."""

    run: str
    state: str
    passed: bool | None = None
    thresholds: Sequence[Measured] = field(default=())


def judge(experiment: Experiment, texts: Any, runs: Sequence[str] | None) -> list[Verdict]:
    """The verdicts on ``runs``, in that order; by default on all runs of the experiment.

    Runs may belong to other experiments of its system: those that stand for runs that a launch skipped do. Raises
    ``InvalidSetting`` for a threshold that cannot be read, and for a run that does not exist.
    """
    system = experiment.definition["system"]
    demanded = thresholds.read_all(evaluation.read(texts, system), measures_of(system))
    if runs is None:
        runs = list(experiment.runs.order_by("position", "pk").values_list("pk", flat=True)[:MOST_RUNS])
    found = _runs(runs, system)
    for index, run in enumerate(runs):
        if run not in found:
            raise InvalidSetting(f"runs.{index}", f"there is no run of {system} with the id {shown(run, 40)}")
    return [_verdict(found[run], demanded) for run in runs]


def _runs(ids: Sequence[str], system: str) -> dict[str, Any]:
    rows = Run.objects.order_by().annotate(bounds=F("summary__bounds")).filter(system=system)
    return rows.only("pk", "state", "figures").in_bulk(list(dict.fromkeys(ids)))


def _verdict(run: Run, demanded: Sequence[Threshold]) -> Verdict:
    if run.state != RunState.DONE:
        return Verdict(run.pk, run.state)
    found = thresholds.judge_figures(demanded, run.figures, run.bounds)  # type: ignore[attr-defined]
    measured = [Measured(**one, unit=of.measure.unit) for one, of in zip(found, demanded, strict=True)]
    return Verdict(run.pk, run.state, thresholds.passed(found), measured)
