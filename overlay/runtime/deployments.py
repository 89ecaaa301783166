"""The deployments of this host, and the commands that change them.

Counterparts: ``overlay.runtime.supervisor`` runs the loop, ``control`` receives the requests, ``kept_networks``
stores networks, ``deployment_runner`` runs one deployment.
"""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from random import Random
from typing import Protocol

from overlay.core.addresses import Address, parse_address
from overlay.core.errors import WaxwingError, describe_os_error, shown
from overlay.deployment.deployment import RUN, Deployment
from overlay.deployment.fleet import RESTARTED
from overlay.runtime.bridges import read_wanted
from overlay.runtime.control import Refusal, Reply, Request
from overlay.runtime.deployment_runner import DeploymentRunner
from overlay.runtime.kept_networks import Kept, KeptNetworks

BROKER_PORTS = range(20_000, 32_000)
"""Below the ephemeral ports of systems, so that no client can take a dead broker's port."""
MAX_ENDED = 200
"""Maximum statuses of ended deployments; beyond it the oldest are forgotten."""


class Launch(Protocol):
    """Starts a deployment."""

    def __call__(self, kept: Kept, *, ran_before: bool) -> DeploymentRunner: ...


class Deployments:
    """The deployments of this host, by id, oldest first."""

    def __init__(self, kept: KeptNetworks, launch: Launch) -> None:
        self._kept = kept
        self._launch = launch
        self._hosted: dict[str, DeploymentRunner] = {}
        self._verbs: dict[str, Callable[[Request], Reply]] = {
            "deploy": self._deploy,
            "renew": self._renew,
            "stop": self._stop,
            "status": lambda request: self._find(request).status(),
            "forget": self._forget,
            "fault": self._fault,
            "restart": self._restart,
            "bridges": self._bridge,
        }

    def all(self) -> Collection[DeploymentRunner]:
        return self._hosted.values()

    def handle(self, request: Request) -> Reply:
        """Execute the command ``request["do"]``. Raises ``Refusal``, ``InvalidSetting`` and ``OSError`` (disk full)."""
        verb = request.get("do")
        if not isinstance(verb, str) or verb not in self._verbs:
            known = ", ".join(["hello", *self._verbs, "shutdown"])
            raise Refusal("bad-request", f"do must be one of {known}, not {shown(verb)}")
        return self._verbs[verb](request)

    def deploy_kept(self) -> None:
        """Deploy the networks that ran here before. Unreadable ones are reported and skipped."""
        networks, wrong = self._kept.read()
        if wrong:
            _warn(wrong)
        for kept in networks:
            try:
                self._host(kept, ran_before=True).note("deployed again: the supervisor was restarted")
            except Exception as error:  # noqa: BLE001  one network must not keep the others from running
                _warn(f"{kept.deployment.id} cannot be deployed again: {error}")

    def _host(self, kept: Kept, *, ran_before: bool = False) -> DeploymentRunner:
        id = kept.deployment.id
        if id in self._hosted:
            self._hosted.pop(id).close()
        hosted = self._hosted[id] = self._launch(kept, ran_before=ran_before)
        ended = [other for other, it in self._hosted.items() if not it.is_active]
        for other in ended[: max(len(ended) - MAX_ENDED, 0)]:
            self._hosted.pop(other).close()
        return hosted

    def _deploy(self, request: Request) -> Reply:
        deployment = Deployment.from_json(request.get("deployment"))
        known = self._hosted.get(deployment.id)
        if known is not None:
            if deployment.epoch < known.deployment.epoch:
                raise _stale(deployment.epoch, known)
            if known.is_active and deployment.version > known.deployment.version:
                return self._change(deployment, known, request)
            if known.is_active or deployment.epoch == known.deployment.epoch:
                return self._adopt(deployment, known)
        self._refuse_second_run(deployment)
        hosted = self._host(Kept(deployment, self._addresses(request, len(deployment.server_names))))
        try:
            self._keep()
        except OSError:
            self._hosted.pop(deployment.id).close()  # it has no processes yet
            raise
        return hosted.status()

    def _addresses(self, request: Request, count: int, own: Sequence[Address] = ()) -> tuple[Address, ...]:
        """The address of each of ``count`` servers: ``own``, then the one that it had before, otherwise a free one.

        Free ones exclude those of other deployments and of stopped networks: their brokers come back at their ports.
        An address that it had before is not tried here: a server that cannot bind to it fails with the reason.
        """
        had = _had_addresses(request)
        held = {address for hosted in self._hosted.values() if hosted.is_active for address in hosted.addresses}
        held |= {*_held_addresses(request), *own, *had.values()}
        known = {**had, **dict(enumerate(own))}
        fresh = iter(reserve_addresses(sum(index not in known for index in range(count)), held))
        return tuple(known[index] if index in known else next(fresh) for index in range(count))

    def _adopt(self, deployment: Deployment, known: DeploymentRunner) -> Reply:
        """Accept the same deployment again, possibly from a new owner."""
        before = known.deployment.to_json() | {"epoch": deployment.epoch}
        if deployment.version < known.deployment.version:
            raise Refusal("stale-version", f"{deployment.id} is at version {known.deployment.version} already")
        if before != deployment.to_json():
            raise Refusal("conflict", f"{deployment.id} runs here with another configuration; stop it first")
        known.adopt(deployment.epoch)
        known.renew(time.monotonic_ns())
        self._keep_if_there_is_room()
        return known.status()

    def _change(self, deployment: Deployment, known: DeploymentRunner, request: Request) -> Reply:
        """Take over a newer version of a network that runs. If it cannot be kept on disk, its owner has it."""
        before = known.deployment
        if deployment.kind == RUN or (deployment.system, deployment.seed) != (before.system, before.seed):
            raise Refusal("conflict", f"{deployment.id} runs here with another configuration; stop it first")
        if len(deployment.server_names) < len(before.server_names):
            servers = len(before.server_names)
            raise Refusal("conflict", f"{deployment.id} has {servers} servers, and their indices are not used again")
        addresses = self._addresses(request, len(deployment.server_names), known.addresses)
        try:
            known.change(deployment, addresses, time.monotonic_ns())
        except WaxwingError as error:
            raise Refusal("conflict", str(error)) from None
        self._keep_if_there_is_room()
        return known.status()

    def _refuse_second_run(self, deployment: Deployment) -> None:
        """Two runs on one host would disturb each other's measurements."""
        active = [id for id, other in self._hosted.items() if other.deployment.kind == RUN and other.is_active]
        if deployment.kind == RUN and active:
            raise Refusal("busy", f"run {active[0]} is active on this host")

    def _keep(self) -> None:
        self._kept.write(
            Kept(hosted.deployment, hosted.addresses, hosted.changes.older)
            for hosted in self._hosted.values()
            if hosted.is_kept
        )

    def _keep_if_there_is_room(self) -> None:
        """For removals and changes of owner. If this is lost, the owner repeats the command."""
        try:
            self._keep()
        except OSError as error:
            _warn(describe_os_error(error))

    def _renew(self, request: Request) -> Reply:
        hosted = self._find_owned(request)
        hosted.renew(time.monotonic_ns())
        return hosted.status()

    def _stop(self, request: Request) -> Reply:
        hosted = self._find_owned(request)
        hosted.stop(str(request.get("reason") or "stopped")[:500])
        self._keep_if_there_is_room()
        return hosted.status()

    def _forget(self, request: Request) -> Reply:
        hosted = self._find_owned(request)
        if hosted.is_active:
            raise Refusal("conflict", f"{hosted.deployment.id} has not ended; stop it first")
        self._hosted.pop(hosted.deployment.id).close()
        self._keep_if_there_is_room()
        return {"id": hosted.deployment.id, "forgotten": True}

    def _fault(self, request: Request) -> Reply:
        hosted = self._find_owned(request)
        kind, begins = request.get("kind"), request.get("begins", True)
        broker = _broker_of(request, hosted)
        known = ("kill", *hosted.deployment.system.faults)
        if kind not in known or not isinstance(begins, bool):
            raise Refusal("bad-request", f"kind must be {' or '.join(known)}, not {shown(kind)}")
        if kind != "kill":
            try:
                hosted.operate(broker, str(kind), begins)
            except WaxwingError as error:
                raise Refusal("conflict", str(error)) from None
            return hosted.status()
        if not hosted.kill_broker(broker):
            raise Refusal("conflict", f"broker {broker} has no process at the moment")
        return hosted.status()

    def _restart(self, request: Request) -> Reply:
        hosted = self._find_owned(request)
        broker, restarts = _broker_of(request, hosted), request.get("restarts")
        if not isinstance(restarts, int) or isinstance(restarts, bool):
            raise Refusal("bad-request", f"restarts must be a whole number, not {shown(restarts)}")
        by = str(request.get("by") or "an operator")[:200]
        try:
            hosted.restart_broker(broker, restarts, f"{RESTARTED} by {by}", time.monotonic_ns())
        except WaxwingError as error:
            raise Refusal("conflict", str(error)) from None
        return hosted.status()

    def _bridge(self, request: Request) -> Reply:
        """These bridges, and no others, should run while the network does."""
        hosted = self._find_owned(request)
        hosted.bridges.want(read_wanted(request.get("bridges"), hosted.deployment.system))
        return hosted.status()

    def _find(self, request: Request) -> DeploymentRunner:
        id = request.get("id")
        if not isinstance(id, str) or id not in self._hosted:
            raise Refusal("unknown", f"no deployment {shown(id, 70)} on this host")
        return self._hosted[id]

    def _find_owned(self, request: Request) -> DeploymentRunner:
        """The deployment, if the request is from its owner or a later one."""
        hosted, epoch = self._find(request), request.get("epoch")
        if not isinstance(epoch, int) or isinstance(epoch, bool):
            raise Refusal("bad-request", f"epoch must be a whole number, not {shown(epoch)}")
        if epoch < hosted.deployment.epoch:
            raise _stale(epoch, hosted)
        hosted.adopt(epoch)
        return hosted


