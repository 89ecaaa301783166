"""The next step of a run or a network, from its row and the supervisor's state. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from brokerweb.experiments.models import RunState
from brokerweb.experiments.states import KEPT
from brokerweb.networks.models import Desired, NetworkState
from overlay.deployment import phases
from overlay.runtime.supervisor_client import Status, is_gone

RUN_STATES = {
    phases.LAUNCHING: RunState.LAUNCHING,
    phases.WARMING: RunState.WARMING,
    phases.MEASURING: RunState.MEASURING,
    phases.DRAINING: RunState.MEASURING,
}
"""Maps the supervisor's phases of a live run to run states."""

NETWORK_STATES = {
    phases.LAUNCHING: NetworkState.STARTING,
    phases.RUNNING: NetworkState.RUNNING,
    phases.DEGRADED: NetworkState.DEGRADED,
    phases.STOPPING: NetworkState.STOPPING,
    phases.STOPPED: NetworkState.STOPPED,
    phases.FAILED: NetworkState.FAILED,
}

CHANGEABLE = (phases.LAUNCHING, phases.RUNNING, phases.DEGRADED)
"""The supervisor's phases in which it takes a newer version of a network."""


@dataclass(frozen=True)
class Step:
    """One step. ``verb`` is the supervisor's command: deploy, change (a network), renew, stop or none; ``to`` is the
    row's next state."""

    verb: str = "none"
    to: str = ""
    reason: str = ""
    ends_in: str = field(default="")
    """For ``to="collecting"``: the final state, if not ``done``."""


def run_step(state: str, *, was_deployed: bool, cancel_requested: bool, status: Status | None, host: str) -> Step:
    """The next step of a run in ``state`` (launching, warming or measuring)."""
    if status is None:
        return _absent_run_step(was_deployed, cancel_requested, host)
    phase = status["phase"]
    measured = bool(status.get("warming_unix_ms"))
    if phase in phases.ENDED and not is_gone(status):
        return Step(verb="renew")
    if phase == phases.FINISHED:
        return Step(to=RunState.COLLECTING)
    if phase == phases.FAILED or (phase == phases.STOPPED and not cancel_requested):
        reason = status.get("reason") or "The supervisor stopped it without giving a reason."
        return _ended(RunState.FAILED, reason, measured)
    if phase == phases.STOPPED:
        return _ended(RunState.CANCELLED, KEPT, measured)
    if cancel_requested:
        return Step(verb="none" if phase == phases.STOPPING else "stop", reason="cancelled")
    return Step(verb="renew", to=RUN_STATES.get(phase, state))


def _absent_run_step(was_deployed: bool, cancel_requested: bool, host: str) -> Step:
    if was_deployed:
        return Step(to=RunState.FAILED, reason=f"The supervisor of host {host} ended, and this run's brokers with it.")
    if cancel_requested:
        return Step(to=RunState.CANCELLED, reason="Cancelled before its brokers started.")
    return Step(verb="deploy")


def _ended(state: str, reason: str, measured: bool) -> Step:
    return Step(to=RunState.COLLECTING, reason=reason, ends_in=state) if measured else Step(to=state, reason=reason)


def network_step(desired: str, state: str, epoch: int, status: Status | None, version: int = 0) -> Step:
    """The next step of a network."""
    if desired == Desired.STOPPED:
        if status is None or (status["phase"] in phases.ENDED and is_gone(status)):
            return Step(to=NetworkState.STOPPED)
        return Step(
            verb="none" if status["phase"] == phases.STOPPING else "stop",
            to=NetworkState.STOPPING,
            reason="stopped by a user",
        )
    if status is None:
        return Step() if state == NetworkState.FAILED else Step(verb="deploy", to=NetworkState.STARTING)
    if status["epoch"] < epoch and status["phase"] not in phases.ENDED:
        return Step(verb="none" if status["phase"] == phases.STOPPING else "stop", reason="started again")
    if status["epoch"] < epoch:
        return Step(verb="deploy" if is_gone(status) else "none", to=NetworkState.STARTING)
    is_older = status.get("version", 0) < version and status["phase"] in CHANGEABLE
    to, reason = NETWORK_STATES[status["phase"]], status.get("reason") or ""
    return Step(verb="change" if is_older else "none", to=to, reason=reason)


def run_progress(status: Status, now_ms: float) -> float:
    """Progress of a live run, 0 to 0.99: launching up to 0.05, then by elapsed time."""
    begun, ends = status.get("warming_unix_ms"), status.get("ends_unix_ms")
    if not begun or not ends or ends <= begun:
        return 0.02
    return round(min(0.99, 0.05 + 0.94 * max(0.0, now_ms - begun) / (ends - begun)), 4)
