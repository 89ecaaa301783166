"""A run's summary: one object with all figures for its page, the API and reports. Pure, over columns and ticks.

Only requests *intended* during measuring count. Response times are those of answered requests, from the intended
sending (``*_us``) and from the actual one (``*_from_sent_us``). All times are in microseconds unless their name has
another unit. Rates are per second of measuring (``measured_us``), without the wait for the last answers, included in
``window_us``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from overlay.core.engines import LIVE
from overlay.deployment.phases import WARMING
from overlay.faults.churn import DEPARTURES, HAPPENED, UP
from overlay.faults.faults import BEGAN, ENDED, KILL, RESTART
from overlay.journal.facts import Event, Start, Tick
from overlay.systems.contract import System
from telemetry.statistics import metrics
from telemetry.summary import by_role, exchanges, of_clients, processes
from telemetry.summary.exchanges import in_measuring
from telemetry.summary.processes import Servers
from telemetry.summary.schedule import began, measured_us, measuring_phase
from telemetry.summary.verdict import Evidence, judge
from telemetry.systems.contract import Journalled, Telemetry

SILENT_US = 3_000_000
"""A process without a tick for this long before the end was down; ticks are written every second."""


def summarise(run: Journalled, manifest: Mapping[str, Any], telemetry: Telemetry) -> dict[str, Any]:
    """The summary of ``run``, as used by its page and returned by REST as ``summary``."""
    system, servers = telemetry.system, Servers.of(manifest, telemetry.system)
    requests = exchanges.of_roles(run.tables["samples"], system.asking_roles)
    updates = exchanges.of_roles(run.tables["samples"], system.updating_roles)
    begin_us, end_us = measuring_window(run, system)
    ticks = processes.by_process(run.ticks)
    zero_unix_us = run.starts[0].zero_unix_us if run.starts else 0
    duration_us = measured_us(manifest, run.events)
    if duration_us is None:  # a manifest without a workload
        duration_us = end_us - begin_us
    response = exchanges.summed(requests, duration_us)
    brokers = _broker_rows(servers, ticks, _clients_began(run, system), begin_us, end_us)
    grown = {name: processes.counters_between(system, rows, begin_us, end_us) for name, rows in ticks.items()}
    counters = processes.summed(found for name, found in grown.items() if servers.has(name))
    asked = processes.summed(found for name, found in grown.items() if system.asks(name)).get("requests", 0)
    processor = _processor(ticks, begin_us, min(end_us, begin_us + duration_us), manifest)
    more = telemetry.of_requests(requests, zero_unix_us)
    summary = {
        **exchanges.as_requests(response),
        "bounds": exchanges.bounds(requests, more.get("truth", {}).get("proved_not_found", 0)),
        "updates": exchanges.summed(updates, duration_us),
        "lateness": metrics.spread(exchanges.lateness_us(requests if system.asking_roles else updates)),
        **more,
        "memory": {"brokers": brokers, "mean": processes.mean_memory(brokers)},
        "counters": counters,
        **system.costs(counters, asked),
        **of_clients.summarised(run.tables, duration_us),
        "processor": processor,
        **by_role.of_servers(servers, brokers, processor["by_process"]),
        **by_role.of_clients(system, run.tables, duration_us),
        "window_us": [begin_us, end_us],
        "measured_us": duration_us,
    }
    is_live = manifest.get("engine", LIVE) == LIVE
    evidence = _evidence(run, summary, ticks, telemetry.due(manifest), servers, is_live=is_live)
    verdict, reasons = judge(evidence, telemetry.reasons(run, summary))
    return {**summary, "verdict": verdict, "verdict_reasons": reasons}


def measuring_window(run: Journalled, system: System) -> tuple[int, int]:
    """From the first intended sending in measuring to the end of the last request, microseconds.

    Without requests, and in systems with clients that only receive, the phase of the supervisor's events. (0, 0) if
    that is unknown, too.
    """
    measured, phase = in_measuring(run.tables["samples"]), measuring_phase(run.events)
    if measured.num_rows == 0 or (system.has_receivers and any(phase)):
        return phase
    return pc.min(measured["intended_us"]).as_py(), pc.max(measured["ended_us"]).as_py()


def _between(rows: pa.Table, begin_us: int, end_us: int) -> int:
    """The number of rows between two times."""
    at_us = rows["at_us"].to_numpy()
    return int(((begin_us <= at_us) & (at_us <= end_us)).sum())


def _clients_began(run: Journalled, system: System) -> int:
    """When the first client sent a request; in systems with clients that only receive, when clients were started."""
    first_us = pc.min(run.tables["samples"]["sent_us"]).as_py()
    if first_us is None or system.has_receivers:
        first_us = began(run.events, WARMING) or first_us
    return int(first_us or 0)


def _broker_rows(
    servers: Servers, ticks: Mapping[str, Sequence[Tick]], clients_began_us: int, begin_us: int, end_us: int
) -> list[dict[str, Any]]:
    indexed = [(index, rows) for process, rows in ticks.items() if (index := servers.index(process)) is not None]
    return [
        processes.broker_memory(index, rows, clients_began_us, begin_us, end_us)
        for index, rows in sorted(indexed, key=lambda pair: pair[0])
    ]


def _processor(
    ticks: Mapping[str, Sequence[Tick]], begin_us: int, end_us: int, manifest: Mapping[str, Any]
) -> dict[str, Any]:
    """Busy cores during measuring, by process and in total."""
    used = {process: processes.cores_used(rows, begin_us, end_us) for process, rows in ticks.items()}
    known = {process: share for process, share in used.items() if share is not None}
    machine = manifest.get("machine", {})
    return {
        "cores": machine.get("usable_cores") or machine.get("cores") or 1,
        "cores_used": sum(known.values()) if known else None,
        "by_process": known,
    }


def _evidence(
    run: Journalled,
    summary: Mapping[str, Any],
    ticks: Mapping[str, Sequence[Tick]],
    due: Mapping[str, int] | None,
    servers: Servers,
    *,
    is_live: bool,
) -> Evidence:
    """A busy simulated processor is not a defect of the measurement: each process has its own, and queueing is a
    result. Nor is the modelled wake-up delay of clients: it matches live ones, and both response times are reported."""
    by_process = summary["processor"]["by_process"]
    busiest = max(by_process, key=by_process.__getitem__, default="")
    begin_us, end_us = summary["window_us"]
    measured_from_us = min([begin_us, *_measuring_began(run.events)])
    return Evidence(
        requests=summary["requests"] if servers.system.asking_roles else None,
        answered=summary["answered"],
        measured=sum(in_measuring(table).num_rows for table in run.tables.values())
        + sum(_between(table, begin_us, end_us) for table in run.own.values()),
        cores=summary["processor"]["cores"],
        cores_used=summary["processor"]["cores_used"] if is_live else None,
        busiest_process=busiest,
        busiest_cores=by_process.get(busiest, 0.0) if is_live else 0.0,
        late_p99_us=summary["lateness"]["p99"] if is_live else None,
        late_mean_us=summary["lateness"]["mean"] if is_live else None,
        response_mean_us=summary["mean_us"],
        clock_step_ms=_clock_step_ms(run.starts, summary.get("age_ms", {}).get("min")),
        lost=[*run.lost, *_silent(servers, ticks, end_us, _away(servers, run.events, end_us))],
        restarted=[
            process
            for process, rows in ticks.items()
            if _restarted(servers, process, rows, run.events, measured_from_us, end_us)
        ],
        unaccounted=_unaccounted(run, summary, ticks, due, servers),
    )


def _clock_step_ms(starts: Sequence[Start], least_age_ms: float | None) -> float:
    """How far the wall clock moved, from the processes' different readings of the common zero.

    A later step back is visible as answers with a negative age.
    """
    zeros = [start.zero_unix_us for start in starts]
    between_starts = (max(zeros) - min(zeros)) / 1000 if zeros else 0.0
    return max(between_starts, -(least_age_ms or 0.0))


def _unaccounted(
    run: Journalled,
    summary: Mapping[str, Any],
    ticks: Mapping[str, Sequence[Tick]],
    due: Mapping[str, int] | None,
    servers: Servers,
) -> int:
    """Requests and updates without a sample, of those due or, if that is unknown, of those begun."""
    if due is not None:
        return sum(
            max(0, count - exchanges.of_roles(run.tables["samples"], [role]).num_rows) for role, count in due.items()
        )
    begun = [rows[-1].counters.get("requests", 0) for name, rows in ticks.items() if servers.is_fleet(name)]
    return max(0, sum(begun) - int(run.tables["samples"].num_rows))


def _silent(servers: Servers, ticks: Mapping[str, Sequence[Tick]], end_us: int, away: Set[str]) -> list[str]:
    """Brokers whose last tick was long before the end of measuring, unless they were away by then.

    A fleet may end earlier, when it has nothing more to send.
    """
    return [
        f"{process} reported nothing in the last {(end_us - rows[-1].at_us) / 1e6:.0f} s of measuring."
        for process, rows in ticks.items()
        if servers.index(process) is not None and process not in away and end_us - rows[-1].at_us > SILENT_US
    ]


def _away(servers: Servers, events: Iterable[Event], end_us: int) -> set[str]:
    """The brokers that were away by churn or a fault at the end of measuring, or returned too late to report."""
    kept: Counter[str] = Counter()
    for event in sorted(events, key=lambda event: event.at_us):
        goes = event.name in _GOES and event.detail.get("what") != RESTART
        if goes or (event.name in _COMES and event.at_us < end_us - SILENT_US):
            kept.update(dict.fromkeys(_sent_away(servers, event), 1 if goes else -1))
    return {process for process, count in kept.items() if count > 0}


_GOES, _COMES = {BEGAN, *(HAPPENED[what] for what in DEPARTURES)}, {ENDED, HAPPENED[UP]}


def _sent_away(servers: Servers, event: Event) -> set[str]:
    """The brokers concerned by an event of churn, or of a fault that ends brokers."""
    if event.name in HAPPENED.values():
        return servers.names(event.detail.get("broker"))
    if event.name not in (BEGAN, ENDED) or event.detail.get("what") not in (KILL, RESTART):
        return set()
    return servers.names(*event.detail.get("brokers", ())) | {*event.detail.get("servers", ())}


def _measuring_began(events: Iterable[Event]) -> list[int]:
    """The start of measuring in the journal, up to an interval before its first request was due."""
    return [event.at_us for event in events if event.name == "phase" and event.detail.get("phase") == "measuring"]


def _restarted(
    servers: Servers, process: str, ticks: Sequence[Tick], events: Sequence[Event], begin_us: int, end_us: int
) -> bool:
    """Whether a process was restarted during measuring, other than by churn.

    The supervisor reports it. If its journal is lost, a decrease of the process's processor time may show it, but not
    always: a process that died early may have used less than its successor by the next tick.
    """
    said = any(
        event.name == "process_started"
        and event.detail.get("process") == process
        and event.detail.get("after")
        and begin_us <= event.at_us <= end_us
        for event in events
    )
    was_sent_away = any(process in _sent_away(servers, event) for event in events)
    return said or (not was_sent_away and _fell_back(ticks, begin_us, end_us))


def _fell_back(ticks: Sequence[Tick], begin_us: int, end_us: int) -> bool:
    """Whether the processor time of a process decreased during measuring, because it is another process."""
    rows = processes.between(ticks, begin_us, end_us)
    return any(later.cpu_us < earlier.cpu_us for earlier, later in pairwise(rows))
