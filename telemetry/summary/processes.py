"""Memory, processor time and counters of processes between two times, from their ticks. Pure.

Processes write ticks once a second, at different times. A count between two times is therefore taken between the last
tick at or before the first time and the first tick at or after the second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from overlay.core.errors import InvalidSetting
from overlay.experiment.definition import graph_of
from overlay.journal.counters import growth
from overlay.journal.facts import ALL_BROKERS, CLIENT_GAUGES, SUPERVISOR, Tick
from overlay.systems.contract import System
from overlay.systems.registry import SYSTEMS
from overlay.systems.roles import server_names

MEMORY = ("rss_bytes", "pss_bytes", "uss_bytes")


def by_process(ticks: Iterable[Tick]) -> dict[str, list[Tick]]:
    """Each process's ticks in chronological order."""
    found: dict[str, list[Tick]] = defaultdict(list)
    for tick in ticks:
        found[tick.process].append(tick)
    return {process: sorted(rows, key=lambda tick: tick.at_us) for process, rows in sorted(found.items())}


class Servers:
    """The servers of a run by the names of their processes, and their indices."""

    def __init__(self, system: System, names: Sequence[str] = (), kinds: Mapping[int, str] | None = None) -> None:
        """In a system with one role, a name that is not in ``names`` has its own number as its index."""
        self.system = system
        self.kinds = kinds or {}
        """As ``System.kinds``."""
        self._names = names
        self._index = {name: index for index, name in enumerate(names)}

    @classmethod
    def of(cls, manifest: Mapping[str, Any], system: System) -> Servers:
        """Without their names for a manifest with a topology or settings that this version cannot read."""
        try:
            topology, workload = manifest["topology"], manifest.get("workload")
            setup = system.setup(manifest["settings"], workload, graph_of(topology))
        except (KeyError, TypeError, InvalidSetting):
            return cls(system)
        return cls(system, server_names(system.roles(setup)), system.kinds(setup))

    def index(self, process: str) -> int | None:
        """``None`` for another kind of process."""
        if process in self._index or len(self.system.role_names) > 1:
            return self._index.get(process)
        role, _, number = process.rpartition("-")
        return int(number) if role in self.system.role_names and number.isdigit() else None

    def __len__(self) -> int:
        """Their number; 0 if unknown."""
        return len(self._names)

    def name(self, index: int) -> str:
        """The process of one server."""
        return next(iter(self.names(index)), str(index))

    def names(self, *indices: int | None) -> set[str]:
        """The processes of these servers."""
        if self._names:
            return {self._names[index] for index in indices if index is not None and 0 <= index < len(self._names)}
        return {f"{self.system.role_names[0]}-{index}" for index in indices}

    def has(self, process: str) -> bool:
        """Whether it is a server, or the sum of all."""
        return process == ALL_BROKERS or self.index(process) is not None

    def is_fleet(self, process: str) -> bool:
        """Whether it contains clients."""
        return not self.has(process) and process != SUPERVISOR


def server_number(process: str) -> int | None:
    """The number in ``broker-3``, for servers of any system; ``None`` for another kind of process."""
    role, _, number = process.rpartition("-")
    is_server = any(role in system.role_names for system in SYSTEMS.values())
    return int(number) if is_server and number.isdigit() else None


def between(ticks: Sequence[Tick], begin_us: int, end_us: int) -> list[Tick]:
    """The ticks between the two times, and the nearest one on either side."""
    inside = [i for i, tick in enumerate(ticks) if begin_us < tick.at_us < end_us]
    before = [i for i, tick in enumerate(ticks) if tick.at_us <= begin_us]
    after = [i for i, tick in enumerate(ticks) if tick.at_us >= end_us]
    return [ticks[i] for i in [*before[-1:], *inside, *after[:1]]]


def counters_between(system: System, ticks: Sequence[Tick], begin_us: int, end_us: int) -> dict[str, int]:
    """The growth of each counter of one process between two times."""
    rows = between(ticks, begin_us, end_us)
    names = sorted({name for tick in rows for name in tick.counters} - system.gauges - CLIENT_GAUGES)
    return {name: growth([tick.counters.get(name, 0) for tick in rows]) for name in names}


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The sum of several processes' counters, by name."""
    total: dict[str, int] = defaultdict(int)
    for row in counts:
        for name, count in row.items():
            total[name] += count
    return dict(total)


def cores_used(ticks: Sequence[Tick], begin_us: int, end_us: int) -> float | None:
    """Processor time of one process per elapsed time: 1.0 is one busy core. ``None`` with fewer than two ticks."""
    rows = between(ticks, begin_us, end_us)
    if len(rows) < 2 or rows[-1].at_us <= rows[0].at_us:
        return None
    return growth([tick.cpu_us for tick in rows]) / (rows[-1].at_us - rows[0].at_us)


def memory_of(tick: Tick) -> dict[str, int | None]:
    """Each kind of memory, bytes; ``None`` if the platform or the simulation does not report it."""
    return {name: getattr(tick, name) or None for name in MEMORY}


def private(memory: Mapping[str, int | None]) -> int | None:
    """USS, the memory that the end of the process would free; RSS if USS is unknown."""
    return memory["uss_bytes"] or memory["rss_bytes"]


def over_idle(memory: Mapping[str, int | None], idle: Mapping[str, int | None]) -> int | None:
    """Private memory in addition to that of the idle process; ``None`` if either is unknown."""
    now, before = private(memory), private(idle)
    return None if now is None or before is None else now - before


def broker_memory(
    system: System, index: int, ticks: Sequence[Tick], clients_began_us: int, begin_us: int, end_us: int
) -> dict[str, Any]:
    """One server's memory during measuring: means over its ticks, in bytes.

    ``over_idle_bytes`` is the mean private memory minus that of the last tick before the first message of a client:
    the cost of serving these clients. ``None`` if no tick was early enough, or none was during measuring.
    """
    inside = [tick for tick in ticks if begin_us <= tick.at_us <= end_us]
    idle = [tick for tick in ticks if tick.at_us < clients_began_us]
    row: dict[str, Any] = {"index": index, "ticks": len(inside)}
    for name in MEMORY:
        row[name] = _mean(memory_of(tick)[name] for tick in inside)
    row["over_idle_bytes"] = _mean(over_idle(memory_of(tick), memory_of(idle[-1])) for tick in inside) if idle else None
    row["table_bytes"] = _mean(tick.counters.get(system.table_gauge) for tick in inside)
    return row


def mean_memory(brokers: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """The mean over brokers of each kind of memory, without missing values."""
    return {name: _mean(row[name] for row in brokers) for name in (*MEMORY, "over_idle_bytes", "table_bytes")}


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of known values."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
