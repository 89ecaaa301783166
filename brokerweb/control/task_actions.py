"""Steps that tasks take at once on this host: launch and stop runs and networks, as the reconciler's next round would.

Each is one step of the reconciler for one row, so it is idempotent. Failures are left to the next round.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings

from brokerweb.control.networks import reconcile_network
from brokerweb.control.runs import claim, reconcile_run
from brokerweb.experiments import states
from brokerweb.experiments.models import Run
from brokerweb.networks.models import Desired, Network
from overlay.core.engines import LIVE
from overlay.runtime.supervisor_client import SupervisorClient, SupervisorUnavailable

log = logging.getLogger(__name__)

SUPERVISOR_S = 5.0
"""Timeout of one response of the supervisor."""
TURN_S = 15.0
"""Maximum time a task waits for a running round or another task."""

_at_work = threading.Lock()


def owner() -> str:
    """The lease owner name of this process."""
    return f"{settings.HOST_NAME}:{os.getpid()}"


def supervisor() -> SupervisorClient:
    """The supervisor of this host."""
    return SupervisorClient(settings.SUPERVISOR_SOCKET, timeout=SUPERVISOR_S)


@contextmanager
def turn(patience_s: float = -1) -> Iterator[bool]:
    """Serialises steps in this process; epochs fence off others. Yields whether the lock was acquired in time."""
    is_had = _at_work.acquire(timeout=patience_s)
    try:
        yield is_had
    finally:
        if is_had:
            _at_work.release()


def _act(what: str, step: Callable[[SupervisorClient, set[str]], str]) -> str:
    """Run ``step`` with the supervisor and its known deployments; returns the line for the worker's log."""
    done = _done(step)
    log.info("%s: %s", what, done)
    return done


def _done(step: Callable[[SupervisorClient, set[str]], str]) -> str:
    with turn(TURN_S) as is_had:
        if not is_had:
            return "left to the reconciler: it is busy"
        try:
            client = supervisor()
            return step(client, set(client.hello()["deployments"]))
        except SupervisorUnavailable as error:
            return f"left to the reconciler: {error}"


def launch_run(run_id: str) -> str:
    """Launch a run if it is next in the queue; returns the action taken."""
    return _act(f"launch run {run_id}", lambda client, known: _launch(run_id, client, known))


def _launch(run_id: str, client: SupervisorClient, known: set[str]) -> str:
    run = claim(settings.HOST_NAME, owner(), only=run_id)
    if run is None:
        return "nothing: it is not next in the queue"
    reconcile_run(run, client, known)
    return run.state


def stop_run(run_id: str) -> str:
    """Stop a run of this host whose cancellation was requested; returns the action taken."""
    return _act(f"stop run {run_id}", lambda client, known: _stop(run_id, client, known))


def _stop(run_id: str, client: SupervisorClient, known: set[str]) -> str:
    on_brokers = Run.objects.filter(engine=LIVE, host=settings.HOST_NAME, state__in=states.ON_BROKERS)
    run = on_brokers.filter(pk=run_id, cancel_requested=True).select_related("experiment").first()
    if run is None:
        return "nothing: it has ended"
    reconcile_run(run, client, known)
    return "stopping" if run.state in states.ON_BROKERS else run.state


def deploy_network(network_id: str) -> str:
    """Deploy a network that should run; returns the action taken."""
    return _act(
        f"deploy network {network_id}", lambda client, known: _settle(network_id, Desired.RUNNING, client, known)
    )


def stop_network(network_id: str) -> str:
    """Stop a network that should be stopped; returns the action taken."""
    return _act(f"stop network {network_id}", lambda client, known: _settle(network_id, Desired.STOPPED, client, known))


def _settle(network_id: str, desired: str, client: SupervisorClient, known: set[str]) -> str:
    wanted = Network.objects.filter(pk=network_id, desired=desired)
    if desired == Desired.RUNNING:
        wanted.filter(host="").update(host=settings.HOST_NAME)
    network = wanted.filter(host=settings.HOST_NAME).first()
    if network is None:
        return "nothing: no longer desired, or not on this host"
    reconcile_network(network, client, known)
    network.refresh_from_db(fields=["state"])
    return network.state
