"""A run's summary: one object with all figures for its page, the API and reports. Pure, over columns and ticks.

Only requests *intended* during measuring count. Response times are those of answered requests, from the intended
sending (``*_us``) and from the actual one (``*_from_sent_us``). All times are in microseconds unless their name has
another unit. Rates are per second of measuring (``measured_us``), without the wait for the last answers, included in
``window_us``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from overlay.core.engines import LIVE
from overlay.deployment.phases import WARMING
from overlay.journal.facts import Event, Start, Tick
from overlay.systems.contract import System
from telemetry.statistics import metrics
from telemetry.summary import absences, by_role, exchanges, of_clients, processes
from telemetry.summary.exchanges import in_measuring
from telemetry.summary.processes import Servers
from telemetry.summary.schedule import began, measured_us, measuring_phase
from telemetry.summary.verdict import Evidence, judge
from telemetry.systems.contract import Journalled, Telemetry


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
        processes.broker_memory(servers.system, index, rows, clients_began_us, begin_us, end_us)
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
    asks = [role for role in servers.system.asking_roles if due is None or due.get(role, 1)]
    return Evidence(
        requests=summary["requests"] if asks else None,
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
        lost=[*run.lost, *absences.silent(servers, ticks, run.events, end_us)],
        restarted=absences.restarted(servers, ticks, run.events, measured_from_us, end_us),
        unaccounted=_unaccounted(run, summary, ticks, due, servers),
        is_idle=due is not None and not any(due.values()),
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


def _measuring_began(events: Iterable[Event]) -> list[int]:
    """The start of measuring in the journal, up to an interval before its first request was due."""
    return [event.at_us for event in events if event.name == "phase" and event.detail.get("phase") == "measuring"]
