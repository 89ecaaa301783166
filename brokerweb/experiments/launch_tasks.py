"""Queues tasks that launch and stop live runs at once. The reconciler does the same from the rows if a task is lost."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.utils import timezone

from brokerweb.experiments import states
from brokerweb.experiments.models import Run, RunState
from brokerweb.kit.outbox import post
from overlay.core.engines import LIVE


def now_if_asked() -> datetime | None:
    """Value of ``asked_at`` for a run whose launch task is about to be queued; ``None`` without a queue."""
    return timezone.now() if settings.REDIS_URL else None


def launch_next() -> None:
    """Queue the launch of the next live run, if it is due."""
    if not settings.REDIS_URL or Run.objects.filter(engine=LIVE, state__in=states.ACTIVE).exists():
        return
    queued = Run.objects.filter(engine=LIVE, state=RunState.QUEUED)
    run = queued.order_by("created", "position", "pk").values_list("pk", flat=True).first()
    if run is not None:
        queued.filter(pk=run).update(asked_at=timezone.now())
        post("runs.launch_run", run)


def stop(run: Run) -> None:
    """Queue the stop of an active run whose cancellation was requested."""
    if settings.REDIS_URL and run.host:
        post("runs.stop_run", run.pk, queue=f"host.{run.host}")
