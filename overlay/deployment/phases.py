"""The phases of a deployment: ``next_move(deployment, seen, now)``, and the desired processes of a phase. Pure.

Counterparts: ``overlay.deployment.deployment`` is the desired state, ``overlay.deployment.fleet`` supervises processes,
and the system's assembly builds the overlay; ``overlay.runtime.deployment_runner`` passes them observations and
executes their actions.

::

    run      launching ──> warming ──> measuring ──> draining ──> finished
    network  launching ──> running <──> degraded    or    launching ──> degraded, without brokers that cannot start
    both     any of these ──> stopping ──> stopped        and        any of these ──> failed
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from overlay.core.node import SECOND
from overlay.deployment.deployment import NETWORK, RUN, Deployment
from overlay.deployment.fleet import GIVEN_UP, UP, Lifetime, Process

LAUNCHING, WARMING, MEASURING, DRAINING, FINISHED = "launching", "warming", "measuring", "draining", "finished"
RUNNING, DEGRADED = "running", "degraded"
STOPPING, STOPPED, FAILED = "stopping", "stopped", "failed"
ENDED = (FINISHED, STOPPED, FAILED)
SERVING = (RUNNING, DEGRADED)
"""Of a network: clients can use it."""

LAUNCH_LIMIT_S = 120.0
"""A thousand brokers start and join within this time on two cores. After it, launching has failed."""
FLEET_LEAD_S = 2.0
"""From forking the fleets to the start of the first client, for imports and opening sockets."""
DRAIN_GRACE_S = 10.0
"""A fleet that is still running this long after the schedule's drain hangs."""

_ALIVE = {RUN: (LAUNCHING, WARMING, MEASURING, DRAINING), NETWORK: (LAUNCHING, RUNNING, DEGRADED)}

TRANSITIONS: dict[tuple[str, str, str], str] = {
    (RUN, LAUNCHING, "assembled"): WARMING,
    (RUN, WARMING, "ramped"): MEASURING,
    (RUN, MEASURING, "elapsed"): DRAINING,
    (RUN, DRAINING, "drained"): FINISHED,
    (NETWORK, LAUNCHING, "assembled"): RUNNING,
    (NETWORK, LAUNCHING, "lost"): DEGRADED,
    (NETWORK, RUNNING, "lost"): DEGRADED,
    (NETWORK, DEGRADED, "assembled"): RUNNING,
    **{(kind, phase, "stop"): STOPPING for kind, phases in _ALIVE.items() for phase in phases},
    **{(kind, phase, "fail"): FAILED for kind, phases in _ALIVE.items() for phase in phases},
    (RUN, STOPPING, "gone"): STOPPED,
    (NETWORK, STOPPING, "gone"): STOPPED,
}
"""(kind, phase, event) -> phase. A missing key is a bug of ours and raises ``KeyError``."""


@dataclass(frozen=True, slots=True)
class Move:
    """An event and its reason; the reason is empty if the event explains itself."""

    happened: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """The driver's observations of a deployment. Times are monotonic nanoseconds."""

    phase: str
    since: int
    processes: Mapping[str, Process]
    is_assembled: bool
    """Whether every broker is up, has joined each neighbour that is up, and monitors them."""
    trouble: str
    """The permanent obstacle to assembling the overlay; empty if there is none."""
    renewed: int
    stop_reason: str | None
    """The reason of a requested stop; ``None`` without a request."""
    workload_start: int | None
    """The start of the first client; ``None`` before fleets are forked."""
    silent: Set[str] = frozenset()
    """Names of running brokers that do not answer."""
    away: Set[str] = frozenset()
    """Names of servers of a network that should not run at the moment, because it is being changed."""


def is_alive(deployment: Deployment, phase: str) -> bool:
    """Whether a phase has processes."""
    return phase in _ALIVE[deployment.kind]


def wanted(deployment: Deployment, phase: str, away: Set[int] = frozenset()) -> dict[str, Lifetime]:
    """The desired processes of a phase, brokers first, without those ``away`` by churn, which is not a failure."""
    if not is_alive(deployment, phase):
        return {}
    names = [name for index, name in enumerate(deployment.server_names) if index not in away]
    processes = dict.fromkeys(names, Lifetime.ALWAYS)
    if phase in (WARMING, MEASURING, DRAINING):
        processes |= dict.fromkeys(deployment.fleet_names, Lifetime.ONCE)
    return processes


