"""Claims, adopts, deploys and observes runs of this host. Counterpart: ``decide`` chooses the next step."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from brokerweb.control.decide import Step, run_progress, run_step
from brokerweb.control.refusals import in_words
from brokerweb.experiments import launch_tasks, pause, states
from brokerweb.experiments.models import Run, RunEvent, RunState
from brokerweb.experiments.services import seed_of
from brokerweb.experiments.standing import made_by
from brokerweb.kit.outbox import is_left_to_task
from brokerweb.reports import queue as report_queue
from brokerweb.simulations import queue as simulation_queue
from overlay.core.engines import LIVE
from overlay.core.errors import InvalidSetting
from overlay.deployment.deployment import run_document
from overlay.runtime.supervisor_client import Status, SupervisorClient, SupervisorRefused
from overlay.systems.containment import contained
from telemetry.errors import TelemetryError
from telemetry.lake.manifest import make_manifest
from telemetry.lake.runs import RunFiles


def claim(host: str, owner: str, only: str | None = None) -> Run | None:
    """Claim the next queued live run, if nothing measures, computes or simulates on this host.

    Returns None while the queue is held by a pause or low disk space. A task claims only the run that it was queued for
    (``only``); the reconciler claims any run, except one whose task was queued a moment ago.
    """
    if not Run.objects.filter(engine=LIVE, state=RunState.QUEUED).exists():
        return None
    with transaction.atomic():  # IMMEDIATE: no other process decides between these statements
        if Run.objects.filter(engine=LIVE, host=host, state__in=states.ACTIVE).exists():
            return None
        if report_queue.holds_up_runs() or simulation_queue.holds_up_runs():
            return None
        run = Run.objects.filter(engine=LIVE, state=RunState.QUEUED).order_by("created", "position", "pk").first()
        if run is None or pause.why_held():
            return None
        if is_left_to_task(run.asked_at) if only is None else run.pk != only:
            return None
        run.lease_epoch += 1
        Run.objects.filter(pk=run.pk).update(lease_epoch=run.lease_epoch)
        states.move(
            run,
            RunState.LAUNCHING,
            detail="by the reconciler" if only is None else "by the task runs.launch_run",
            host=host,
            lease_owner=owner,
            lease_expires=_lease_end(),
            launched_at=timezone.now(),
            asked_at=None,
        )
    return run


def adopt(host: str, owner: str) -> None:
    """Take over runs of an earlier worker of this host under a new epoch. Its supervisor may still be measuring."""
    for run in Run.objects.filter(engine=LIVE, host=host, state__in=states.ACTIVE).exclude(lease_owner=owner):
        adopted = Run.objects.filter(pk=run.pk, lease_epoch=run.lease_epoch, state=run.state).update(
            lease_owner=owner, lease_epoch=F("lease_epoch") + 1, lease_expires=_lease_end(), asked_at=None
        )
        if adopted:
            RunEvent.objects.create(run=run, name="adopted", detail=f"by {owner}, after {run.lease_owner}")


def renew_lease(run: Run) -> None:
    """Renew the lease of a run that is being collected, which no supervisor reports any more."""
    Run.objects.filter(pk=run.pk, lease_epoch=run.lease_epoch).update(lease_expires=_lease_end())


def _lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)


def deployment_of(run: Run) -> dict[str, Any]:
    """The deployment document of a run for the supervisor."""
    return run_document(
        run.configuration,
        run=run.id,
        seed=seed_of(run),
        directory=str(settings.RUNS / run.id),
        epoch=run.lease_epoch,
        lease_s=settings.LEASE_SECONDS,
    )


def write_manifest(run: Run) -> None:
    """Write the run's manifest: its conditions at launch. Raises ``telemetry.errors.StorageError``."""
    configuration = run.configuration
    files = RunFiles(settings.RUNS / run.id)
    files.journal_directory.mkdir(parents=True, exist_ok=True)
    files.write_manifest(
        make_manifest(
            run.id,
            seed=seed_of(run),
            **{key: configuration[key] for key in ("system", "engine", "topology", "settings", "workload")},
            now=timezone.now(),
            faults=configuration.get("faults") or [],
            replicate=run.replicate,
            configuration_hash=run.configuration_hash,
            experiment=run.experiment_id,
            record_mb=configuration.get("record_mb", 0),
            **made_by(configuration),
        )
    )


def reconcile_run(run: Run, supervisor: SupervisorClient, known: set[str]) -> None:
    """One step for one run that has brokers; ``known`` are the supervisor's deployments."""
    status: Status | None = supervisor.status(run.id) if run.id in known else None
    step = run_step(
        run.state,
        was_deployed=bool(run.observed),
        cancel_requested=run.cancel_requested,
        status=status,
        host=run.host,
    )
    try:
        status = _tell(run, step, status, supervisor)
    except (SupervisorRefused, OSError, InvalidSetting, TelemetryError) as error:
        _refused(run, error)
        return
    if status is not None:
        _observe(run, status)
    if step.to:
        _advance(run, step)


def _tell(run: Run, step: Step, status: Status | None, supervisor: SupervisorClient) -> Status | None:
    """Send a step to the supervisor; returns its latest report on the run."""
    if step.verb == "deploy":
        with contained(run.configuration["system"]):
            write_manifest(run)
            document = deployment_of(run)
        return supervisor.deploy(document)
    if step.verb == "renew":
        return supervisor.renew(run.id, run.lease_epoch)
    if step.verb == "stop":
        return supervisor.stop(run.id, run.lease_epoch, step.reason)
    return status


def _refused(run: Run, error: Exception) -> None:
    if isinstance(error, SupervisorRefused) and error.code == "busy":
        return  # its old deployment is still ending; the next round tries again
    states.move(run, RunState.FAILED, in_words(error))


def _observe(run: Run, status: Status) -> None:
    """Copy the supervisor's report and the renewed lease to the row."""
    seen: dict[str, Any] = {
        "observed": dict(status),
        "progress": run_progress(status, time.time() * 1000),
        "lease_expires": _lease_end(),
        "ends_at": _moment(status.get("ends_unix_ms")),
        "measuring_at": _moment(status.get("measuring_unix_ms")),
    }
    Run.objects.filter(pk=run.pk, lease_epoch=run.lease_epoch).update(**seen)
    for name, value in seen.items():
        setattr(run, name, value)


def _moment(unix_ms: float | None) -> datetime | None:
    return datetime.fromtimestamp(unix_ms / 1000, UTC) if unix_ms else None


def _advance(run: Run, step: Step) -> None:
    """Move the row to ``step.to``, through intermediate states that a round was too slow to observe."""
    if step.to in states.ON_BROKERS:
        order = states.ON_BROKERS
        for state in order[order.index(RunState(run.state)) + 1 : order.index(RunState(step.to)) + 1]:
            states.move(run, state)
    elif step.to == RunState.COLLECTING:
        states.move(run, step.to, step.reason, stopped=step.ends_in)
    else:
        states.move(run, step.to, step.reason)
        launch_tasks.launch_next()
