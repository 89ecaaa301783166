"""Summarises a run's journals: queued by the reconciler, done by a task in the same process."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F

from brokerweb.experiments import launch_tasks, states
from brokerweb.experiments.evaluation import measured
from brokerweb.experiments.models import Run, RunState
from brokerweb.kit import outbox
from overlay.core.errors import describe_os_error
from telemetry.collect import collect as collect_files
from telemetry.errors import TelemetryError
from telemetry.lake.runs import Lake, RunFiles

log = logging.getLogger(__name__)

COLLECT = "brokerweb.experiments.tasks.collect"
ASK_AGAIN = timedelta(seconds=5)
MAX_ATTEMPTS = 3
_at_work: set[str] = set()
"""Runs being collected by a task of this process. The worker's pool uses threads, so the reconciler sees it."""


def ask(run: Run) -> None:
    """Queue the collection unless it is running; a lost task is queued again."""
    if run.id in _at_work:
        return
    if run.collect_attempts >= MAX_ATTEMPTS:
        states.move(
            run, RunState.FAILED, f"Collecting its journals was started {MAX_ATTEMPTS} times and never finished."
        )
        return
    row = Run.objects.filter(pk=run.pk)
    outbox.ask(row, run.asked_at, COLLECT, run.id, again=ASK_AGAIN, queue=f"host.{run.host}")


def collect_run(run_id: str) -> None:
    """Collect a run and end it. Idempotent."""
    run = Run.objects.filter(pk=run_id, state=RunState.COLLECTING).first()
    if run is None or run_id in _at_work:
        return
    _at_work.add(run_id)
    try:
        Run.objects.filter(pk=run_id).update(collect_attempts=F("collect_attempts") + 1)
        _end(run_id, *_summarised(run_id))
        launch_tasks.launch_next()
    finally:
        _at_work.discard(run_id)


def _summarised(run_id: str) -> tuple[dict, str]:
    """The summary, and the error if it failed."""
    try:
        return collect_files(RunFiles(settings.RUNS / run_id), Lake(settings.LAKE)), ""
    except TelemetryError as error:
        return {}, str(error)
    except OSError as error:
        return {}, describe_os_error(error)
    except Exception:
        log.exception("collecting run %s failed", run_id)
        return {}, "Its journals could not be summarised. See the worker's log."


@transaction.atomic  # thresholds must not change until the row has the verdict
def _end(run_id: str, summary: dict, problem: str) -> None:
    run = Run.objects.filter(pk=run_id, state=RunState.COLLECTING).first()
    if run is None:
        return
    to, why = run.stopped or (RunState.FAILED if problem else RunState.DONE), run.reason
    if run.cancel_requested and not run.stopped:  # after a complete measurement, or in the state it was in
        to, why = RunState.CANCELLED, states.KEPT
    reason = " ".join(filter(None, (why, problem)))
    states.move(run, to, reason, **measured(run, summary, is_done=to == RunState.DONE))