def schedule(deployment: Deployment, workload_start: int) -> tuple[int, int]:
    """The start and end of measuring, given the start of the first client. Nanoseconds."""
    return deployment.schedule.measured_between(workload_start)


def next_move(deployment: Deployment, seen: Seen, now: int) -> Move | None:
    """The next move, if one is due."""
    if seen.phase in ENDED:
        return None
    if seen.phase == STOPPING:
        return (
            None if any(process.lives for process in seen.processes.values()) else Move("gone", seen.stop_reason or "")
        )
    if seen.stop_reason is not None:
        return Move("stop", seen.stop_reason)
    failure = _failure(deployment, seen, now)
    if failure:
        return Move("fail", failure)
    return _run_move(deployment, seen, now) if deployment.kind == RUN else _network_move(deployment, seen)


def _failure(deployment: Deployment, seen: Seen, now: int) -> str:
    """Why the deployment has failed; empty if it has not."""
    if deployment.lease_s is not None and now > seen.renewed + deployment.lease_s * SECOND:
        return f"lease expired: not renewed for {deployment.lease_s:g} s"
    given_up = [
        f"{name}: {process.reason}"
        for name, process in seen.processes.items()
        if process.state == GIVEN_UP and name not in seen.away
    ]
    if given_up and (deployment.kind == RUN or len(given_up) == len(_expected(deployment, seen))):
        return given_up[0]
    if seen.phase == LAUNCHING:
        late = now > seen.since + LAUNCH_LIMIT_S * SECOND
        return seen.trouble or (f"the overlay was not assembled within {LAUNCH_LIMIT_S:g} s" if late else "")
    if seen.phase in (WARMING, MEASURING) and (ended := _ended_fleets(deployment, seen)):
        assert seen.workload_start is not None
        return (
            f"{ended[0]} ended before the measurement did" if now < schedule(deployment, seen.workload_start)[1] else ""
        )
    limit_s = deployment.schedule.drain_s + DRAIN_GRACE_S if seen.phase == DRAINING else 0.0
    if seen.phase == DRAINING and now > seen.since + limit_s * SECOND:
        return f"clients did not end within {limit_s:g} s after the measurement"
    return ""


def _ended_fleets(deployment: Deployment, seen: Seen) -> list[str]:
    return [name for name in deployment.fleet_names if seen.processes.get(name, Process()).ended_well]


def _run_move(deployment: Deployment, seen: Seen, now: int) -> Move | None:
    if seen.phase == LAUNCHING:
        return Move("assembled") if seen.is_assembled else None
    assert seen.workload_start is not None
    measuring, end = schedule(deployment, seen.workload_start)
    if seen.phase == WARMING:
        return Move("ramped") if now >= measuring else None
    if seen.phase == MEASURING:
        return Move("elapsed") if now >= end else None
    return Move("drained") if len(_ended_fleets(deployment, seen)) == len(deployment.fleet_names) else None


def _network_move(deployment: Deployment, seen: Seen) -> Move | None:
    if seen.phase in (LAUNCHING, DEGRADED) and seen.is_assembled and not seen.silent:
        return Move("assembled")
    if seen.phase == DEGRADED or (seen.phase == LAUNCHING and not _goes_without_some(deployment, seen)):
        return None
    expected = _expected(deployment, seen)
    lost = [name for name in expected if seen.processes[name].state != UP]
    if lost:
        return Move("lost", f"{lost[0]}: {seen.processes[lost[0]].reason}")
    silent = [name for name in expected if name in seen.silent]
    return Move("lost", f"{silent[0]}: does not answer") if silent else None


def _goes_without_some(deployment: Deployment, seen: Seen) -> bool:
    """Whether some servers were given up on, for example because a port is taken, and all others run."""
    states = {seen.processes[name].state for name in _expected(deployment, seen)}
    return GIVEN_UP in states and states <= {GIVEN_UP, UP}


def _expected(deployment: Deployment, seen: Seen) -> list[str]:
    """The servers that should be up now."""
    return [name for name in deployment.server_names if name not in seen.away]
