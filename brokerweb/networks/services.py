"""What can be done with networks and hosts. Pages, REST, the admin and tasks are doors to this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, F, Value, When
from django.utils import timezone

from brokerweb.errors import NotPossible
from brokerweb.networks.models import DOWN, Desired, Host, Network, NetworkState
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from overlay.errors import InvalidSetting
from overlay.profiles import PROFILE
from overlay.settings import SettingInfo
from overlay.systems import SYSTEMS

SYSTEM = "context-broker"

NETWORK_PROFILE = replace(
    PROFILE,
    default="improved",
    help=f"{PROFILE.help} A network that stays has improved unless told otherwise: its searches turn back until every "
    "broker was asked, so that not found (REST's 404) means that nobody has it.",
)


def described() -> tuple[SettingInfo, ...]:
    """The settings of a network: those of a run, with another profile for a default."""
    return tuple(NETWORK_PROFILE if info is PROFILE else info for info in SYSTEMS[SYSTEM].settings)


def deploy(
    *,
    name: str,
    topology: Topology,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    owner: User | None = None,
) -> Network:
    """A topology as a network that is to stay up. Its brokers start within seconds. Raises ``InvalidSetting``."""
    system = SYSTEMS[SYSTEM]
    document = topologies.document(topology)
    if sentences := topologies.problems(topology, must_connect=False):
        raise InvalidSetting("topology", " ".join(sentences))
    whole = system.whole({PROFILE.name: NETWORK_PROFILE.default, **(settings or {})})
    try:
        system.check(whole, None, document["brokers"])
    except InvalidSetting as error:
        raise InvalidSetting(f"settings.{error.field}", error.sentence) from None
    with transaction.atomic():  # IMMEDIATE: of a form that is sent twice at once the second finds the name taken
        return Network.objects.create(
            name=_free_name(name),
            topology=topology,
            deployed=document,
            settings=whole,
            seed=seed,
            owner=owner,
            reason=worker_missing(),
        )


def _free_name(name: str) -> str:
    """``name`` if no network has it. Raises ``InvalidSetting``."""
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise InvalidSetting("name", "must be 1 to 100 printable characters")
    if Network.objects.filter(name=name).exists():
        raise InvalidSetting("name", f"{name!r} is taken by another network")
    return name


def start(network: Network) -> Network:
    """Brings a stopped or failed network up again; a running one is left alone."""
    ended = (*DOWN, NetworkState.STOPPING)
    Network.objects.filter(pk=network.pk, state__in=ended).update(
        desired=Desired.RUNNING,
        state=NetworkState.STARTING,
        reason="",
        epoch=F("epoch") + 1,
        changed=timezone.now(),
        brokers=[],
    )
    network.refresh_from_db()
    return network


def stop(network: Network) -> Network:
    """Stops a network; its brokers leave and end. A stopped one is left alone.

    One that no host has claimed has no brokers, and nobody would see to its end: it is stopped at once.
    """
    Network.objects.filter(pk=network.pk).exclude(state=NetworkState.STOPPED).update(
        desired=Desired.STOPPED,
        state=Case(When(host="", then=Value(NetworkState.STOPPED)), default=Value(NetworkState.STOPPING)),
        reason="",
        changed=timezone.now(),
    )
    network.refresh_from_db()
    return network


def delete(network: Network) -> None:
    """Deletes a network that is stopped. Raises ``NotPossible`` for one that is not."""
    if network.state != NetworkState.STOPPED:
        raise NotPossible(f"This network is {network.state}; stop it first.")
    network.delete()


def worker_missing(name: str | None = None) -> str:
    """A sentence if no worker keeps a heartbeat on the host ``name`` (or on any), else nothing."""
    hosts = Host.objects.order_by("-heartbeat")
    newest = (hosts.filter(pk=name) if name else hosts).first()
    if newest is None:
        return "No worker has answered yet; is make up running?"
    if newest.alive:
        return ""
    silent = int((timezone.now() - newest.heartbeat).total_seconds())
    return f"No worker has answered for {silent} s on host {newest.name}; is make up running?"


def host_here() -> Host | None:
    """The row of the host this process runs on, if its worker ever wrote one."""
    return Host.objects.filter(pk=django_settings.HOST_NAME).first()
