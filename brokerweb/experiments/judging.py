"""What a collected run's row says of what was measured: figures, verdict, and whether its thresholds held.

Thresholds are their experiment's and no part of a configuration, so they may change at any time: runs that are done are
judged again then, by the figures of their summaries.
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

from brokerweb.experiments.models import Experiment, Run, RunEvent, RunQuerySet, RunState
from brokerweb.kit import stale
from brokerweb.kit.ids import in_chunks
from overlay.core.errors import InvalidSetting
from overlay.experiment.definition import check_thresholds
from telemetry import thresholds
from telemetry.measures import Measure, figures_in
from telemetry.systems.registry import measures_of
from telemetry.thresholds import Threshold

log = logging.getLogger(__name__)

EVENT = "judged again"


def measured(run: Run, summary: Mapping[str, Any], *, is_done: bool) -> dict[str, Any]:
    """The fields of ``run``'s row. Only a run that is done keeps or breaks a threshold: half of one proves nothing.

    To be called in the transaction that writes them, so that no other thresholds are demanded in between.
    """
    return {
        "summary": dict(summary),
        "figures": figures_in(summary, _measures_of(run)),
        "verdict": summary.get("verdict", ""),
        "verdict_reasons": summary.get("verdict_reasons", []),
        **(judged(run, summary) if is_done else {}),
    }


def figures_of(run: Run) -> dict[str, float]:
    """Its measures' values by key, as its summary has them."""
    return figures_in(run.summary, _measures_of(run))


def _measures_of(run: Run) -> Collection[Measure]:
    return measures_of(run.configuration["system"]).values()


def judged(run: Run, summary: Mapping[str, Any]) -> dict[str, Any]:
    """What its experiment demands now, held against its summary."""
    try:
        demanded = thresholds.read_all(demands(_locked(run.experiment_id)), measures_of(run.configuration["system"]))
    except InvalidSetting:  # they were read when it was made: a figure has gone since
        log.exception("run %s: its thresholds cannot be read", run.pk)
        return {}
    found = thresholds.judge(demanded, summary)
    return {"thresholds": found, "passed": thresholds.passed(found)}


def _system(experiment: Experiment) -> str:
    return str(experiment.definition["system"])


def demands(experiment: Experiment) -> list[str]:
    """Its thresholds as they are written."""
    return list(experiment.definition.get("thresholds") or [])


def stored(experiment: Experiment) -> dict[str, Any]:
    """What can be changed of it, as it is."""
    return {"thresholds": demands(experiment)}


def read(texts: Any, system: str) -> list[str]:
    """Thresholds as an experiment keeps them. Raises ``InvalidSetting`` that names the one that is wrong."""
    check_thresholds(texts)
    found = [text.strip() for text in texts]
    thresholds.read_all(
        found, measures_of(system)
    )  # before what stands there twice goes: the one that is wrong is named by its place
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Outcome:
    """What thresholds come to in the runs of an experiment that are done."""

    kept: int = 0
    broken: int = 0
    changed: int = 0
    """Of how many runs the row changed."""

    @property
    def runs(self) -> int:
        return self.kept + self.broken


def demand(experiment: Experiment, texts: Any, by: User | None = None, seen: str = "") -> Outcome:
    """Has each run of ``experiment`` keep these thresholds and no others; those that are done are judged again.

    They are judged in chunks, each a transaction of its own; should that end in between, the same call goes on.
    Raises ``InvalidSetting``, and ``Outdated`` where others stand there than those ``seen``.
    """
    wanted = read(texts, _system(experiment))
    with transaction.atomic():
        row = _locked(experiment.pk)
        stale.check(seen, stored(row))
        if (before := demands(row)) != wanted:
            row.definition["thresholds"] = wanted
            row.save(update_fields=["definition"])
            _write_down(row, before, by)
    experiment.definition = row.definition
    told = f"{by.get_username() if by else 'A command'} set the thresholds {_said(wanted)}"
    return _judge_again(row, wanted, told if before == wanted else f"{told}, which were {_said(before)}")