def _warn(text: str) -> None:
    with suppress(OSError):  # the log may be on a full disk
        sys.stderr.write(f"supervisor: WARNING {text}\n")


def _broker_of(request: Request, hosted: DeploymentRunner) -> int:
    broker, brokers = request.get("broker"), len(hosted.deployment.server_names)
    if not isinstance(broker, int) or isinstance(broker, bool) or not 0 <= broker < brokers:
        raise Refusal("bad-request", f"broker must be from 0 to {brokers - 1}, not {shown(broker)}")
    return broker


def _had_addresses(request: Request) -> dict[int, Address]:
    """``addresses`` of a request, by index. Raises ``Refusal``."""
    had = request.get("addresses", {})
    if not isinstance(had, dict) or not all(index.isascii() and index.isdigit() for index in had):
        raise Refusal("bad-request", f"addresses must be an object with indices of servers, not {shown(had)}")
    return {int(index): _address(text) for index, text in had.items()}


def _held_addresses(request: Request) -> list[Address]:
    held = request.get("held", [])
    if not isinstance(held, list):
        raise Refusal("bad-request", f"held must be a list of addresses, not {shown(held)}")
    return [_address(text) for text in held]


def _address(text: object) -> Address:
    try:
        return parse_address(text if isinstance(text, str) else "")
    except WaxwingError:
        raise Refusal("bad-request", f"{shown(text)} is not an address such as 127.0.0.1:20001") from None


def _stale(epoch: int, hosted: DeploymentRunner) -> Refusal:
    return Refusal("stale-epoch", f"epoch {epoch} is stale; {hosted.deployment.id} is at {hosted.deployment.epoch}")


def reserve_addresses(count: int, held: Collection[Address] = (), host: str = "127.0.0.1") -> tuple[Address, ...]:
    """``count`` addresses that are free and not ``held``. Raises ``Refusal`` if there are fewer."""
    addresses: list[Address] = []
    for port in Random().sample(BROKER_PORTS, len(BROKER_PORTS)):
        if len(addresses) == count:
            break
        if (host, port) in held:
            continue
        if _is_free((host, port)):
            addresses.append((host, port))
    if len(addresses) < count:
        raise Refusal("failed", f"only {len(addresses)} of {count} ports for brokers are free on {host}")
    return tuple(addresses)


def _is_free(address: Address) -> bool:
    """For datagrams and, since some servers have both, for connections."""
    try:
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            with socket.socket(socket.AF_INET, kind) as probe:
                probe.bind(address)
    except OSError:
        return False
    return True
