"""One round for one host: brings the supervisor's deployments closer to the desired state in the rows.

Every write is conditional on the epoch it was decided under, so that a worker whose lease was taken over changes
nothing.
"""

from __future__ import annotations

import logging

from brokerweb.control.networks import networks_of, reconcile_network
from brokerweb.control.runs import claim, reconcile_run, renew_lease
from brokerweb.experiments import collection, states
from brokerweb.experiments.models import Run, RunState
from brokerweb.networks import deploy_tasks
from brokerweb.networks.models import Desired, Network
from brokerweb.reports import queue as report_queue
from brokerweb.simulations import queue as simulation_queue
from overlay.core.engines import LIVE
from overlay.deployment import phases
from overlay.runtime.supervisor_client import SupervisorClient, SupervisorRefused, is_gone

log = logging.getLogger(__name__)


def reconcile_host(host: str, owner: str, supervisor: SupervisorClient) -> bool:
    """Run one round; returns whether live runs are active. Raises ``SupervisorUnavailable``; completed steps stay."""
    known = set(supervisor.hello()["deployments"])
    for run in Run.objects.filter(engine=LIVE, host=host, state__in=states.ON_BROKERS).select_related("experiment"):
        reconcile_run(run, supervisor, known)
    for network in networks_of(host):
        if not deploy_tasks.is_left_to_task(network):
            reconcile_network(network, supervisor, known)
    _end_unwanted(host, supervisor, known)
    for run in Run.objects.filter(engine=LIVE, host=host, state=RunState.COLLECTING):
        renew_lease(run)
        collection.ask(run)
    if run_claimed := claim(host, owner):
        reconcile_run(run_claimed, supervisor, known)
    report_queue.ask_due()
    simulation_queue.ask_due()
    return Run.objects.filter(engine=LIVE, state__in=states.UNFINISHED).exists()


def _end_unwanted(host: str, supervisor: SupervisorClient, known: set[str]) -> None:
    """Stop and remove deployments without a row: of ended runs, deleted networks, older databases."""
    wanted = {
        *Run.objects.filter(engine=LIVE, host=host, state__in=states.ON_BROKERS).values_list("pk", flat=True),
        *Network.objects.filter(host=host, desired=Desired.RUNNING).values_list("pk", flat=True),
    }
    for deployment in known - wanted:
        try:
            status = supervisor.status(deployment)
            if status["phase"] not in (*phases.ENDED, phases.STOPPING):
                supervisor.stop(deployment, status["epoch"], "no longer wanted")
            elif is_gone(status):
                supervisor.forget(deployment, status["epoch"])
        except SupervisorRefused as error:
            log.warning("deployment %s: %s", deployment, error.sentence)
