"""Has live runs launched and stopped by tasks, at once; what becomes of no task, the reconciler finds in the rows."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.utils import timezone

from brokerweb.experiments import states
from brokerweb.experiments.models import Run, RunState
from brokerweb.kit.outbox import post
from overlay.core.engines import LIVE


def now_if_asked() -> datetime | None:
    """For ``asked_at`` of a run that a task is about to be asked to launch; without a queue nobody is asked."""
    return timezone.now() if settings.REDIS_URL else None


def launch_next() -> None:
    """Asks for the launch of the next live run, if its turn has come."""
    if not settings.REDIS_URL or Run.objects.filter(engine=LIVE, state__in=states.ACTIVE).exists():
        return
    queued = Run.objects.filter(engine=LIVE, state=RunState.QUEUED)
    run = queued.order_by("created", "position", "pk").values_list("pk", flat=True).first()
    if run is not None:
        queued.filter(pk=run).update(asked_at=timezone.now())
        post("runs.launch_run", run)


def stop(run: Run) -> None:
    """Asks that a run on brokers whose cancel was requested be stopped."""
    if settings.REDIS_URL and run.host:
        post("runs.stop_run", run.pk, queue=f"host.{run.host}")
