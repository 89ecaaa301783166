"""Changes of a network while it runs: observes it and takes the steps of ``overlay.deployment.rollout`` (pure).

Counterpart: ``deployment_runner`` owns the processes and the assembly. Nothing here is remembered but what can be seen
again after a crash: which brokers run, which links they have, and what each was started with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overlay.core.links import Link
from overlay.core.node import MILLISECOND
from overlay.deployment import fleet, rollout
from overlay.deployment.deployment import Deployment
from overlay.deployment.rollout import BUSY, FAILED, Ends, Step
from overlay.runtime.deployment_processes import DeploymentProcesses
from overlay.systems.cores import Assembly

SETTINGS_CHANGED = "restarted with changed settings"
STATES = {fleet.UP: rollout.UP, fleet.GIVEN_UP: FAILED}
"""Of processes that should run; all others are ``BUSY``."""
LOOK = 50 * MILLISECOND
"""Between two looks at a network that changes: in a large one, each takes a while."""
Tell = Callable[[str, dict[str, Any]], None]


class NetworkChanges:
    """``older`` are the settings of brokers that run with others than those of ``deployment``, by index."""

    def __init__(
        self,
        deployment: Deployment,
        processes: DeploymentProcesses,
        assembly: Assembly,
        tell: Tell,
        older: Mapping[int, Any],
    ) -> None:
        self.deployment = deployment
        """The desired state."""
        self.away: set[int] = set(deployment.absent)
        """Servers that should have no process now: those that should not run, once they were told, and those that are
        to be added, until then."""
        self.older = dict(older)
        self._processes, self._assembly, self._tell = processes, assembly, tell
        self._links: dict[Ends, Link] = {link.ends: link for link in deployment.graph.links}
        self._desired_links = dict(self._links)
        self._shaped = _shaped(deployment)
        self._started: dict[int, Any] = {}
        """What each server was started with."""
        self._moving: set[int] = set()
        """Servers that are being added or replaced, until they are up or given up on."""
        self._steps: list[Step] = []
        self._count = 0
        """How many steps this version of the network had."""
        self._is_open = bool(older)
        self._next_look = 0
        if self.away:
            self._reshape()

    def accept(self, deployment: Deployment, now: int) -> None:
        """Take over a newer version of the desired state."""
        known = len(self.deployment.server_names)
        if deployment.setup.settings != self.deployment.setup.settings:
            settings = self.deployment.setup.settings
            self.older = {**{i: settings for i in range(known) if i not in self.away}, **self.older}
            self.older = {i: old for i, old in self.older.items() if old != deployment.setup.settings}
        self.deployment = deployment
        self._desired_links = {link.ends: link for link in deployment.graph.links}
        self._shaped = _shaped(deployment)
        for index in range(known, len(deployment.server_names)):
            self.away.add(index)
            self._processes.states[deployment.server_names[index]] = fleet.Process(since=now)
        self._reshape()
        self._is_open, self._steps, self._next_look = True, [], now
        self._count = 0

    def settings_of(self, index: int) -> Any:
        """The settings to start a server with, which is noted."""
        settings = self.older.get(index, self.deployment.setup.settings)
        self._started[index] = settings, self._shaped[index]
        return settings

    def excused(self) -> set[str]:
        """The names of servers that are down because of a change."""
        return {self.deployment.server_names[index] for index in self.away | self._moving}

    def turn(self, up: Mapping[int, int], silent: frozenset[str], now: int) -> None:
        """Take the steps that are due."""
        for index in list(self._moving):
            if self._state(index) in (fleet.UP, fleet.GIVEN_UP):
                self._moving.discard(index)
        if not self._is_open or now < self._next_look:
            return
        self._next_look = now + LOOK
        desired, seen = self._desired(), self._observed(up, silent)
        begun = rollout.due(self._remaining(desired, seen), desired, seen)
        for step in begun:
            self._take(step, now)
        if begun:
            self._reshape()
            seen = self._observed(up, silent)
        self._steps = self._remaining(desired, seen)
        self._count = max(self._count, len(self._steps))
        self._is_open = bool(self._steps) or not {BUSY, FAILED}.isdisjoint(seen.states.values()) or not seen.is_settled
        if not self._is_open:
            self._tell("changed", {"reason": str(self.deployment.version)})

    @staticmethod
    def _remaining(desired: rollout.Desired, seen: rollout.Observed) -> list[Step]:
        return rollout.remaining(desired, seen, tells_splits=False)  # which the preview did; here it would take time

    def _desired(self) -> rollout.Desired:
        indices = frozenset(range(len(self.deployment.server_names))) - self.deployment.absent
        links = frozenset(self._desired_links)
        settings = self.deployment.setup.settings
        return rollout.Desired(indices, links, {index: (settings, self._shaped[index]) for index in indices})

    def _observed(self, up: Mapping[int, int], silent: frozenset[str]) -> rollout.Observed:
        states = {}
        for index, name in enumerate(self.deployment.server_names):
            if index not in self.away:
                states[index] = FAILED if name in silent else STATES.get(self._state(index), BUSY)
            elif self._processes.states[name].lives:
                states[index] = BUSY
        return rollout.Observed(states, frozenset(self._links), self._started, self._assembly.is_idle(up))

    def _state(self, index: int) -> str:
        return self._processes.states[self.deployment.server_names[index]].state

    # --- steps ---

    def _take(self, step: Step, now: int) -> None:
        names = [self.deployment.server_names[index] for index in step.brokers]
        for broker in step.brokers:
            self._tell(f"change_{step.verb}", {"broker": broker})
        match step.verb:
            case rollout.START:
                self.away.discard(step.brokers[0])
                self._moving.add(step.brokers[0])
                self.older.pop(step.brokers[0], None)
            case rollout.JOIN:
                a, b = step.brokers
                self._links[a, b] = self._desired_links[a, b]
            case rollout.CUT:
                self._links = {ends: link for ends, link in self._links.items() if ends != step.brokers}
            case rollout.DRAIN:
                self._send_away(step.brokers[0], names[0], now)
            case rollout.REPLACE:
                self.older.pop(step.brokers[0], None)
                self._moving.add(step.brokers[0])
                self._processes.replace(names[0], SETTINGS_CHANGED, now)

    def _send_away(self, index: int, name: str, now: int) -> None:
        self.away.add(index)
        if self._processes.states[name].state == fleet.UP:
            self._processes.drain(name, now)
        elif not self._processes.states[name].lives:
            self._processes.forget(name, now)

    def _reshape(self) -> None:
        gone = {index for index, state in self.deployment.members if state == rollout.REMOVED} & self.away
        self._links = {ends: link for ends, link in self._links.items() if gone.isdisjoint(ends)}
        self._assembly.reshape(len(self.deployment.server_names), self._links.values(), frozenset(self.away))

    # --- output ---

    def status(self, up: Mapping[int, int], silent: frozenset[str]) -> dict[str, Any]:
        """The progress of the newest version."""
        waits = self._waits_for(up, silent) if self._is_open else ""
        return {
            "version": self.deployment.version,
            "is_done": not self._is_open,
            "steps": self._count,
            "left": [{"step": step.verb, "brokers": list(step.brokers)} for step in self._steps],
            "waits_for": waits,
        }

    def _waits_for(self, up: Mapping[int, int], silent: frozenset[str]) -> str:
        seen = self._observed(up, silent)
        broker = rollout.waits_for(self._steps, self._desired(), seen)
        if broker is None:
            broker = next((index for index, state in sorted(seen.states.items()) if state in (FAILED, BUSY)), None)
        if broker is None:
            return ""
        if broker < 0:
            return self._assembly.trouble or "brokers are joining their neighbours"
        name = self.deployment.server_names[broker]
        if seen.state(broker) != FAILED:
            return f"{name} is starting or leaving"
        if name in silent:
            return f"{name} does not answer"
        return f"{name} has failed: {self._processes.states[name].reason}"


def _shaped(deployment: Deployment) -> dict[int, frozenset[Link]]:
    """The links of each server that delay or lose datagrams, which a process learns at its start."""
    found: dict[int, set[Link]] = {index: set() for index in range(len(deployment.server_names))}
    for link in deployment.graph.links:
        if not link.shape().is_clear:
            for end in link.ends:
                found[end].add(link)
    return {index: frozenset(links) for index, links in found.items()}