def tried(experiment: Experiment, texts: Any) -> Outcome:
    """What ``demand`` would come to; nothing is changed. Raises ``InvalidSetting``."""
    system = _system(experiment)
    demanded = thresholds.read_all(read(texts, system), measures_of(system))
    done = _read().unchanged().filter(experiment=experiment, state=RunState.DONE)
    passed = [thresholds.passed(_found(run, demanded)) for run in done.iterator()]
    return Outcome(kept=passed.count(True), broken=passed.count(False))


def _said(texts: Sequence[str]) -> str:
    return ", ".join(texts) or "none"


def _locked(experiment_id: str) -> Experiment:
    """The experiment as it is, and stays until the transaction ends."""
    return Experiment.objects.select_for_update().only("definition").get(pk=experiment_id)


def _write_down(experiment: Experiment, before: Sequence[str], by: User | None) -> None:
    """In the history of the experiment, which the admin shows too."""
    words = f"Thresholds: {_said(demands(experiment))}; before: {_said(before)}."
    log.info("experiment %s, %s: %s", experiment.pk, by.get_username() if by else "a command", words)
    if by is not None:
        LogEntry.objects.log_actions(by.pk, [experiment], CHANGE, words, single_object=True)


def last_change(experiment: Experiment) -> LogEntry | None:
    """Who set its thresholds last, if anybody did after it was made."""
    entries = LogEntry.objects.filter(content_type__app_label="experiments", content_type__model="experiment")
    entries = entries.filter(object_id=experiment.pk, change_message__startswith="Thresholds: ")
    return entries.select_related("user").order_by("-action_time", "-pk").first()


def _read() -> RunQuerySet:
    """Runs with what it takes to judge them, and not all of their summaries."""
    runs = Run.objects.order_by().annotate(bounds=F("summary__bounds"))
    return runs.only("pk", "thresholds", "passed", "change", "figures", "system")


def _found(run: Run, demanded: Sequence[Threshold]) -> list[thresholds.Judged]:
    return thresholds.judge_figures(demanded, run.figures, run.bounds)  # type: ignore[attr-defined]


def _judge_again(experiment: Experiment, wanted: Sequence[str], told: str) -> Outcome:
    ids = list(experiment.runs.filter(state=RunState.DONE).order_by("pk").values_list("pk", flat=True))
    demanded, chunks = thresholds.read_all(wanted, measures_of(_system(experiment))), []
    for chunk in in_chunks(ids):
        with transaction.atomic():
            if demands(_locked(experiment.pk)) != list(wanted):
                break  # somebody demands something else by now, and judges by that
            chunks.append(_judge(chunk, demanded, told))
    return Outcome(*(sum(getattr(one, name) for one in chunks) for name in ("kept", "broken", "changed")))


def _judge(ids: Sequence[str], demanded: Sequence[Threshold], told: str) -> Outcome:
    """Judges runs that are done; of those of which it comes to something else, their rows and histories say so."""
    runs = list(_read().filter(pk__in=ids))
    changed = []
    for run in runs:
        found: Any = _found(run, demanded)
        known = [{"why": "", **one} for one in run.thresholds]  # those of earlier versions say no why
        if known != found or run.passed != thresholds.passed(found):
            run.thresholds, run.passed = found, thresholds.passed(found)
            changed.append(run)
    Run.objects.bulk_update(changed, ["thresholds", "passed"], batch_size=100)
    now = timezone.now()
    RunEvent.objects.bulk_create(RunEvent(run=run, at=now, name=EVENT, detail=_detail(run, told)) for run in changed)
    passed = [run.passed for run in runs if not run.change]
    return Outcome(passed.count(True), passed.count(False), len(changed))


def _detail(run: Run, told: str) -> str:
    if run.passed is None:
        return f"{told}."
    broke = thresholds.broken(run.thresholds, measures_of(run.system))
    return f"{told}. " + (f"It broke {broke}." if broke else "It kept them.")
