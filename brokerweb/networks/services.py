"""Use cases of networks and hosts, called by pages, REST, the admin and tasks."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, F, Value, When
from django.utils import timezone

from brokerweb.changelog.recording import DELETE, logged, recorded, subject
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.setting_forms import Profiles
from brokerweb.networks import broker_index, changes, deploy_tasks, naming, quotas
from brokerweb.networks.models import DOWN, UP, Desired, FaultOrder, Host, Network, NetworkState, RestartOrder
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting, shown
from overlay.core.settings import SettingInfo
from overlay.deployment.deployment import SECRET_BYTES
from overlay.experiment.definition import default_topology, graph_of
from overlay.faults.kinds import FaultKind
from overlay.systems.contract import PROFILE, System
from overlay.systems.registry import FIRST, SYSTEMS, system_of

subject(
    Network, "network", "name", "topology_id", "system", "settings", "seed", "desired", "version", "members", "deployed"
)
NOT_RESTARTED = ("starting", "restarting", "draining", "stopped", "away")
"""States in which a broker is already starting, or should not run."""


def described(system: str = FIRST) -> tuple[SettingInfo, ...]:
    """The settings of a network: those of a run with another default profile."""
    chosen = SYSTEMS[system]
    return tuple(_of_network(chosen, info) if info.name == PROFILE else info for info in chosen.settings)


def offered(system: str = FIRST) -> list[SettingInfo]:
    """The same without those that only runs use, for forms."""
    left_out = SYSTEMS[system].presentation.run_settings
    return [info for info in described(system) if info.name not in left_out]


def _of_network(system: System, info: SettingInfo) -> SettingInfo:
    if not system.network_profile:
        return info
    return replace(info, default=system.network_profile, help=f"{info.help} {system.network_profile_help}")


def profiles(system: str = FIRST) -> Profiles:
    return SYSTEMS[system].profiles


@logged("deploy", by="owner")
def deploy(
    *,
    name: str,
    topology: Topology | None = None,
    system: str = FIRST,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    owner: User | None = None,
) -> Network:
    """Deploy a network. Its servers start within seconds. Without a topology it has its system's default.

    Raises ``InvalidSetting``.
    """
    chosen = system_of(system)
    if topology is not None and (sentences := topologies.problems(topology, must_connect=False)):
        raise InvalidSetting("topology", " ".join(sentences))
    profile = {PROFILE: chosen.network_profile} if chosen.network_profile else {}
    whole = chosen.whole({**profile, **(settings or {})})
    document = topologies.document(topology) if topology else default_topology(chosen, whole)
    servers = chosen.check(chosen.setup(whole, None, graph_of(document)))
    with transaction.atomic():  # IMMEDIATE: of two concurrent requests, the second finds the name taken
        quotas.check_networks(owner)
        quotas.check_brokers("", servers, "topology")
        network = Network.objects.create(
            name=naming.free_name(name),
            topology=topology,
            system=chosen.name,
            deployed=document,
            settings=whole,
            seed=seed,
            secret=secrets.token_hex(SECRET_BYTES),
            owner=owner,
            reason=worker_missing(),
        )
        deploy_tasks.settle(network)
    return network


@logged("start")
def start(network: Network, *, new_addresses: bool = False) -> Network:
    """Start a stopped or failed network; a running one is not changed.

    Its brokers come back at the addresses that they had. If another program has taken one, that broker fails with the
    reason, because clients know it by its address; ``new_addresses`` gives every broker another one.
    """
    ended = (*DOWN, NetworkState.STOPPING)
    network.refresh_from_db()  # in this transaction: no other one writes meanwhile
    if network.desired == Desired.STOPPED:
        quotas.check_brokers(network.host, quotas.running_brokers(network), "network")
    moved: dict[str, Any] = {"addresses": {}} if new_addresses else {}
    Network.objects.filter(pk=network.pk, state__in=ended).update(
        desired=Desired.RUNNING,
        state=NetworkState.STARTING,
        reason=worker_missing(network.host),
        epoch=F("epoch") + 1,
        changed=timezone.now(),
        brokers=[],
        rollout={},
        **moved,
    )
    _forget_restarts(network)
    network.refresh_from_db()
    deploy_tasks.settle(network)
    return network


@logged("stop")
def stop(network: Network) -> Network:
    """Stop a network; its brokers leave and exit. A stopped one is not changed.

    A network that no host has claimed has no brokers and is stopped at once.
    """
    Network.objects.filter(pk=network.pk).exclude(state=NetworkState.STOPPED).update(
        desired=Desired.STOPPED,
        state=Case(When(host="", then=Value(NetworkState.STOPPED)), default=Value(NetworkState.STOPPING)),
        reason=worker_missing(network.host) if network.host else "",
        changed=timezone.now(),
    )
    _forget_restarts(network)
    network.refresh_from_db()
    deploy_tasks.settle(network)
    return network


def _forget_restarts(network: Network) -> None:
    """Delete restart requests of brokers that no longer run."""
    network.restart_orders.all().delete()
    network.fault_orders.all().delete()


def restart_broker(network: Network, index: int, by: User | None = None) -> Network:
    """Request the restart of one broker at its address; it loses the data in its memory.

    Its host's worker forwards the request within a second. Raises ``NotPossible``; ``InvalidSetting`` for an unknown
    broker.
    """
    broker_index.known(network, index, "index")
    if changes.is_drained(network, index):
        return changes.return_broker(network, index, changes.How(by=by)).network
    if network.state not in UP:
        raise NotPossible(f"This network is {network.state}; its brokers cannot be restarted.")
    if missing := worker_missing(network.host):
        raise NotPossible(f"{_title(network, index)} cannot be restarted now. {missing}")
    row = next((row for row in network.brokers if row["index"] == index), {"state": "stopped"})
    if index not in restartable(network):
        raise NotPossible(f"{_title(network, index)} is {row['state']}; wait until it is up or has failed.")
    order = {"restarts": row["restarts"], "by": by.username if by else ""}
    with recorded("restart", network, by) as record:
        RestartOrder.objects.get_or_create(network=network, broker=index, defaults=order)
        record.said["broker"] = index
    network.refresh_from_db()
    return network


def operable(network: Network, index: int) -> Mapping[str, FaultKind]:
    """The faults that an operator may begin and end at a server."""
    system = SYSTEMS[network.system]
    return system.operated_faults(system.setup(network.settings, None, graph_of(network.deployed)), index)


def operate(network: Network, index: int, what: str, *, begins: bool = True, by: User | None = None) -> Network:
    """Request that a fault of the system begins or ends at a server, such as a radio that is off.

    Its host's worker forwards the request within a second. Raises ``NotPossible``; ``InvalidSetting`` for a server or a
    fault that it cannot have.
    """
    broker_index.known(network, index, "index")
    kinds = operable(network, index)
    if what not in kinds:
        raise InvalidSetting("what", _why_not(network, index, what))
    if not begins and not kinds[what].lasts:
        raise InvalidSetting("begins", f"must be true: {what} does not last")
    row = next((row for row in network.brokers if row["index"] == index), {"state": "stopped"})
    if network.state not in UP or row["state"] not in ("up", "not answering"):
        raise NotPossible(f"{_title(network, index)} is {row['state']}; it must be up.")
    if missing := worker_missing(network.host):
        raise NotPossible(f"{_title(network, index)} cannot be reached now. {missing}")
    with recorded("fault", network, by) as record:
        FaultOrder.objects.update_or_create(network=network, broker=index, what=what, defaults={"begins": begins})
        record.said |= {"broker": index, "what": what, "begins": begins}
    network.refresh_from_db()
    return network


def _why_not(network: Network, index: int, what: str) -> str:
    """Why a fault cannot begin at a server, and what can."""
    if kinds := operable(network, index):
        return f"must be one of {', '.join(kinds)}, not {shown(what, 40)}"
    kinds_of = {row["index"]: operable(network, row["index"]) for row in network.brokers}
    known = dict.fromkeys(kind for kinds in kinds_of.values() for kind in kinds)
    if known and what not in known:
        return f"must be one of {', '.join(known)}, not {shown(what, 40)}"
    able = [_title(network, index) for index, kinds in kinds_of.items() if what in kinds]
    return f"cannot begin at {_title(network, index)}" + (f", but at {', '.join(able)}" if able else "")


def restart_failed(network: Network, by: User | None = None) -> Network:
    """Request the restart of all brokers that have failed or hang. Raises ``NotPossible`` if there are none."""
    failed = [row["index"] for row in network.brokers if row["state"] in ("failed", "not answering")]
    if not failed:
        raise NotPossible("No broker of this network has failed.")
    for index in failed:
        network = restart_broker(network, index, by)
    return network


def _title(network: Network, index: int) -> str:
    return broker_index.servers_of(network).full(index)


def restartable(network: Network) -> set[int]:
    """Brokers that can be restarted now: running, hanging or failed ones."""
    if network.state not in UP:
        return set()
    return {row["index"] for row in network.brokers if row["state"] not in NOT_RESTARTED}


def is_deletable(network: Network) -> bool:
    """Whether it is stopped, or is to stop on a host that is gone; if that returns, its worker ends the brokers."""
    is_left = network.state == NetworkState.STOPPING and bool(worker_missing(network.host))
    return is_left or network.state == NetworkState.STOPPED


def delete(network: Network) -> None:
    """Delete a network that ``is_deletable``. Raises ``NotPossible`` otherwise."""
    if not is_deletable(network):
        raise NotPossible(f"This network is {network.state}. Stop it first.")
    directory = Path(django_settings.VAR) / "networks" / network.pk
    with recorded(DELETE, network):
        network.delete()
    shutil.rmtree(directory, ignore_errors=True)


def worker_missing(name: str | None = None) -> str:
    """An error message if no worker sends heartbeats on the host ``name`` (or on any); otherwise empty."""
    hosts = Host.objects.order_by("-heartbeat")
    newest = (hosts.filter(pk=name) if name else hosts).first()
    if newest is None:
        return "No worker has answered yet. Is make up running?"
    if newest.alive:
        return ""
    silent = int((timezone.now() - newest.heartbeat).total_seconds())
    return f"No worker has answered for {silent} s on host {newest.name}. Is make up running?"


def gone(host: Host) -> str:
    """Why nothing is known of the networks of a host without a worker."""
    since = f"{host.heartbeat:%Y-%m-%d %H:%M:%S} UTC"
    return f"No worker has answered on host {host.name} since {since}. What is shown was observed before."


def host_here() -> Host | None:
    """The row of this host, if its worker ever wrote one."""
    return Host.objects.filter(pk=django_settings.HOST_NAME).first()
