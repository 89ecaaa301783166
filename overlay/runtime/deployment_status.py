"""What the supervisor's socket reports of the processes of a deployment. Pure; ``DeploymentRunner`` has the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from overlay.core.addresses import Address, format_address
from overlay.core.processes import role_of
from overlay.deployment import fleet
from overlay.deployment.rollout import REMOVED, RUNNING
from overlay.runtime.clock import unix_ms

NOT_ANSWERING = "not answering"
"""The displayed state of a broker whose process runs without any sign of life."""
AWAY = "away"
"""The displayed state of a broker that is away by churn."""
DRAINING = "draining"
"""The displayed state of a broker that hands over its entries and leaves, while its network goes on."""
SHOWN_STATES = {
    fleet.WAITING: "restarting",
    fleet.STARTING: "starting",
    fleet.UP: "up",
    fleet.STOPPING: "stopped",
    fleet.KILLED: "restarting",
    fleet.GIVEN_UP: "failed",
}


@dataclass(frozen=True, slots=True)
class Observed:
    """The processes of a deployment at one time."""

    processes: Mapping[str, fleet.Process]
    pids: Mapping[str, int]
    """Of those that run."""
    is_alive: bool
    """Whether its phase restarts processes."""
    away: Collection[int]
    """Indices of servers that are away by churn."""
    silent: Collection[str]
    """Names of servers that run without any sign of life."""
    members: Mapping[int, str] = field(default_factory=dict)
    """The desired states of servers of a network that should not run."""
    leaving: Collection[int] = ()
    """Servers of a network that have no process, or have been told to leave."""
    older: Collection[int] = ()
    """Servers of a network that a rolling change of settings has not reached."""

    faults: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Names of faults that an operator has begun, by server."""
    accepts: Mapping[str, str] = field(default_factory=dict)
    """``System.stream_roles``."""

    def servers(self, names: Sequence[str], addresses: Sequence[Address]) -> list[dict[str, Any]]:
        """A row for each server, by index, without those that were removed and have ended.

        ``wanted`` is its desired state. ``is_old``: a rolling change of settings has not reached it. ``faults``:
        those that an operator has begun, if there are any. ``accepts``: what clients speak that connect by TCP to its
        address, if it has connections.
        """
        rows = []
        for index, name in enumerate(names):
            wanted = self.members.get(index, RUNNING)
            if wanted != REMOVED or self.processes[name].lives:
                row = {"index": index, "name": name, "address": format_address(addresses[index])}
                told = {"wanted": wanted, "is_old": index in self.older}
                begun = {"faults": list(self.faults[index])} if index in self.faults else {}
                spoken = {"accepts": self.accepts[role]} if (role := role_of(name)) in self.accepts else {}
                rows.append({**row, **self._server(index, name), **told, **begun, **spoken})
        return rows

    def fleets(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """A row for each client fleet that was started."""
        return [{"name": name, **self._process(name)} for name in names if name in self.processes]

    def _server(self, index: int, name: str) -> dict[str, Any]:
        row = self._process(name)
        if index in self.away and self.is_alive:
            return row | {"state": AWAY}
        if index in self.leaving:
            return row | {"state": DRAINING if self.processes[name].lives else "stopped"}
        return row | {"state": NOT_ANSWERING} if name in self.silent else row

    def _process(self, name: str) -> dict[str, Any]:
        process = self.processes[name]
        return {
            "pid": self.pids.get(name),
            "state": self._state(process),
            "reason": process.reason,
            "restarts": process.restarted,
            "since_unix_ms": unix_ms(process.since),
        }

    def _state(self, process: fleet.Process) -> str:
        if process.state == fleet.WAITING:
            if process.ended_well or not self.is_alive:
                return "stopped"
            return "starting" if process.launches == 0 else "restarting"
        return SHOWN_STATES[process.state]
