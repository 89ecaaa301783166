"""Runs one deployment on this host: its processes, its overlay and its phases, by repeated calls of ``turn``.

Decisions are made by pure modules (``overlay.deployment.phases``, ``overlay.deployment.fleet``,
the system's assembly). The supervisor owns the loop and reports events
(``child_ready``, ``child_ended``, ``renew``, ``stop``).
"""

from __future__ import annotations

import gc
import os
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from overlay.core.addresses import Address, parse_address
from overlay.core.errors import WaxwingError, WireError, describe_full_disk, describe_os_error
from overlay.core.node import SECOND
from overlay.core.silence import Silence
from overlay.deployment import fleet, phases
from overlay.deployment.deployment import NETWORK, RUN, Deployment
from overlay.faults.churn import CRASH, CRASHED, LEAVE, UP, Change
from overlay.faults.faults import Course
from overlay.journal.facts import Event
from overlay.journal.journal import JournalWriter
from overlay.runtime.clock import unix_ms, wall_offset_ns
from overlay.runtime.deployment_status import Observed
from overlay.runtime.link_faults import SharedFaults
from overlay.runtime.orders import Orders
from overlay.runtime.processes import DISK_FULL, Child, Work, describe_exit_code, fork_all, last_words
from overlay.runtime.reporting import ForgivingJournal, open_journal
from overlay.runtime.watch import Journals, Pings, Watch
from overlay.runtime.work import Job
from overlay.systems.cores import Exchange, Order

