"""Figures, verdict and threshold results of a collected run, written to its row.

Thresholds belong to the experiment, not to a configuration, and may change at any time: finished runs are then
evaluated again from their summaries.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from brokerweb.changelog.recording import recorded
from brokerweb.experiments import logged as declared  # noqa: F401 (what is compared)
from brokerweb.experiments.models import Experiment, Run, RunEvent, RunQuerySet, RunState
from brokerweb.kit import etags
from brokerweb.kit.ids import in_chunks
from overlay.core.errors import InvalidSetting
from overlay.experiment.definition import check_thresholds
from overlay.systems.registry import SYSTEMS
from telemetry import thresholds
from telemetry.filters.values import EXAMPLES as LIMITS
from telemetry.measures import Measure, figures_in
from telemetry.systems.registry import first_figure, measures, measures_of
from telemetry.thresholds import Threshold

log = logging.getLogger(__name__)

EVENT = "judged again"


def examples(system: str) -> list[str]:
    """Conditions that runs of a system can meet."""
    first = measures()[first_figure([system])]
    limit = f"{first.name} {'>' if first.better == 'higher' else '<'} {LIMITS.get(first.unit, '10')}"
    missed = "lost" if "lost" in measures_of(system) else "not_found"
    return [limit, f"{missed} = 0", "answer_ratio >= 99%"] if SYSTEMS[system].asking_roles else [limit]


def measured(run: Run, summary: Mapping[str, Any], *, is_done: bool) -> dict[str, Any]:
    """Fields of ``run``'s row. Thresholds are evaluated for runs in state done only.

    Call it in the transaction that writes them, so that the thresholds cannot change in between.
    """
    return {
        "summary": dict(summary),
        "figures": figures_in(summary, _measures_of(run)),
        "verdict": summary.get("verdict", ""),
        "verdict_reasons": summary.get("verdict_reasons", []),
        **(judged(run, summary) if is_done else {}),
    }


def figures_of(run: Run) -> dict[str, float]:
    """Values of its measures by key, from its summary."""
    return figures_in(run.summary, _measures_of(run))


def _measures_of(run: Run) -> Collection[Measure]:
    return measures_of(run.configuration["system"]).values()


def judged(run: Run, summary: Mapping[str, Any]) -> dict[str, Any]:
    """The experiment's current thresholds, evaluated with the run's summary."""
    try:
        demanded = thresholds.read_all(demands(_locked(run.experiment_id)), measures_of(run.configuration["system"]))
    except InvalidSetting:  # they were valid when stored: a figure no longer exists
        log.exception("run %s: invalid thresholds", run.pk)
        return {}
    found = thresholds.judge(demanded, summary)
    return {"thresholds": found, "passed": thresholds.passed(found)}


def _system(experiment: Experiment) -> str:
    return str(experiment.definition["system"])


def demands(experiment: Experiment) -> list[str]:
    """The thresholds as text."""
    return list(experiment.definition.get("thresholds") or [])


def stored(experiment: Experiment) -> dict[str, Any]:
    """The current values of its mutable part."""
    return {"thresholds": demands(experiment)}


def read(texts: Any, system: str) -> list[str]:
    """Normalised thresholds. Raises ``InvalidSetting`` that names the invalid one."""
    check_thresholds(texts)
    found = [text.strip() for text in texts]
    thresholds.read_all(
        found, measures_of(system)
    )  # before removing duplicates: an invalid one is named by its position
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Outcome:
    """Threshold results of an experiment's finished runs."""

    kept: int = 0
    broken: int = 0
    changed: int = 0
    """Number of runs whose row changed."""

    @property
    def runs(self) -> int:
        return self.kept + self.broken


def demand(experiment: Experiment, texts: Any, by: User | None = None, seen: str = "") -> Outcome:
    """Set the thresholds of ``experiment`` and evaluate its finished runs again.

    Runs are evaluated in chunks, one transaction each; after an interruption, the same call continues. Raises
    ``InvalidSetting``, and ``Outdated`` if the stored thresholds differ from ``seen``.
    """
    wanted = read(texts, _system(experiment))
    with transaction.atomic():
        row = _locked(experiment.pk)
        etags.check(seen, stored(row))
        if (before := demands(row)) != wanted:
            with recorded("set thresholds", row, by):
                row.definition["thresholds"] = wanted
                row.save(update_fields=["definition"])
            _write_down(row, before, by)
    experiment.definition = row.definition
    change = f"{by.get_username() if by else 'A command'} set the thresholds {_said(wanted)}"
    return _judge_again(row, wanted, change if before == wanted else f"{change}; previously {_said(before)}")


