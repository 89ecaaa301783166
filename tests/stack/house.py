"""The processes of an installation, as the operating system shows them, and processes that should not exist."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from overlay.runtime.supervisor_client import SupervisorClient, SupervisorRefused, SupervisorUnavailable
from tests.waiting import BOUND_S, wait_for

PARTS = {
    "redis": "redis.conf",
    "redis-of-logs": "redis-of-logs.conf",
    "web": "brokerweb.asgi:application",
    "worker": "waxwing@%h",
    "spark": "spark@%h",
    "beat": "--pidfile=",
    "livefeed": "manage.py livefeed",
}
"""Each part by words of its command that no other part has."""
SUPERVISOR = "-m overlay supervise"


@dataclass(frozen=True)
class Tree:
    """The processes of a house at one moment."""

    wrappers: dict[str, psutil.Process] = field(default_factory=dict)
    parts: dict[str, psutil.Process] = field(default_factory=dict)
    supervisors: list[psutil.Process] = field(default_factory=list)
    """More than one only until the second has seen that there is a first."""
    nodes: list[psutil.Process] = field(default_factory=list)
    """Brokers and client fleets: what a supervisor has forked."""
    strays: list[psutil.Process] = field(default_factory=list)
    """Those of this house that none of the others has as a child."""


class House:
    """The house that runs on ``var``."""

    def __init__(self, var: Path) -> None:
        self.var = var
        self._supervisor = SupervisorClient(var / "supervisor.sock", timeout=BOUND_S)

    # --- who is there -------------------------------------------------------------------------------------------------

    def processes(self) -> dict[int, psutil.Process]:
        """Everything that was started for this house, however far removed, by pid."""
        return {process.pid: process for process in psutil.process_iter() if self._is_mine(process)}

    def _is_mine(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get("WAXWING_VAR") == str(self.var) and is_alive(process)
        except psutil.Error:
            return False

    def tree(self) -> Tree:
        """All of them, sorted by whose child they are."""
        tree, rest = Tree(), self.processes()
        supervisors = {pid: process for pid, process in rest.items() if SUPERVISOR in command(process)}
        for pid, process in supervisors.items():
            del rest[pid]
            (tree.nodes if parent(process) in supervisors else tree.supervisors).append(process)
        up = rest.pop(int((self.var / "up.pid").read_text()))
        for wrapper in offspring(up, recursive=False):
            name = next((name for name, words in PARTS.items() if words in command(wrapper)), None)
            if name is None:
                continue
            rest.pop(wrapper.pid, None)
            tree.wrappers[name] = wrapper
            # A Redis server writes its title over its environment, so that only its parent tells whose it is.
            tree.parts.update((name, child) for child in offspring(wrapper, recursive=False))
            for process in offspring(wrapper, recursive=True):
                rest.pop(process.pid, None)
        tree.strays.extend(rest.values())
        return tree

    def pid(self, part: str) -> int | None:
        """Of the part's own process, not of its wrapper; ``None`` while there is none."""
        found = self.tree().parts.get(part)
        return found.pid if found else None

    def nodes(self) -> set[int]:
        """The pids of all brokers and fleets."""
        return {node.pid for node in self.tree().nodes}

    def deployments(self) -> list[dict[str, Any]]:
        """What the supervisor says of each; none where there is no supervisor."""
        try:
            return [self._supervisor.status(id) for id in self._supervisor.hello()["deployments"]]
        except (SupervisorUnavailable, SupervisorRefused):
            return []

    def deployment(self, id: str) -> dict[str, Any]:
        """What the supervisor says of one of them."""
        return self._supervisor.status(id)

    def unwanted(self) -> list[str]:
        """What runs and should not: strays, a second supervisor, brokers and fleets that no deployment has."""
        tree = self.tree()
        wanted = {
            process["pid"] for status in self.deployments() for process in (*status["brokers"], *status["clients"])
        }
        found = [*tree.strays, *tree.supervisors[1:], *(node for node in tree.nodes if node.pid not in wanted)]
        return [f"{process.pid}, child of {parent(process)}: {command(process)}" for process in found]

    def whole(self) -> bool:
        """Whether every part and one supervisor run, and no other process."""
        tree = self.tree()
        return set(tree.parts) == set(PARTS) and len(tree.supervisors) == 1 and not self.unwanted()

    # --- what befalls it ----------------------------------------------------------------------------------------------

    def kill(self, part: str, *, wrapper: bool = False) -> None:
        """``kill -9`` of a part, or of what wraps it; returns when there is another in its place."""
        tree = self.tree()
        former = tree.parts[part]
        kill((tree.wrappers if wrapper else tree.parts)[part].pid)
        wait_for(lambda: not is_alive(former), f"{part} is gone")
        wait_for(lambda: self.pid(part) is not None, f"{part} is started again")

    def kill_supervisor(self) -> None:
        """``kill -9`` of the supervisor; all its brokers and fleets must go with it."""
        tree = self.tree()
        kill(tree.supervisors[0].pid)
        wait_for(lambda: not any(map(is_alive, tree.nodes)), "its brokers and fleets are gone")


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """A process that neither works nor dies."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs; one that is dead and not yet reaped does not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def offspring(process: psutil.Process, *, recursive: bool) -> list[psutil.Process]:
    try:
        return [child for child in process.children(recursive=recursive) if is_alive(child)]
    except psutil.Error:
        return []


def parent(process: psutil.Process) -> int:
    try:
        return int(process.ppid())
    except psutil.Error:
        return 0


def command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
