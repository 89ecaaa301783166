"""The bridges of one network: their processes, the list of brokers that they read, and what they report.

Counterparts: ``deployment_runner`` owns them, ``overlay.systems.bridging`` is their interface. Which bridges there are
is told by the network's owner and not kept on disk, because their documents have passwords: an owner that finds others
tells it again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overlay.core.addresses import Address, format_address
from overlay.core.errors import InvalidSetting, shown
from overlay.core.node import SECOND
from overlay.deployment import fleet
from overlay.deployment.deployment import Deployment
from overlay.deployment.fleet import Lifetime
from overlay.runtime.clock import unix_ms
from overlay.runtime.deployment_processes import DeploymentProcesses, Forked, Tell
from overlay.runtime.deployment_status import SHOWN_STATES
from overlay.runtime.processes import Ready, Work
from overlay.systems.bridging import BridgePlace, bridging_of
from overlay.systems.contract import System

MOST = 100
"""Bridges of one network."""
AGAIN = 30 * SECOND
"""After a bridge was given up on, it is started again."""
RENEW_S = 1
"""How often a bridge reads the list of brokers."""
PREFIX = "bridge-"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A bridge that should run."""

    revision: int
    """Another one is another document."""
    document: Mapping[str, Any]


def read_wanted(documents: object, system: System) -> dict[str, Wanted]:
    """``{"1": {"revision": 3, "document": {…}}}`` by name of the process. Raises ``InvalidSetting``."""
    if not isinstance(documents, Mapping) or len(documents) > MOST:
        raise InvalidSetting("bridges", f"must be an object of at most {MOST} bridges by their numbers")
    if documents and bridging_of(system) is None:
        raise InvalidSetting("bridges", f"networks of {system.title} have none")
    return {f"{PREFIX}{number}": _wanted(number, one) for number, one in documents.items()}


def _wanted(number: str, one: object) -> Wanted:
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise InvalidSetting("bridges", f"has numbers as names, not {shown(number)}")
    if not isinstance(one, Mapping) or not isinstance(one.get("revision"), int):
        raise InvalidSetting(f"bridges.{number}", "needs a revision")
    if not isinstance(one.get("document"), Mapping):
        raise InvalidSetting(f"bridges.{number}", "needs a document")
    return Wanted(one["revision"], one["document"])


class Bridges:
    """Empty until ``want`` is called."""

    def __init__(self, deployment: Deployment, lifeline: int, forked: Forked, tell: Tell) -> None:
        self._deployment = deployment
        self._lifeline, self._tell = lifeline, tell
        directory = Path(deployment.directory)
        self._directory = directory / "bridges"
        self._processes = DeploymentProcesses(directory / "words", lifeline, self._work, forked, tell, {})
        self._wanted: dict[str, Wanted] = {}
        self._started: dict[str, int] = {}
        """The revision with which each was started last."""
        self._listed: tuple[Address, ...] | None = None
        self._is_up = False

    def __contains__(self, name: str) -> bool:
        """Whether it exists in the system."""
        return name in self._processes

    def __len__(self) -> int:
        return len(self._processes)

    def want(self, wanted: Mapping[str, Wanted]) -> None:
        """These should run from now on, while their network does. Raises ``OSError``."""
        if wanted:
            self._directory.mkdir(parents=True, exist_ok=True)
        self._wanted = dict(wanted)

    def ready(self, name: str, now: int) -> None:
        self._processes.ready(name, now)

    def ended(self, name: str, status: int, now: int) -> None:
        pid, _, _ = self._processes.ended(name, status, self._directory / name, now)
        process = self._processes.states[name]
        self._tell("process_ended", {"process": name, "pid": pid, "reason": process.reason, "was": process.state})

    def turn(self, brokers: Callable[[], Sequence[Address]], now: int, *, is_up: bool) -> int:
        """Start and end what is due; ``is_up``: whether the network serves clients, and by which brokers.

        Returns the time of the next turn.
        """
        self._is_up = is_up
        try:
            return self._turn(brokers, now)
        except OSError:  # no more processes or no disk: the network goes on, and the next turn tries again
            return now + SECOND

    def _turn(self, brokers: Callable[[], Sequence[Address]], now: int) -> int:
        if self._is_up and self._wanted:
            self._list(brokers())
        wanted = self._wanted if self._is_up and self._listed is not None else {}
        for name, process in list(self._processes.states.items()):
            if not process.lives and self._starts_over(name, process, now):
                del self._processes.states[name]
        return self._processes.turn({name: Lifetime.ALWAYS for name in wanted if self._is_current(name)}, now)

    def _starts_over(self, name: str, process: fleet.Process, now: int) -> bool:
        """Whether its earlier processes no longer count."""
        is_rested = process.state == fleet.GIVEN_UP and now >= process.since + AGAIN
        return is_rested or name not in self._wanted or self._started.get(name) != self._wanted[name].revision

    def _is_current(self, name: str) -> bool:
        """One that runs with another document ends first."""
        return name not in self or self._started[name] == self._wanted[name].revision

    def _list(self, brokers: Sequence[Address]) -> None:
        """Write the list of brokers, if it is another one."""
        now = tuple(brokers)
        if now == self._listed:
            return
        text = {"renew_after_s": RENEW_S, "brokers": [{"address": format_address(one)} for one in now]}
        with suppress(OSError):  # a full disk: the next turn tries again
            new = self._directory / "brokers.new"
            new.write_text(json.dumps(text))
            new.replace(self._brokers)
            self._listed = now

    @property
    def _brokers(self) -> Path:
        return self._directory / "brokers.json"

    def _report(self, name: str) -> Path:
        return self._directory / f"{name}.json"

    def _work(self, name: str, process: fleet.Process) -> Work:
        wanted = self._wanted[name]
        self._started[name] = wanted.revision
        place = BridgePlace(
            f"{self._deployment.id}-{name.removeprefix(PREFIX)}",
            str(self._brokers),
            str(self._report(name)),
            self._lifeline,
        )

        def do(on_ready: Ready) -> int:
            bridging = bridging_of(self._deployment.system)
            assert bridging is not None
            return bridging.run(wanted.document, place, lambda: on_ready("ready"))

        return Work(do)

    # ---- output

    def status(self) -> list[dict[str, Any]]:
        """A row for each that should run or still does. ``report`` is what its process said last; empty: nothing."""
        known = self._processes.states
        others = [name for name, process in known.items() if process.lives and name not in self._wanted]
        return [self._row(name, known.get(name, fleet.Process())) for name in (*self._wanted, *others)]

    def _row(self, name: str, process: fleet.Process) -> dict[str, Any]:
        pid, wanted = self._processes.pids().get(name), self._wanted.get(name)
        is_replaced = wanted is not None and self._started.get(name) != wanted.revision
        return {
            "number": int(name.removeprefix(PREFIX)),
            "revision": wanted.revision if wanted else 0,
            "pid": pid,
            "state": self._state(process, is_replaced=is_replaced),
            "reason": process.reason,
            "restarts": process.restarted,
            "since_unix_ms": unix_ms(process.since),
            "report": {} if pid is None or is_replaced else _read(self._report(name), pid),
        }

    def _state(self, process: fleet.Process, *, is_replaced: bool) -> str:
        if not self._is_up:
            return "stopped"
        return "starting" if is_replaced or not process.launches else SHOWN_STATES[process.state]


def _read(path: Path, pid: int) -> dict[str, Any]:
    """The report of this process; empty if the last one is of an earlier process."""
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text())
        if isinstance(found, dict) and found.get("pid") == pid:
            return found
    return {}
