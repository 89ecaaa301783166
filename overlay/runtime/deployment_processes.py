"""The processes of one deployment: forked, told to stop, killed and restarted.

``deployment_runner`` decides which of them should run, ``overlay.deployment.fleet`` (pure) when each starts again.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from overlay.core.errors import describe_full_disk
from overlay.core.node import SECOND
from overlay.deployment import fleet
from overlay.faults.churn import CRASH, CRASHED, LEAVE
from overlay.runtime.processes import DISK_FULL, DRAIN, Child, Work, describe_exit_code, fork_all, last_words

Forked = Callable[[str, Child], None]
Tell = Callable[[str, dict[str, Any]], None]
STARTS_AT_ONCE = 32
"""Maximum forks per turn. A fork takes about 2 ms, and clients of the supervisor wait meanwhile."""


class DeploymentProcesses:
    """``work`` prepares a process for its fork, ``forked`` learns of its child, and ``tell`` reports events. ``words``
    is the folder for what processes say at their end."""

    def __init__(
        self,
        words: Path,
        lifeline: int,
        work: Callable[[str, fleet.Process], Work],
        forked: Forked,
        tell: Tell,
        states: Mapping[str, fleet.Process],
    ) -> None:
        words.mkdir(parents=True, exist_ok=True)
        self._words, self._lifeline = words, lifeline
        self._work, self._forked, self._tell = work, forked, tell
        self.states = dict(states)
        """Of the servers, and of each fleet that was started."""
        self._children: dict[str, Child] = {}

    def __len__(self) -> int:
        """How many exist in the system."""
        return len(self._children)

    def __contains__(self, name: str) -> bool:
        """Whether it exists in the system."""
        return name in self._children

    def pids(self) -> dict[str, int]:
        return {name: child.pid for name, child in self._children.items()}

    def up(self, names: Sequence[str]) -> dict[int, int]:
        """The incarnation of each of ``names`` that is up, by index."""
        processes = ((index, self.states[name]) for index, name in enumerate(names))
        return {index: process.launches for index, process in processes if process.state == fleet.UP}

    def ready(self, name: str, now: int) -> None:
        self.states[name] = self.states[name].ready(now)

    def ended(self, name: str, status: int, journal: Path, now: int) -> tuple[int, int, str]:
        """Returns its pid, its exit code and its last words, which are empty unless it failed."""
        child = self._children.pop(name)
        code = os.waitstatus_to_exitcode(status)
        is_drained = self.states[name].grace == fleet.DRAIN_GRACE
        words = last_words(child.words) if code or is_drained else ""
        if code == DISK_FULL and not words:
            words = describe_full_disk(str(journal))
        reason = words if words and code == 0 else describe_exit_code(code, words)
        self.states[name] = self.states[name].ended(now, reason, well=code == 0)
        return child.pid, code, words

    def kill(self, name: str) -> None:
        os.kill(self._children[name].pid, signal.SIGKILL)

    def _stop(self, name: str) -> None:
        os.kill(self._children[name].pid, signal.SIGTERM)

    def restart(self, name: str, reason: str, now: int) -> None:
        """Asked by an operator."""
        if name in self:
            self._stop(name)
        self.states[name] = self.states[name].restart_asked(now, reason)

    def drain(self, name: str, now: int) -> None:
        """Let a server that is up hand over its entries and end."""
        os.kill(self._children[name].pid, DRAIN)
        self.states[name] = self.states[name].stop_sent(now, fleet.DRAIN_GRACE)

    def replace(self, name: str, reason: str, now: int) -> None:
        """The same, and start it with other settings; or start it with them if it was given up on."""
        if name in self:
            os.kill(self._children[name].pid, DRAIN)
        self.states[name] = self.states[name].restart_asked(now, reason, fleet.DRAIN_GRACE).renewed()

    def forget(self, name: str, now: int) -> None:
        """A server without a process is no longer to run: its failures are of no interest."""
        self.states[name] = fleet.Process(since=now, launches=self.states[name].launches)

    def send_away(self, name: str, what: str, now: int) -> None:
        """Churn: a server leaves or crashes, at once, because it may have to start again before the next turn."""
        process = self.states[name].sent_away()
        if name in self and what == CRASH and process.state != fleet.KILLED:
            self.kill(name)
            process = process.kill_sent(now, CRASHED)
        elif name in self and what == LEAVE and process.state in (fleet.STARTING, fleet.UP):
            self._stop(name)
            process = process.stop_sent(now)
        self.states[name] = process

    def turn(self, desired: Mapping[str, fleet.Lifetime], now: int) -> int:
        """Start and end what is due. Returns the time of the next turn."""
        until, starts = now + SECOND, list[str]()
        for action in fleet.plan(desired, self.states, now):
            process = self.states.get(action.name, fleet.Process())
            match action:
                case fleet.Start() if len(starts) == STARTS_AT_ONCE:
                    until = now
                case fleet.Start(name):
                    starts.append(name)
                case fleet.Stop(name):
                    self._stop(name)
                    self.states[name] = process.stop_sent(now)
                case fleet.Kill(name, reason):
                    self.kill(name)
                    self.states[name] = process.kill_sent(now, reason)
                case fleet.GiveUp(name, reason):
                    self.states[name] = process.gave_up(now, reason)
                    self._tell("gave_up", {"process": name, "reason": reason})
                    until = now
                case fleet.Wait():
                    until = min(until, action.until)
        if starts:
            self._start(starts, now)
        return until

    def _start(self, names: Sequence[str], now: int) -> None:
        before = {name: self.states.get(name, fleet.Process()) for name in names}
        started = {name: process.started(now) for name, process in before.items()}
        works = [(self._work(name, process), self._words / f"{name}.txt") for name, process in started.items()]
        children = fork_all(works, (self._lifeline,))
        works.clear()
        gc.collect()  # objects created for the children are in cycles, and automatic collection is off
        for name, child in zip(names, children, strict=False):
            self._children[name], self.states[name] = child, started[name]
            self._forked(name, child)
            after = "" if before[name].was_away else before[name].reason
            self._tell("process_started", {"process": name, "pid": child.pid, "after": after})
