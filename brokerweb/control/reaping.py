"""Fails the runs that nobody looks after any more, so that none shows "measuring" for ever."""

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
    """One who looks at the leases every few seconds. Of several, in whatever processes, the first one ends a run.

    An expired lease says nothing to one who was away itself: after a start of the whole house, or when the machine woke
    up, everybody was, and the worker that renews it may be a moment behind. So it is believed only by a reaper that has
    looked for longer than a worker takes to be heard of, without a gap of that length; and where the reaper can write,
    since on a full disk no worker could have renewed it.
    """

    def __init__(self) -> None:
        self._enough = timedelta(seconds=settings.WORKER_MISSING_SECONDS)
        self._looked: datetime | None = None
        self._since: datetime | None = None

    def look(self, now: datetime) -> None:
        """Fails what has lost its worker, once this reaper can know."""
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
    """Fails the live runs whose lease has expired; simulated ones are queued again (``brokerweb.simulations``)."""
    for run in Run.objects.filter(engine=LIVE, state__in=states.ACTIVE, lease_expires__lt=timezone.now()):
        sentence = worker_missing(run.host) or (
            f"Host {run.host} lost its supervisor and could not start another; log/supervisor.log there says why."
        )
        states.move(run, RunState.FAILED, sentence)
