"""Queues tasks that deploy and stop networks at once. The reconciler does the same from the rows if a task is lost."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction

from brokerweb.kit import outbox
from brokerweb.networks.models import Desired, Network, NetworkState


def settle(network: Network) -> None:
    """After the commit, queue the task for a network's desired state."""
    task = "networks.deploy" if network.desired == Desired.RUNNING else "networks.stop"
    queue = f"host.{network.host}" if network.host else "default"
    if settings.REDIS_URL:
        transaction.on_commit(lambda: outbox.post(task, network.pk, queue=queue))


def is_left_to_task(network: Network) -> bool:
    """Whether a task was just queued for it and may still run."""
    is_asked = (network.state == NetworkState.STARTING and not network.brokers) or (
        network.state == NetworkState.STOPPING and network.desired == Desired.STOPPED
    )
    return is_asked and outbox.is_left_to_task(network.changed)
