"""The load generator: the clients of one process of a workload, in an open loop.

Counterparts: a system's ``make_fleet`` creates the clients, ``ports`` gives them sockets; the supervisor
calls ``run_fleet`` in a forked child. It counts the delay of each first transmission. Samples contain both response
times, from the intended and from the actual sending.
"""

from __future__ import annotations

import gc
import resource
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from overlay.core.addresses import Address
from overlay.journal.facts import ClientFact, Row, Sample
from overlay.journal.journal import JournalWriter
from overlay.load.response_times import OtherTimes, ResponseTimes
from overlay.load.windows import Windows
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.link_faults import SharedFaults
from overlay.runtime.logs.port import LogPort
from overlay.runtime.own_faults import FaultedClients, Watcher
from overlay.runtime.ports import FleetDriver
from overlay.runtime.reporting import make_tick, open_journal
from overlay.runtime.server_process import OpenLog
from overlay.systems.contract import Setup, System
from overlay.systems.cores import Fleet, Plan
from overlay.systems.roles import client_name

SPARE_FILES = 64
"""File descriptors reserved for other uses than clients' ports."""

TIMER_SLACK_NS = 1000
"""Maximum delay of the end of a sleep by the kernel. The default of 50 µs would be part of every response time."""


class FleetReporter:
    """Writes the facts and ticks of one fleet to its journal."""

    def __init__(self, writer: JournalWriter, process: str, zero_ns: int, fleet: Fleet) -> None:
        self._writer = writer
        self._process = process
        self._zero = zero_ns
        self._fleet = fleet
        self._response_times, self._other_times = ResponseTimes(), OtherTimes()

    def report_fact(self, fact: ClientFact) -> None:
        if isinstance(fact, Sample):
            self._response_times.add(fact)
        elif isinstance(fact, Row):
            fact = replace(fact, process=self._process)
        else:
            self._other_times.add(fact)
        self._writer.write(fact)

    def report_second(self, now: int) -> None:
        self._fleet.set_wall_clock(wall_offset_ns())
        counters = dict(self._fleet.tally.counters)
        at_us = (now - self._zero) // 1000
        for histogram in self._other_times.histograms(self._process, at_us):
            self._writer.write(histogram)
        self._writer.write(make_tick(self._process, at_us, counters, self._response_times.encode()))
        self._writer.flush()
        gc.collect(1)  # what is older stays: among 10,000 nodes all takes a tenth of a second


def run_fleet(
    system: System,
    plans: Sequence[Plan],
    servers: Sequence[Address],
    setup: Setup,
    *,
    start_ns: int,
    zero_ns: int,
    journal: Path,
    process: str,
    on_ready: Callable[[], None],
    lifeline_fd: int | None = None,
    faults: SharedFaults | None = None,
    open_log: OpenLog | None = None,
) -> int:
    """Run these clients until all their intended exchanges have ended. Returns the exit code of the process.

    ``start_ns`` is the monotonic time at which the workload starts in all its processes, ``zero_ns`` the origin of
    samples and ticks. Exchanges that are open at the end of the drain are reported as timed out. SIGTERM or a closed
    lifeline ends it at once and keeps the measurements. Raises ``OSError`` if the journal cannot be written.
    """
    files = _raise_file_limit()
    windows = Windows.of(system.schedule(setup), zero_ns, start_ns)
    fleet = system.make_fleet(
        plans,
        servers,
        setup,
        windows,
        wall_offset_ns=wall_offset_ns(),
        most_lanes=max(1, (files - SPARE_FILES) // max(1, len(plans))),
    )
    writer = open_journal(journal, process, zero_ns)
    reporter = FleetReporter(writer, process, zero_ns, fleet)
    driver = FleetDriver(
        fleet.clients,
        fleet.tally,
        on_fact=reporter.report_fact,
        on_second=reporter.report_second,
        lifeline_fd=lifeline_fd,
        faulted=_faulted(fleet, faults) if faults else None,
        logs=_logs(fleet, open_log) if open_log else None,
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: driver.stop())
    _tighten_timers()
    gc.freeze()  # the clients exist as long as the process; scanning them would only cause delays
    gc.disable()  # requests leave no cycles; the reporter collects others once a second
    on_ready()
    try:
        driver.run(until=windows.drained, stay=windows.end)
        driver.close()
        reporter.report_second(time.monotonic_ns())
    finally:
        writer.close()
    return 0


def _faulted(fleet: Fleet, faults: SharedFaults) -> FaultedClients | None:
    """The clients that can be targets of faults of the system; ``None`` if there are none."""
    names = {client_name(client.identity) for client in fleet.clients}
    watcher = Watcher(faults, lambda fault: not names.isdisjoint(fault.clients) and not fault.is_of_log)
    return FaultedClients(fleet.clients, watcher) if watcher else None


def _logs(fleet: Fleet, open_log: OpenLog) -> dict[int, LogPort]:
    """Of the clients that have one, by index."""
    users = ((index, client) for index, client in enumerate(fleet.clients) if hasattr(client, "subscriptions"))
    return {index: open_log(client_name(client.identity), client) for index, client in users}


def _raise_file_limit() -> int:
    """Raise the limit of open files to the maximum for this process and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return soft if soft != resource.RLIM_INFINITY else 1 << 20


def _tighten_timers() -> None:
    with suppress(OSError):
        Path("/proc/self/timerslack_ns").write_text(str(TIMER_SLACK_NS))
