"""Fails runs whose lease has expired, so that none stays "measuring" for ever."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from brokerweb.experiments import states
from brokerweb.experiments.models import Run, RunState
from brokerweb.networks.services import worker_missing
from overlay.core.engines import LIVE


class Reaper:
    """Checks leases every few seconds. If several processes do, the first one ends a run.

    An expired lease proves nothing to a reaper that was not running itself: after a start of the installation or a
    resume of the machine, the worker that renews it may be a moment late. A reaper ignores an expired lease until it
    has itself been up, without a gap, for longer than a worker needs to send its heartbeat. It must also be able to
    write, because on a full disk no worker could have renewed its lease.
    """

    def __init__(self) -> None:
        self._enough = timedelta(seconds=settings.WORKER_MISSING_SECONDS)
        self._looked: datetime | None = None
        self._since: datetime | None = None

    def look(self, now: datetime) -> None:
        """Fail runs that lost their worker, once this reaper has been up long enough."""
        if self._looked is None or now - self._looked >= self._enough:
            self._since = now
        self._looked = now
        if self._since is not None and now - self._since >= self._enough:
            try:
                reap_lost()
            except DatabaseError:
                self._looked = None
                raise


def reap_lost() -> None:
    """Fail live runs with an expired lease; simulated ones are queued again (``brokerweb.simulations``)."""
    for run in Run.objects.filter(engine=LIVE, state__in=states.ACTIVE, lease_expires__lt=timezone.now()):
        sentence = worker_missing(run.host) or (
            f"Host {run.host} lost its supervisor and could not start another. See log/supervisor.log on that host."
        )
        states.move(run, RunState.FAILED, sentence)
