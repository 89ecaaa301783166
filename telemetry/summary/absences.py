"""Processes that were silent or restarted during measuring, except where churn or a fault ended them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from overlay.faults.churn import DEPARTURES, HAPPENED, UP
from overlay.faults.faults import BEGAN, ENDED, KILL, RESTART
from overlay.journal.facts import Event, Tick
from telemetry.summary import processes
from telemetry.summary.processes import Servers

SILENT_US = 3_000_000
"""A process without a tick for this long is down; ticks are written every second."""

Ticks = Mapping[str, Sequence[Tick]]
"""By process, in chronological order."""


def silent(servers: Servers, ticks: Ticks, events: Iterable[Event], end_us: int) -> list[str]:
    """A sentence for each server whose last tick was long before the end of measuring, unless it was away by then.

    A fleet may end earlier, when it has nothing more to send.
    """
    away = _away(servers, events, end_us)
    return [
        f"{process} reported nothing in the last {(end_us - rows[-1].at_us) / 1e6:.0f} s of measuring."
        for process, rows in ticks.items()
        if servers.index(process) is not None and process not in away and end_us - rows[-1].at_us > SILENT_US
    ]


def restarted(servers: Servers, ticks: Ticks, events: Sequence[Event], begin_us: int, end_us: int) -> list[str]:
    """The processes that were restarted during measuring, other than by churn.

    The supervisor reports it. If its journal is lost, a decrease of the process's processor time may show it, but not
    always: a process that died early may have used less than its successor by the next tick.
    """
    inside = [event for event in events if begin_us <= event.at_us <= end_us]
    said = {
        event.detail.get("process") for event in inside if event.name == "process_started" and event.detail.get("after")
    }
    sent_away = {process for event in events for process in _sent_away(servers, event)}
    return [
        process
        for process, rows in ticks.items()
        if process in said or (process not in sent_away and _fell_back(rows, begin_us, end_us))
    ]


def _away(servers: Servers, events: Iterable[Event], end_us: int) -> set[str]:
    """The servers that were away by churn or a fault at the end of measuring, or returned too late to report."""
    kept: Counter[str] = Counter()
    for event in sorted(events, key=lambda event: event.at_us):
        goes = event.name in _GOES and event.detail.get("what") != RESTART
        if goes or (event.name in _COMES and event.at_us < end_us - SILENT_US):
            kept.update(dict.fromkeys(_sent_away(servers, event), 1 if goes else -1))
    return {process for process, count in kept.items() if count > 0}


_GOES, _COMES = {BEGAN, *(HAPPENED[what] for what in DEPARTURES)}, {ENDED, HAPPENED[UP]}


def _sent_away(servers: Servers, event: Event) -> set[str]:
    """The servers concerned by an event of churn, or of a fault that ends servers."""
    if event.name in HAPPENED.values():
        return servers.names(event.detail.get("broker"))
    if event.name not in (BEGAN, ENDED) or event.detail.get("what") not in (KILL, RESTART):
        return set()
    return servers.names(*event.detail.get("brokers", ())) | {*event.detail.get("servers", ())}


def _fell_back(ticks: Sequence[Tick], begin_us: int, end_us: int) -> bool:
    """Whether the processor time of a process decreased during measuring, because it is another process."""
    rows = processes.between(ticks, begin_us, end_us)
    return any(later.cpu_us < earlier.cpu_us for earlier, later in pairwise(rows))
