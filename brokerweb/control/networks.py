"""Deploys, observes and stops networks of this host. Counterpart: ``decide`` chooses the next step."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.utils import timezone

from brokerweb.control import bridges
from brokerweb.control.decide import Step, network_step
from brokerweb.control.refusals import in_words
from brokerweb.networks.models import Desired, Network, NetworkState
from overlay.runtime.supervisor_client import Status, SupervisorClient, SupervisorRefused

log = logging.getLogger(__name__)


def networks_of(host: str) -> list[Network]:
    """The networks of this host; a network without a host is assigned to it."""
    Network.objects.filter(host="", desired=Desired.RUNNING).update(host=host)
    settled = Network.objects.filter(desired=Desired.STOPPED, state=NetworkState.STOPPED)
    return list(
        Network.objects.filter(host=host)
        .exclude(pk__in=settled)
        .prefetch_related("restart_orders", "fault_orders", "bridges")
    )


def network_deployment(network: Network) -> dict[str, Any]:
    """The deployment document of a network for the supervisor."""
    return {
        "id": network.id,
        "kind": "network",
        "epoch": network.epoch,
        "directory": str(settings.VAR / "networks" / network.id),
        "seed": network.seed,
        "system": network.system,
        "topology": {key: network.deployed[key] for key in ("brokers", "links")},
        "settings": network.settings,
        "workload": None,
        "lease_s": None,
        "version": network.version,
        "members": network.members,
        **({"secret": network.secret} if network.secret else {}),
    }


def held_by_others(network: Network) -> list[str]:
    """The addresses of all other networks of its host, also of stopped ones, which come back at them."""
    others = Network.objects.filter(host=network.host).exclude(pk=network.pk).values_list("addresses", flat=True)
    return [address for addresses in others for address in addresses.values()]


def reconcile_network(network: Network, supervisor: SupervisorClient, known: set[str]) -> None:
    """One step for one network; ``known`` are the supervisor's deployments."""
    status: Status | None = supervisor.status(network.id) if network.id in known else None
    step = network_step(network.desired, network.state, network.epoch, status, network.version)
    try:
        if step.verb == "deploy":
            status = supervisor.deploy(network_deployment(network), network.addresses, held_by_others(network))
        elif step.verb == "change" and status is not None:
            status = _change(network, supervisor, status)
        elif step.verb == "stop" and status is not None:
            status = supervisor.stop(network.id, status["epoch"], step.reason)
        elif status is not None:
            status = _restart_brokers(network, supervisor, status)
            status = _order_faults(network, supervisor, status)
    except (SupervisorRefused, OSError) as error:
        step, status = Step(to=NetworkState.FAILED, reason=in_words(error)), None
    bridged = list(network.bridges.all())
    if status is not None:
        status = bridges.settle(network, bridged, supervisor, status)
    _write_network(network, step, status)
    bridges.write(bridged, status)


def _change(network: Network, supervisor: SupervisorClient, status: Status) -> Status:
    """Passes a newer version on. A refusal is shown as the state of the change; the network runs on as it is."""
    try:
        return supervisor.deploy(network_deployment(network), network.addresses, held_by_others(network))
    except SupervisorRefused as error:
        return {**status, "rollout": {"version": network.version, "refused": error.sentence}}


def _restart_brokers(network: Network, supervisor: SupervisorClient, status: Status) -> Status:
    """Forwards each restart order until a new process runs; drops orders for older brokers."""
    for order in network.restart_orders.all():
        restarts = {row["index"]: row["restarts"] for row in status["brokers"]}
        is_open = status["epoch"] == network.epoch and restarts.get(order.broker) == order.restarts
        try:
            if is_open:
                by = order.by or "an operator"
                status = supervisor.restart(network.id, network.epoch, order.broker, order.restarts, by)
                continue
        except SupervisorRefused as error:
            log.warning("restart of broker %s of network %s failed: %s", order.broker, network.id, error.sentence)
        order.delete()
    return status


def _order_faults(network: Network, supervisor: SupervisorClient, status: Status) -> Status:
    """Forwards each order once. The supervisor refuses those for servers that cannot have the fault."""
    for order in network.fault_orders.all():
        try:
            status = supervisor.fault(network.id, network.epoch, order.broker, order.what, begins=order.begins)
        except SupervisorRefused as error:
            log.warning("%s of network %s was refused: %s", order, network.id, error.sentence)
        order.delete()
    return status


def _write_network(network: Network, step: Step, status: Status | None) -> None:
    brokers = list(status["brokers"]) if status else [{**one, "state": "stopped"} for one in network.brokers]
    state = step.to or network.state
    seen: dict[str, Any] = {
        "state": state,
        "reason": step.reason or ("" if step.to else network.reason),
        "brokers": brokers,
        "addresses": {str(one["index"]): one["address"] for one in brokers} if status else network.addresses,
        "rollout": status.get("rollout", {}) if status else network.rollout,
    }
    if all(getattr(network, name) == value for name, value in seen.items()):
        return
    if state != network.state or _are_others(network.brokers, brokers):
        seen["changed"] = timezone.now()
    Network.objects.filter(pk=network.pk, epoch=network.epoch, desired=network.desired).update(**seen)


def _are_others(before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all brokers were replaced, because another supervisor restarted the network between two rounds."""
    pids = {broker["pid"] for broker in before if broker.get("pid")}
    return bool(pids) and pids.isdisjoint(broker.get("pid") for broker in now)
