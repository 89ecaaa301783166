"""Load and memory of a network's brokers, polled every two seconds while a page is open.

Counterpart: ``telemetry.live.window`` does the same for runs from journals. A network has none, so brokers are queried
for their counters, and the operating system of their host for process figures.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from brokerweb.networks.models import Network
from brokerweb.networks.statistics_queries import statistics_of
from overlay.core.addresses import parse_address
from overlay.journal.counters import growth
from overlay.runtime.usage import sizes_in
from overlay.systems.registry import SYSTEMS
from telemetry.live.loads import Load, rates, totals
from telemetry.systems.contract import Counters
from telemetry.systems.registry import telemetry_of

AGE_S = 1.5
"""Minimum interval between polls, for any number of viewers."""
_PROC = Path("/proc")
_PROCESSOR = slice(11, 13)
"""Positions of user and system time in ``stat``, after the process name."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class _Seen:
    """One broker at one instant."""

    at_s: float
    """Monotonic clock."""
    counters: Mapping[str, int]
    cpu_s: float | None


class LoadSampler:
    """Latest load and memory of all brokers of one network. Rates need two polls."""

    def __init__(self) -> None:
        self._looked_s = -AGE_S
        self._seen: dict[int, _Seen] = {}
        self._told: dict[str, Any] = {}

    def look(self, network: Network) -> dict[str, Any]:
        """``{memory, load, totals}`` as in a run's frame; unknown values are omitted."""
        now = time.monotonic()
        if now - self._looked_s >= AGE_S:
            self._looked_s = now
            self._told = self._asked(network)
        return self._told

    def _asked(self, network: Network) -> dict[str, Any]:
        up = {row["index"]: row for row in network.brokers if row["state"] == "up" and row.get("address")}
        system = SYSTEMS[network.system]
        if system.statistics_request(0):
            said = statistics_of(system, {index: parse_address(row["address"]) for index, row in up.items()})
        else:
            said = {index: {} for index in up}
        is_here = network.host == settings.HOST_NAME
        shown = telemetry_of({"system": network.system}).counters
        loads: list[dict[str, Any]] = []
        memories: list[dict[str, Any]] = []
        seen: dict[int, _Seen] = {}
        for index in sorted(said):
            pid = up[index].get("pid") if is_here else None
            seen[index] = _Seen(time.monotonic(), said[index], _cpu_s(pid))
            loads.append({"index": index, **_load(self._seen.get(index), seen[index], shown)})
            memories.append({"index": index, **_memory(pid), "table_bytes": said[index].get(system.table_gauge)})
        self._seen = seen
        private = (row.get("uss_bytes") for row in memories)
        return {"memory": {"brokers": memories}, "load": {"brokers": loads}, "totals": totals(loads, private, shown)}


def _load(before: _Seen | None, now: _Seen, shown: Counters) -> Load:
    row: Load = {name: now.counters[name] for name in shown.gauges if name in now.counters}
    if before is not None:
        elapsed_s = now.at_s - before.at_s
        grown = {name: growth([before.counters.get(name, 0), count]) for name, count in now.counters.items()}
        row |= {**rates(grown, elapsed_s, shown), **_answers(grown, elapsed_s, shown)} if grown else {}
        if now.cpu_s is not None and before.cpu_s is not None:
            row["cores"] = max(0.0, now.cpu_s - before.cpu_s) / elapsed_s
    return row


def _answers(grown: Mapping[str, int], elapsed_s: float, shown: Counters) -> Load:
    """Answered queries per second, and their mean number of hops."""
    if not shown.answers:
        return {}
    answers, hops = (sum(grown.get(name, 0) for name in names) for names in (shown.answers, shown.hops))
    return {"answers_per_s": answers / elapsed_s, "hops": hops / answers if answers else None}


def _memory(pid: int | None) -> dict[str, int | None]:
    """Memory of a process in bytes; ``None`` if unknown."""
    try:
        sizes = sizes_in((_PROC / str(pid) / "smaps_rollup").read_bytes()) if pid else None
    except (OSError, KeyError, ValueError, IndexError):
        sizes = None
    return dict(zip(("rss_bytes", "pss_bytes", "uss_bytes"), sizes or (None, None, None), strict=True))


def _cpu_s(pid: int | None) -> float | None:
    """CPU time of a process."""
    try:
        behind_its_name = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split() if pid else []
        return sum(map(int, behind_its_name[_PROCESSOR])) / _TICKS_PER_S if behind_its_name else None
    except (OSError, ValueError):
        return None