Forked = Callable[[str, Child], None]
STARTS_AT_ONCE = 32
"""Maximum forks per turn. A fork takes about 2 ms, and clients of the supervisor wait meanwhile."""


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
    ) -> None:
        """``ran_before``: its brokers were up under an earlier supervisor, so failed starts are retried."""
        self.deployment = deployment
        self.addresses = addresses
        """The address of each broker, kept over all restarts."""
        self.phase = phases.LAUNCHING
        self.reason = ""
        self._since = self._zero = now
        self._unrenewed = Silence(now)
        self._times: dict[str, int] = {}
        self._stop_reason: str | None = None
        self._workload_start: int | None = None
        self._processes = {name: fleet.Process(since=now, was_ready=ran_before) for name in deployment.server_names}
        ramp_s = deployment.schedule.ramp_s if deployment.kind == RUN else 0.0
        self._course = Course(deployment.churn(), deployment.faults, ramp_s)
        self._faults = SharedFaults(deployment.faults) if deployment.faults else None
        self._children: dict[str, Child] = {}
        self._assembly = deployment.system.make_assembly(deployment.setup)
        self._orders = orders
        self._lifeline = lifeline
        self._forked = forked
        self._directory = Path(deployment.directory)
        self._journal = self._open_journal()
        self._flushed = now
        self._pings = Pings(deployment.system.ping) if deployment.kind == NETWORK else None
        self._watch = Watch(self._pings.heard if self._pings else Journals(self._journal_path).heard)

    def _open_journal(self) -> JournalWriter | ForgivingJournal:
        (self._directory / "words").mkdir(parents=True, exist_ok=True)
        path = self._journal_path("supervisor")
        if self.deployment.kind == NETWORK:  # a network keeps answering even if its journal cannot be written
            return ForgivingJournal(path, "supervisor", self._zero)
        return open_journal(path, "supervisor", self._zero)

    def _journal_path(self, process: str) -> Path:
        return self._directory / "journal" / f"{process}.journal"

    # --- events and commands ------------------------------------------------------------------------------------------

    @property
    def is_active(self) -> bool:
        """Whether it still runs or occupies anything."""
        return self.phase not in phases.ENDED or bool(self._children)

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
        child = self._children.get(name)
        if child is None:
            return False
        self._tell("fault_injected", {"broker": index, "kind": "kill"})
        os.kill(child.pid, signal.SIGKILL)
        return True

    def restart_broker(self, index: int, restarts: int, reason: str, now: int) -> None:
        """Restart a broker that has been restarted ``restarts`` times so far. If it has been restarted more often, do
        nothing, so that the command is idempotent. Raises ``WaxwingError``.
        """
        name = self.deployment.server_names[index]
        process, child = self._processes[name], self._children.get(name)
        if not phases.is_alive(self.deployment, self.phase) or self._stop_reason is not None:
            raise WaxwingError(f"{self.deployment.id} is {self.phase}, so its brokers cannot be restarted")
        if process.restarted != restarts or process.state not in (fleet.UP, fleet.GIVEN_UP):
            return
        if child is not None:
            os.kill(child.pid, signal.SIGTERM)
        self._processes[name] = process.restart_asked(now, reason)
        self._tell("restart_asked", {"broker": index, "reason": reason})

    def child_ready(self, name: str, text: str, now: int) -> None:
        self._processes[name] = self._processes[name].ready(now)
        with suppress(WireError):
            if name in self.deployment.server_names:
                address = parse_address(text)
                self.addresses = tuple(
                    address if name == other else known
                    for other, known in zip(self.deployment.server_names, self.addresses, strict=True)
                )

    def child_ended(self, name: str, status: int, now: int) -> None:
        child = self._children.pop(name)
        code = os.waitstatus_to_exitcode(status)
        process = self._processes[name]
        words = last_words(child.words) if code else ""
        if code == DISK_FULL and not words:
            words = describe_full_disk(str(self._journal_path(name)))
        reason = describe_exit_code(code, words)
        self._processes[name] = process = process.ended(now, reason, well=code == 0)
        if code == DISK_FULL and self.deployment.kind == RUN:  # a restarted process could not write either
            self._fail(words, now)
        self._tell("process_ended", {"process": name, "pid": child.pid, "reason": process.reason, "was": process.state})

    # --- the turn -----------------------------------------------------------------------------------------------------

    def turn(self, now: int) -> int:
        """Do everything that is due. Returns the monotonic time (ns) of the next turn."""
        try:
            if phases.is_alive(self.deployment, self.phase):
                self._watch.look(self._addresses_up(), now)
            while self.phase not in phases.ENDED and (move := phases.next_move(self.deployment, self._seen(now), now)):
                self._move(move, now)
            until = min(self._follow_course(now), self._run_processes(now), self._assemble(now), now + SECOND // 4)
            if now >= self._flushed + SECOND:
                self._journal.flush()
                self._flushed = now
        except OSError as error:  # a full disk, or no more processes: only this deployment fails
            self._fail(describe_os_error(error), now)
            return now + SECOND // 10
        except Exception as error:  # noqa: BLE001  a bug of one system must not end the others' deployments
            self._fail_by_bug(error, now)
            return now + SECOND // 10
        return until

    def _seen(self, now: int) -> phases.Seen:
        return phases.Seen(
            phase=self.phase,
            since=self._since,
            processes=self._processes,
            is_assembled=self._assembly.is_complete(self._up()),
            trouble=self._assembly.trouble,
            renewed=now - self._unrenewed.look(now),
            stop_reason=self._stop_reason,
            workload_start=self._workload_start,
            silent=self._watch.silent,
        )

    def _up(self) -> dict[int, int]:
        """The incarnation of each running broker, by index."""
        processes = ((index, self._processes[name]) for index, name in enumerate(self.deployment.server_names))
        return {index: process.launches for index, process in processes if process.state == fleet.UP}

    def _addresses_up(self) -> dict[str, Address]:
        return {self.deployment.server_names[index]: self.addresses[index] for index in self._up()}

    def _move(self, move: phases.Move, now: int) -> None:
        self.phase = phases.TRANSITIONS[self.deployment.kind, self.phase, move.happened]
        self._since = now
        # A network that recovered keeps showing the reason of the failure.
        self.reason = move.reason or (self.reason if self.deployment.kind == NETWORK else "")
        if self.phase == phases.WARMING:
            self._workload_start = now + round(phases.FLEET_LEAD_S * SECOND)
            measuring, end = phases.schedule(self.deployment, self._workload_start)
            self._times = {
                "warming_unix_ms": unix_ms(now),
                "measuring_unix_ms": unix_ms(measuring),
                "ends_unix_ms": unix_ms(end),
            }
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

    def _follow_course(self, now: int) -> int:
        """Apply due churn and faults. Returns the time of the next one."""
        start = self._workload_start
        if start is None or not phases.is_alive(self.deployment, self.phase):
            return now + SECOND
        due = self._course.due((now - start) / SECOND)
        for name, detail in due.events:
            self._tell(name, detail)
        for change in due.changes:
            if change.what != UP:
                self._send_away(change, now)
        if (due.links_changed or due.of_system) and self._faults is not None:
            self._faults.tell(self._course.active)
        next_s = self._course.next_s()
        return now + SECOND if next_s is None else start + round(next_s * SECOND)

    def _send_away(self, change: Change, now: int) -> None:
        """Stop the broker at once, because it may have to start again before the next turn."""
        name = self.deployment.server_names[change.broker]
        process, child = self._processes[name].sent_away(), self._children.get(name)
        if child is not None and change.what == CRASH and process.state != fleet.KILLED:
            os.kill(child.pid, signal.SIGKILL)
            process = process.kill_sent(now, CRASHED)
        elif child is not None and change.what == LEAVE and process.state in (fleet.STARTING, fleet.UP):
            os.kill(child.pid, signal.SIGTERM)
            process = process.stop_sent(now)
        self._processes[name] = process

    def _run_processes(self, now: int) -> int:
        until, starts = now + SECOND, list[str]()
        desired = phases.wanted(self.deployment, self.phase, self._course.away)
        for action in fleet.plan(desired, self._processes, now):
            process = self._processes.get(action.name, fleet.Process())
            match action:
                case fleet.Start() if len(starts) == STARTS_AT_ONCE:
                    until = now
                case fleet.Start(name):
                    starts.append(name)
                case fleet.Stop(name):
                    os.kill(self._children[name].pid, signal.SIGTERM)
                    self._processes[name] = process.stop_sent(now)
                case fleet.Kill(name, reason):
                    os.kill(self._children[name].pid, signal.SIGKILL)
                    self._processes[name] = process.kill_sent(now, reason)
                case fleet.GiveUp(name, reason):
                    self._processes[name] = process.gave_up(now, reason)
                    self._tell("gave_up", {"process": name, "reason": reason})
                    until = now
                case fleet.Wait():
                    until = min(until, action.until)
        if starts:
            self._start(starts, now)
        return until

    def _start(self, names: Sequence[str], now: int) -> None:
        before = {name: self._processes.get(name, fleet.Process()) for name in names}
        started = {name: process.started(now) for name, process in before.items()}
        works = [
            (self._work(name, process), self._directory / "words" / f"{name}.txt") for name, process in started.items()
        ]
        children = fork_all(works, (self._lifeline,))
        works.clear()
        gc.collect()  # objects created for the children are in cycles, and automatic collection is off
        for name, child in zip(names, children, strict=False):
            self._children[name], self._processes[name] = child, started[name]
            self._forked(name, child)
            after = "" if before[name].was_away else before[name].reason
            self._tell("process_started", {"process": name, "pid": child.pid, "after": after})

    def _work(self, name: str, process: fleet.Process) -> Work:
        journal = self._journal_path(name)
        job = Job(self.deployment, self.addresses, name, self._zero, journal, self._lifeline, self._faults)
        if name in self.deployment.server_names:
            return job.server(incarnation=process.launches)
        assert self._workload_start is not None
        return job.fleet(self._workload_start)

    def _assemble(self, now: int) -> int:
        if not phases.is_alive(self.deployment, self.phase):
            return now + SECOND
        for order in self._assembly.due(self._up(), now, self._orders.room):
            self._give(order, now)
        return self._assembly.next_retry(now) or now + SECOND

    def _give(self, order: Order, now: int) -> None:
        def ended(exchange: Exchange) -> None:
            try:
                self._assembly.settle(order, exchange, time.monotonic_ns())
            except Exception as error:  # noqa: BLE001  as in ``turn``
                self._fail_by_bug(error, time.monotonic_ns())

        exchange = self._assembly.begin(order, self.addresses, now, wall_offset_ns())
        self._orders.give(exchange, ended)

    # --- output -------------------------------------------------------------------------------------------------------

    def _tell(self, name: str, detail: dict[str, Any]) -> None:
        self._journal.write(Event("supervisor", (time.monotonic_ns() - self._zero) // 1000, name, detail))

    def close(self) -> None:
        """Release everything. Remaining processes are ended by the lifeline."""
        if self._faults is not None:
            self._faults.close()
        if self._pings is not None:
            self._pings.close()
        with suppress(OSError):  # the status already reports a full disk
            self._journal.close()

    def status(self) -> dict[str, Any]:
        """The status, as returned by the supervisor's socket."""
        found = Observed(
            processes=self._processes,
            pids={name: child.pid for name, child in self._children.items()},
            is_alive=phases.is_alive(self.deployment, self.phase),
            away=self._course.away,
            silent=self._watch.silent,
        )
        return {
            "id": self.deployment.id,
            "epoch": self.deployment.epoch,
            "kind": self.deployment.kind,
            "phase": self.phase,
            "reason": self.reason,
            "since_unix_ms": unix_ms(self._since),
            "warming_unix_ms": None,
            "measuring_unix_ms": None,
            "ends_unix_ms": None,
            **self._times,
            "brokers": found.servers(self.deployment.server_names, self.addresses),
            "clients": found.fleets(self.deployment.fleet_names),
        }
