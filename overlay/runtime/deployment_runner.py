"""Runs one deployment on this host: its processes, its overlay and its phases, by repeated calls of ``turn``.

Decisions are made by pure modules (``overlay.deployment.phases``, ``overlay.deployment.fleet``, the system's assembly).
The supervisor owns the loop and reports events (``child_ready``, ``child_ended``, ``renew``, ``stop``).
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from overlay.core.addresses import Address, parse_address
from overlay.core.errors import WaxwingError, WireError, describe_os_error
from overlay.core.node import MILLISECOND, SECOND
from overlay.core.silence import Silence
from overlay.deployment import fleet, phases
from overlay.deployment.deployment import NETWORK, RUN, Deployment
from overlay.faults.faults import BEGAN, ENDED
from overlay.journal.facts import Event
from overlay.log.topics import Record
from overlay.runtime.bridges import Bridges
from overlay.runtime.clock import unix_ms
from overlay.runtime.deployment_processes import DeploymentProcesses, Forked
from overlay.runtime.deployment_status import Observed
from overlay.runtime.network_changes import NetworkChanges
from overlay.runtime.operated_faults import OperatedFaults
from overlay.runtime.orders import Orders
from overlay.runtime.processes import DISK_FULL, Work
from overlay.runtime.reporting import supervisor_journal
from overlay.runtime.run_course import RunCourse
from overlay.runtime.watch import Journals, Pings, Watch
from overlay.runtime.work import Job

LOG_STEP_NS = 20 * MILLISECOND
"""Of a turn, to read what a run left in its log: other deployments and commands wait meanwhile."""
TIMES = ("warming_unix_ms", "measuring_unix_ms", "ends_unix_ms")
"""In the status of a run; ``None`` until its workload has a start."""


class DeploymentRunner:
    """A deployment and everything that runs for it."""

    def __init__(
        self,
        deployment: Deployment,
        addresses: tuple[Address, ...],
        orders: Orders,
        lifeline: int,
        forked: Forked,
        now: int,
        *,
        ran_before: bool = False,
        older: Mapping[int, Any] | None = None,
    ) -> None:
        """``ran_before``: its brokers were up under an earlier supervisor, so failed starts are retried. ``older``: the
        settings of those that a rolling change has not reached."""
        self.deployment = deployment
        self.addresses = addresses
        """The address of each broker, kept over all restarts."""
        self.phase = phases.LAUNCHING
        self.reason = ""
        self._since = self._zero = now
        self._unrenewed = Silence(now)
        self._times: dict[str, int | None] = dict.fromkeys(TIMES)
        self._stop_reason: str | None = None
        self._workload_start: int | None = None
        self._assembly = deployment.system.make_assembly(deployment.setup)
        self._orders = orders
        self._lifeline = lifeline
        self._directory = Path(deployment.directory)
        states = {name: fleet.Process(since=now, was_ready=ran_before) for name in deployment.server_names}
        words = self._directory / "words"
        self._processes = DeploymentProcesses(words, lifeline, self._work, forked, self._tell, states)
        self.bridges = Bridges(deployment, lifeline, forked, self._tell)
        self._course = RunCourse(deployment, self._processes, self._tell)
        self._operated = OperatedFaults()
        self.changes = NetworkChanges(deployment, self._processes, self._assembly, self._tell, older or {})
        is_network = deployment.kind == NETWORK  # which keeps answering even if its journal cannot be written
        self._journal = supervisor_journal(self._journal_path("supervisor"), now, is_forgiving=is_network)
        self._flushed = now
        self._pings = Pings(deployment.system.ping) if is_network else None
        self._watch = Watch(self._pings.heard if self._pings else Journals(self._journal_path).heard)
        self._has_log = deployment.system.log_of(deployment.setup) is not None
        self._left: Iterator[Record] | None = None
        """What a run left in its log, from where ``_end_log`` goes on."""

    def _journal_path(self, process: str) -> Path:
        return self._directory / "journal" / f"{process}.journal"

    # --- events and commands ------------------------------------------------------------------------------------------

    @property
    def is_active(self) -> bool:
        """Whether it still runs or occupies anything."""
        return self.phase not in phases.ENDED or bool(self._processes) or bool(self.bridges) or self._has_log

    @property
    def is_kept(self) -> bool:
        """Whether to deploy it again after a crash of the supervisor: a network that was not stopped and has not
        failed."""
        wanted = self._stop_reason is None and phases.is_alive(self.deployment, self.phase)
        return self.deployment.kind == NETWORK and wanted

    def renew(self, now: int) -> None:
        self._unrenewed.hear(now)

    def adopt(self, epoch: int) -> None:
        """Set a new owner."""
        self.deployment = replace(self.deployment, epoch=epoch)

    def change(self, deployment: Deployment, addresses: tuple[Address, ...], now: int) -> None:
        """Take over a newer version of a network. Raises ``WaxwingError`` if it ends."""
        self._require_alive("it cannot be changed")
        self.deployment, self.addresses = deployment, addresses
        self.changes.accept(deployment, now)
        self._tell("changing", {"reason": str(deployment.version)})

    def _require_alive(self, else_what: str) -> None:
        if not phases.is_alive(self.deployment, self.phase) or self._stop_reason is not None:
            raise WaxwingError(f"{self.deployment.id} is {self.phase}, so {else_what}")

    def stop(self, reason: str) -> None:
        """Idempotent; the first reason is kept."""
        if self._stop_reason is None and self.phase not in phases.ENDED:
            self._stop_reason = reason

    def note(self, reason: str) -> None:
        """A reason to display that does not end the deployment."""
        self.reason = reason
        self._tell("noted", {"reason": reason})

    def kill_broker(self, index: int) -> bool:
        """Kill a broker, for fault injection. Returns whether it had a process."""
        name = self.deployment.server_names[index]
        if name not in self._processes:
            return False
        self._tell("fault_injected", {"broker": index, "kind": "kill"})
        self._processes.kill(name)
        return True

    def operate(self, index: int, name: str, begins: bool) -> None:
        """Begin or end a fault of the system at one server of a network. Idempotent for faults that last. Raises
        ``WaxwingError``."""
        self._require_alive("its servers cannot be operated")
        if self.deployment.kind != NETWORK:
            raise WaxwingError(f"{self.deployment.id} is a run; its faults are planned")
        fault = self._operated.set(self.deployment, index, name, begins)
        if fault is not None:
            self._tell(BEGAN if begins else ENDED, {"label": fault.label, "broker": index})

    def restart_broker(self, index: int, restarts: int, reason: str, now: int) -> None:
        """Restart a broker that has been restarted ``restarts`` times so far. If it has been restarted more often, do
        nothing, so that the command is idempotent. Raises ``WaxwingError``.
        """
        name = self.deployment.server_names[index]
        process = self._processes.states[name]
        self._require_alive("its brokers cannot be restarted")
        if process.restarted != restarts or process.state not in (fleet.UP, fleet.GIVEN_UP):
            return
        self._processes.restart(name, reason, now)
        self._tell("restart_asked", {"broker": index, "reason": reason})

    def child_ready(self, name: str, text: str, now: int) -> None:
        (self.bridges if name in self.bridges else self._processes).ready(name, now)
        with suppress(WireError):
            if name in self.deployment.server_names:
                address = parse_address(text)
                self.addresses = tuple(
                    address if name == other else known
                    for other, known in zip(self.deployment.server_names, self.addresses, strict=True)
                )

    def child_ended(self, name: str, status: int, now: int) -> None:
        if name in self.bridges:
            self.bridges.ended(name, status, now)
            return
        pid, code, words = self._processes.ended(name, status, self._journal_path(name), now)
        if code == DISK_FULL and self.deployment.kind == RUN:  # a restarted process could not write either
            self._fail(words, now)
        process = self._processes.states[name]
        self._tell("process_ended", {"process": name, "pid": pid, "reason": process.reason, "was": process.state})

    # --- the turn -----------------------------------------------------------------------------------------------------

    def turn(self, now: int) -> int:
        """Do everything that is due. Returns the monotonic time (ns) of the next turn."""
        try:
            self.addresses = self._operated.addresses(self.addresses)
            if phases.is_alive(self.deployment, self.phase):
                self._watch.look(self._addresses_up(), now)
            while self.phase not in phases.ENDED and (move := phases.next_move(self.deployment, self._seen(now), now)):
                self._move(move, now)
            self._follow_changes(now)
            until = min(self._follow_course(now), self._run_processes(now), self._assemble(now), now + SECOND // 4)
            if self._has_log and self.phase in phases.ENDED and not self._processes:
                until = min(until, self._end_log(now))
            is_up = self.phase in phases.SERVING and self._stop_reason is None
            until = min(until, self.bridges.turn(self._answering, now, is_up=is_up))
            if now >= self._flushed + SECOND:
                self._journal.flush()
                self._flushed = now
            return until
        except OSError as error:  # a full disk, or no more processes: only this deployment fails
            self._fail(describe_os_error(error), now)
        except Exception as error:  # noqa: BLE001  a bug of one system must not end the others' deployments
            self._fail_by_bug(error, now)
        return now + SECOND // 10

    def _seen(self, now: int) -> phases.Seen:
        return phases.Seen(
            phase=self.phase,
            since=self._since,
            processes=self._processes.states,
            is_assembled=self._assembly.is_complete(self._up()),
            trouble=self._assembly.trouble,
            renewed=now - self._unrenewed.look(now),
            stop_reason=self._stop_reason,
            workload_start=self._workload_start,
            silent=self._watch.silent,
            away=self.changes.excused(),
        )

    def _up(self) -> dict[int, int]:
        """The incarnation of each running broker, by index."""
        return self._processes.up(self.deployment.server_names)

    def _addresses_up(self) -> dict[str, Address]:
        return {self.deployment.server_names[index]: self.addresses[index] for index in self._up()}

    def _answering(self) -> list[Address]:
        return [address for name, address in self._addresses_up().items() if name not in self._watch.silent]

    def _move(self, move: phases.Move, now: int) -> None:
        self.phase = phases.TRANSITIONS[self.deployment.kind, self.phase, move.happened]
        self._since = now
        # A network that recovered keeps showing the reason of the failure.
        self.reason = move.reason or (self.reason if self.deployment.kind == NETWORK else "")
        if self.phase == phases.WARMING:
            self._workload_start = now + round(phases.FLEET_LEAD_S * SECOND)
            measuring, end = phases.schedule(self.deployment, self._workload_start)
            self._times = dict(zip(TIMES, map(unix_ms, (now, measuring, end)), strict=True))
        self._tell("phase", {"phase": self.phase, "reason": self.reason})
        if self.phase in phases.ENDED:
            self._journal.flush()

    def _fail(self, reason: str, now: int) -> None:
        """Does not write to the journal, which may be the cause."""
        if self.phase not in phases.ENDED:
            self.phase, self.reason, self._since = phases.FAILED, reason, now

    def _fail_by_bug(self, error: Exception, now: int) -> None:
        traceback.print_exception(error)
        self._fail(f"{type(error).__name__}: {error}", now)

    def _follow_changes(self, now: int) -> None:
        if phases.is_alive(self.deployment, self.phase) and self._stop_reason is None:
            self.changes.turn(self._up(), self._watch.silent, now)

    def _follow_course(self, now: int) -> int:
        start = self._workload_start if phases.is_alive(self.deployment, self.phase) else None
        return self._course.follow(start, self.deployment.server_names, now)

    def _run_processes(self, now: int) -> int:
        away = self._course.away | self.changes.away
        return self._processes.turn(phases.wanted(self.deployment, self.phase, away), now)

    def _work(self, name: str, process: fleet.Process) -> Work:
        journal = self._journal_path(name)
        deployment, names = self.deployment, self.deployment.server_names
        if name in names and (older := self.changes.settings_of(names.index(name))) != deployment.setup.settings:
            deployment = replace(deployment, setup=replace(deployment.setup, settings=older))
        job = Job(deployment, self.addresses, name, self._zero, journal, self._lifeline, self._course.shared)
        if name in names:
            if deployment.kind == NETWORK:
                job = replace(job, operated=self._operated.of(deployment, names.index(name)))
            return job.server(incarnation=process.launches)
        assert self._workload_start is not None
        return job.fleet(self._workload_start)

    def _assemble(self, now: int) -> int:
        if not phases.is_alive(self.deployment, self.phase):
            return now + SECOND
        return self._orders.assemble(self._assembly, self._up(), self.addresses, self._fail_by_bug, now)

    def _end_log(self, now: int) -> int:
        """When no process of its servers and clients is left: the journal of a run gets what its records still hold, a
        part in each turn, and then they are erased. Without its engine they stay. Returns the time of the next turn."""
        from overlay.runtime.logs.opening import erase_log, uncommitted

        deployment, at_us = self.deployment, (now - self._zero) // 1000
        try:
            if self._left is None:
                self._left = uncommitted(deployment) if deployment.kind == RUN else iter(())
            for record in self._left:
                for fact in deployment.system.uncommitted_facts(record, at_us):
                    self._journal.write(fact)
                if time.monotonic_ns() > now + LOG_STEP_NS:
                    return now
            erase_log(deployment)
        except (OSError, WaxwingError) as error:
            self._tell("log_kept", {"reason": str(error)})
        self._has_log = False
        self._journal.flush()
        return now + SECOND

    # --- output ---

    def _tell(self, name: str, detail: dict[str, Any]) -> None:
        self._journal.write(Event("supervisor", (time.monotonic_ns() - self._zero) // 1000, name, detail))

    def close(self) -> None:
        """Release everything. Remaining processes are ended by the lifeline."""
        self._course.close()
        if self._pings is not None:
            self._pings.close()
        with suppress(OSError):  # the status already reports a full disk
            self._journal.close()

    def status(self) -> dict[str, Any]:
        """The status, as returned by the supervisor's socket."""
        found = Observed(
            processes=self._processes.states,
            pids=self._processes.pids(),
            is_alive=phases.is_alive(self.deployment, self.phase),
            away=self._course.away,
            silent=self._watch.silent,
            members=dict(self.deployment.members),
            leaving=self.changes.away,
            older=self.changes.older,
            faults=self._operated.active(),
            accepts=self.deployment.system.stream_roles,
        )
        return {
            "id": self.deployment.id,
            "epoch": self.deployment.epoch,
            "version": self.deployment.version,
            "kind": self.deployment.kind,
            "phase": self.phase,
            "reason": self.reason,
            "since_unix_ms": unix_ms(self._since),
            **self._times,
            "brokers": found.servers(self.deployment.server_names, self.addresses),
            "rollout": self.changes.status(self._up(), self._watch.silent),
            "clients": found.fleets(self.deployment.fleet_names),
            "bridges": self.bridges.status(),
            "has_log": self._has_log,
        }