def tried(experiment: Experiment, texts: Any) -> Outcome:
    """Preview of ``demand``; nothing is changed. Raises ``InvalidSetting``."""
    system = _system(experiment)
    demanded = thresholds.read_all(read(texts, system), measures_of(system))
    done = _read().unchanged().filter(experiment=experiment, state=RunState.DONE)
    passed = [thresholds.passed(_found(run, demanded)) for run in done.iterator()]
    return Outcome(kept=passed.count(True), broken=passed.count(False))


def _said(texts: Sequence[str]) -> str:
    return ", ".join(texts) or "none"


def _locked(experiment_id: str) -> Experiment:
    """The experiment, locked until the transaction ends."""
    return Experiment.objects.select_for_update().only("definition").get(pk=experiment_id)


def _write_down(experiment: Experiment, before: Sequence[str], by: User | None) -> None:
    """Log the change in the experiment's history, which the admin shows."""
    words = f"Thresholds: {_said(demands(experiment))}; previously: {_said(before)}."
    log.info("experiment %s, %s: %s", experiment.pk, by.get_username() if by else "a command", words)
    if by is not None:
        LogEntry.objects.log_actions(by.pk, [experiment], CHANGE, words, single_object=True)


def last_change(experiment: Experiment) -> LogEntry | None:
    """The last change of its thresholds after creation, if any."""
    entries = LogEntry.objects.filter(content_type__app_label="experiments", content_type__model="experiment")
    entries = entries.filter(object_id=experiment.pk, change_message__startswith="Thresholds: ")
    return entries.select_related("user").order_by("-action_time", "-pk").first()


def _read() -> RunQuerySet:
    """Runs with only the data needed to evaluate them."""
    runs = Run.objects.order_by().annotate(bounds=F("summary__bounds"))
    return runs.only("pk", "thresholds", "passed", "change", "figures", "system")


def _found(run: Run, demanded: Sequence[Threshold]) -> list[thresholds.Judged]:
    return thresholds.judge_figures(demanded, run.figures, run.bounds)  # type: ignore[attr-defined]


def _judge_again(experiment: Experiment, wanted: Sequence[str], change: str) -> Outcome:
    ids = list(experiment.runs.filter(state=RunState.DONE).order_by("pk").values_list("pk", flat=True))
    demanded, chunks = thresholds.read_all(wanted, measures_of(_system(experiment))), []
    for chunk in in_chunks(ids):
        with transaction.atomic():
            if demands(_locked(experiment.pk)) != list(wanted):
                break  # the thresholds changed again; that change evaluates the runs
            chunks.append(_judge(chunk, demanded, change))
    return Outcome(*(sum(getattr(one, name) for one in chunks) for name in ("kept", "broken", "changed")))


def _judge(ids: Sequence[str], demanded: Sequence[Threshold], change: str) -> Outcome:
    """Evaluate finished runs; changed results are written to rows and histories."""
    runs = list(_read().filter(pk__in=ids))
    changed = []
    for run in runs:
        found: Any = _found(run, demanded)
        known = [{"why": "", **one} for one in run.thresholds]  # results of earlier versions have no reason
        if known != found or run.passed != thresholds.passed(found):
            run.thresholds, run.passed = found, thresholds.passed(found)
            changed.append(run)
    Run.objects.bulk_update(changed, ["thresholds", "passed"], batch_size=100)
    now = timezone.now()
    RunEvent.objects.bulk_create(RunEvent(run=run, at=now, name=EVENT, detail=_detail(run, change)) for run in changed)
    passed = [run.passed for run in runs if not run.change]
    return Outcome(passed.count(True), passed.count(False), len(changed))


def _detail(run: Run, change: str) -> str:
    if run.passed is None:
        return f"{change}."
    broke = thresholds.broken(run.thresholds, measures_of(run.system))
    return f"{change}. " + (f"Thresholds broken: {broke}." if broke else "All thresholds passed.")
