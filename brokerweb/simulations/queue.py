"""Selects the simulated runs of the next batch: one batch at a time, never concurrent with a live run or a report.

A batch takes some minutes, so that live runs and reports get their turn. Live and simulated runs are served in the
order of queueing.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from brokerweb.experiments import pause, states
from brokerweb.experiments.models import Run, RunState
from brokerweb.experiments.queue_position import titled
from brokerweb.kit import outbox
from brokerweb.reports import queue as reports
from overlay.core.engines import LIVE, SIMULATED
from telemetry.lake.manifest import usable_cores

BATCH_S = 600.0
"""Target duration of a batch, unless its first run takes longer. The start of Spark is 1 % of it."""
SIMULATE = "brokerweb.simulations.tasks.simulate"
ASK_AGAIN = timedelta(seconds=10)
HEAD_START = timedelta(seconds=5)
"""Time that live runs wait for a batch that was just queued."""
MAX_ATTEMPTS = 3
"""A run in this many batches whose worker died would probably kill the next one, too."""


def holds_up_runs() -> bool:
    """Whether a live run started now would overlap with a batch."""
    first = None if pause.why_held() else _first(SIMULATED)
    if first and first.asked_at and first.asked_at > timezone.now() - HEAD_START and not _live_goes_first(first):
        return True
    return Run.simulating().exists()


def waits_for() -> str:
    """The reason the next batch cannot start."""
    if held := pause.why_held():
        return held
    if report := reports.computing():
        return f"behind report {report.pk}"
    active = Run.objects.filter(engine=LIVE, state__in=states.ACTIVE).select_related("experiment").first()
    if active is None and reports.holds_up_runs():
        return "behind a report"
    if active is None and (first := _first(SIMULATED)) and _live_goes_first(first):
        active = _first(LIVE)
    return f"behind {titled(active.experiment.name, active.position, active.change)}, which is live" if active else ""


def ask_due() -> None:
    """Recover lost runs and queue the next batch."""
    take_up_lost()
    first = _first(SIMULATED)
    if first is None or Run.simulating().exists() or waits_for():
        return
    outbox.ask(Run.objects.filter(pk=first.pk), first.asked_at, SIMULATE, again=ASK_AGAIN)


def begin(owner: str) -> list[Run]:
    """Claim the runs of the next batch for ``owner``; empty if it cannot start now."""
    with transaction.atomic():  # IMMEDIATE: no other process decides between these statements
        if Run.simulating().exists() or waits_for():
            return []
        chosen: list[str] = []
        expected_s = 0.0
        for pk, estimated_s in _queued(SIMULATED).values_list("pk", "estimated_s").iterator():
            expected_s += estimated_s / usable_cores()
            if chosen and expected_s > BATCH_S:
                break
            chosen.append(pk)
        Run.objects.filter(pk__in=chosen).update(
            host=settings.HOST_NAME,
            lease_owner=owner,
            lease_epoch=F("lease_epoch") + 1,
            lease_expires=_lease_end(),
        )
    repeated = Run.objects.select_related("rerun_of").defer("rerun_of__configuration", "rerun_of__summary")
    return list(repeated.filter(pk__in=chosen).order_by("created", "position", "pk"))


def renew(owner: str, runs: Collection[str]) -> None:
    """Renew the leases of ``owner``."""
    Run.objects.filter(pk__in=runs, lease_owner=owner).update(lease_expires=_lease_end())


def give_back(run: Run, reason: str, *, has_begun: bool = True) -> None:
    """Queue an interrupted run again; ``has_begun`` is whether its batch had started any run."""
    if run.state in states.ENDED:
        return
    if run.lease_epoch >= MAX_ATTEMPTS and not (has_begun and run.state == RunState.QUEUED):
        states.move(run, RunState.FAILED, f"Given up after {MAX_ATTEMPTS} attempts. {reason}.")
        return
    free: dict[str, Any] = {"lease_owner": "", "lease_expires": None, "asked_at": None}
    if run.state == RunState.QUEUED:
        Run.objects.filter(pk=run.pk, lease_epoch=run.lease_epoch).update(**free)
    else:
        states.move(run, RunState.QUEUED, f"{reason}; it is simulated again.", progress=0.0, **free)


def take_up_lost() -> None:
    """Queue runs of dead workers again."""
    lost = Run.objects.filter(engine=SIMULATED, state__in=states.UNFINISHED, lease_expires__lt=timezone.now())
    owners = set(lost.values_list("lease_owner", flat=True))
    not_queued = Run.objects.filter(lease_owner__in=owners).exclude(state=RunState.QUEUED)
    had_begun = set(not_queued.values_list("lease_owner", flat=True))
    for run in lost:
        give_back(run, "The worker that simulated it exited", has_begun=run.lease_owner in had_begun)


def _queued(engine: str) -> QuerySet[Run]:
    return Run.objects.filter(engine=engine, state=RunState.QUEUED).order_by("created", "position", "pk")


def _first(engine: str) -> Run | None:
    return _queued(engine).defer("configuration").select_related("experiment").first()


def _live_goes_first(simulated: Run) -> bool:
    return _queued(LIVE).filter(Q(created__lt=simulated.created)).exists()


def _lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
