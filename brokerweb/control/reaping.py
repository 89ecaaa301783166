"""Fails runs whose lease has expired, so that none stays "measuring" for ever, and marks the networks of hosts that are
gone.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from brokerweb.experiments import states
from brokerweb.experiments.models import Run, RunState
from brokerweb.networks.models import DOWN, UP, Host, Network, NetworkState
from brokerweb.networks.services import gone, worker_missing
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
        """Fail runs that lost their worker and mark networks that did, once this reaper has been up long enough."""
        if self._looked is None or now - self._looked >= self._enough:
            self._since = now
        self._looked = now
        if self._since is not None and now - self._since >= self._enough:
            try:
                reap_lost()
                mark_networks()
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


def mark_networks() -> None:
    """Networks of a host without a worker are degraded, with the reason, until it is back and writes what it sees.

    A network that is to start or stop keeps its state; the reason is why it does not go on.
    """
    here = Network.objects.exclude(host="").exclude(state__in=DOWN)
    for host in Host.objects.filter(pk__in=here.values("host")):
        if host.alive:
            continue
        sentence = gone(host)
        others = here.filter(host=host.pk).exclude(reason=sentence)
        others.filter(state__in=UP).update(state=NetworkState.DEGRADED, reason=sentence, changed=timezone.now())
        others.exclude(state__in=UP).update(reason=sentence)
