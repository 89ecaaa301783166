"""What comes next for a deployment: ``next_move(deployment, seen, now)``, and which processes a phase wants. Pure.

Counterparts: ``overlay.deployment.deployment`` is what is wanted, ``overlay.deployment.fleet`` keeps processes, and
the system's assembly the overlay; ``overlay.runtime.deployment_runner`` tells them what it sees and does what they say.

::

    run      launching ──> warming ──> measuring ──> draining ──> finished
    network  launching ──> running <──> degraded
    both     any of these ──> stopping ──> stopped        and        any of these ──> failed
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from overlay.core.node import SECOND
from overlay.deployment.deployment import NETWORK, RUN, Deployment
from overlay.deployment.fleet import GIVEN_UP, UP, Lifetime, Process
from overlay.load.windows import measured_between

LAUNCHING, WARMING, MEASURING, DRAINING, FINISHED = "launching", "warming", "measuring", "draining", "finished"
RUNNING, DEGRADED = "running", "degraded"
STOPPING, STOPPED, FAILED = "stopping", "stopped", "failed"
ENDED = (FINISHED, STOPPED, FAILED)

LAUNCH_LIMIT_S = 120.0
"""A thousand brokers start and join within this on two cores; what has not by then never will."""
FLEET_LEAD_S = 2.0
"""From forking the fleets to the first client's start: they import and open their sockets meanwhile."""
DRAIN_LIMIT_S = 20.0
"""A client gives a request up after 10 s; a fleet still there after twice that hangs."""

_ALIVE = {RUN: (LAUNCHING, WARMING, MEASURING, DRAINING), NETWORK: (LAUNCHING, RUNNING, DEGRADED)}

TRANSITIONS: dict[tuple[str, str, str], str] = {
    (RUN, LAUNCHING, "assembled"): WARMING,
    (RUN, WARMING, "ramped"): MEASURING,
    (RUN, MEASURING, "elapsed"): DRAINING,
    (RUN, DRAINING, "drained"): FINISHED,
    (NETWORK, LAUNCHING, "assembled"): RUNNING,
    (NETWORK, RUNNING, "lost"): DEGRADED,
    (NETWORK, DEGRADED, "assembled"): RUNNING,
    **{(kind, phase, "stop"): STOPPING for kind, phases in _ALIVE.items() for phase in phases},
    **{(kind, phase, "fail"): FAILED for kind, phases in _ALIVE.items() for phase in phases},
    (RUN, STOPPING, "gone"): STOPPED,
    (NETWORK, STOPPING, "gone"): STOPPED,
}
"""(kind, phase, what happened) -> phase; a missing key is a mistake of ours and raises ``KeyError``."""


@dataclass(frozen=True, slots=True)
class Move:
    """What happened, and why in words; empty where the word says it all."""

    happened: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the driver sees of a deployment. Times are monotonic nanoseconds."""

    phase: str
    since: int
    processes: Mapping[str, Process]
    is_assembled: bool
    """Whether every broker is up, has joined each neighbour that is up and is told to watch them."""
    trouble: str
    """What keeps the overlay from being assembled; empty while nothing does for good."""
    renewed: int
    stop_reason: str | None
    """Why somebody wants it stopped; ``None`` while nobody does."""
    workload_start: int | None
    """When the first client starts, once fleets were forked."""
    silent: Set[str] = frozenset()
    """Brokers that run and do not answer, by name."""


def is_alive(deployment: Deployment, phase: str) -> bool:
    """Whether a phase wants processes."""
    return phase in _ALIVE[deployment.kind]


def wanted(deployment: Deployment, phase: str, away: Set[int] = frozenset()) -> dict[str, Lifetime]:
    """The processes that a phase wants, brokers first; none of those ``away`` by churn, which is no reason to fail."""
    if not is_alive(deployment, phase):
        return {}
    names = [name for index, name in enumerate(deployment.server_names) if index not in away]
    processes = dict.fromkeys(names, Lifetime.ALWAYS)
    if phase in (WARMING, MEASURING, DRAINING):
        processes |= dict.fromkeys(deployment.fleet_names, Lifetime.ONCE)
    return processes


def schedule(deployment: Deployment, workload_start: int) -> tuple[int, int]:
    """When measuring begins and ends, given when the first client starts. Nanoseconds."""
    assert deployment.workload is not None
    return measured_between(deployment.workload, workload_start)


def next_move(deployment: Deployment, seen: Seen, now: int) -> Move | None:
    """The move that is due, if any."""
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
    """Why it cannot go on; empty when it can."""
    if deployment.lease_s is not None and now > seen.renewed + deployment.lease_s * SECOND:
        return f"lease expired: nobody renewed it for {deployment.lease_s:g} s"
    given_up = [f"{name}: {process.reason}" for name, process in seen.processes.items() if process.state == GIVEN_UP]
    if given_up and (
        deployment.kind == RUN or seen.phase == LAUNCHING or len(given_up) == len(deployment.server_names)
    ):
        return given_up[0]
    if seen.phase == LAUNCHING:
        late = now > seen.since + LAUNCH_LIMIT_S * SECOND
        return seen.trouble or (f"the overlay was not assembled within {LAUNCH_LIMIT_S:g} s" if late else "")
    if seen.phase in (WARMING, MEASURING) and (ended := _ended_fleets(deployment, seen)):
        assert seen.workload_start is not None
        return (
            f"{ended[0]} ended before the measurement did" if now < schedule(deployment, seen.workload_start)[1] else ""
        )
    if seen.phase == DRAINING and now > seen.since + DRAIN_LIMIT_S * SECOND:
        return f"clients did not end within {DRAIN_LIMIT_S:g} s after the measurement"
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
    if seen.phase in (LAUNCHING, DEGRADED):
        return Move("assembled") if seen.is_assembled and not seen.silent else None
    lost = [name for name in deployment.server_names if seen.processes[name].state != UP]
    if lost:
        return Move("lost", f"{lost[0]}: {seen.processes[lost[0]].reason}")
    silent = [name for name in deployment.server_names if name in seen.silent]
    return Move("lost", f"{silent[0]}: does not answer") if silent else None
