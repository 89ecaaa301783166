"""What ticks say of processes between two instants: memory, processor time, counters. Pure.

A tick falls where the process happened to be once a second, so a count between two instants is read between the last
tick at or before the first of them and the first tick at or after the second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from overlay.journal.counters import growth
from overlay.journal.facts import ALL_BROKERS, GAUGES, SUPERVISOR, Tick
from overlay.systems.contract import System, server_names
from overlay.systems.registry import SYSTEMS
from overlay.topologies import Graph

MEMORY = ("rss_bytes", "pss_bytes", "uss_bytes")


def by_process(ticks: Iterable[Tick]) -> dict[str, list[Tick]]:
    """Each process's ticks in the order of time."""
    found: dict[str, list[Tick]] = defaultdict(list)
    for tick in ticks:
        found[tick.process].append(tick)
    return {process: sorted(rows, key=lambda tick: tick.at_us) for process, rows in sorted(found.items())}


class Servers:
    """The servers of a run by the names of their processes, and their indices."""

    def __init__(self, system: System, names: Sequence[str] = ()) -> None:
        """Of a system with one role, a name that is not among ``names`` has its own number for an index."""
        self.system = system
        self._names = names
        self._index = {name: index for index, name in enumerate(names)}

    @classmethod
    def of(cls, manifest: Mapping[str, Any], system: System) -> Servers:
        brokers = (manifest.get("topology") or {}).get("brokers")
        return cls(system, server_names(system.roles(Graph(brokers, ()))) if isinstance(brokers, int) else ())

    def index(self, process: str) -> int | None:
        """``None`` for another kind of process."""
        if process in self._index or len(self.system.role_names) > 1:
            return self._index.get(process)
        role, _, number = process.rpartition("-")
        return int(number) if role in self.system.role_names and number.isdigit() else None

    def __len__(self) -> int:
        """How many there are; 0 where that is not known."""
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
        """Whether clients are in it."""
        return not self.has(process) and process != SUPERVISOR


def server_number(process: str) -> int | None:
    """The number in ``broker-3``, of a server of any system; ``None`` for another kind of process."""
    role, _, number = process.rpartition("-")
    is_server = any(role in system.role_names for system in SYSTEMS.values())
    return int(number) if is_server and number.isdigit() else None


def between(ticks: Sequence[Tick], begin_us: int, end_us: int) -> list[Tick]:
    """The ticks within the two instants, and the nearest one on either side of them."""
    inside = [i for i, tick in enumerate(ticks) if begin_us < tick.at_us < end_us]
    before = [i for i, tick in enumerate(ticks) if tick.at_us <= begin_us]
    after = [i for i, tick in enumerate(ticks) if tick.at_us >= end_us]
    return [ticks[i] for i in [*before[-1:], *inside, *after[:1]]]


def counters_between(ticks: Sequence[Tick], begin_us: int, end_us: int) -> dict[str, int]:
    """How much each counter of one process grew between two instants."""
    rows = between(ticks, begin_us, end_us)
    names = sorted({name for tick in rows for name in tick.counters} - GAUGES)
    return {name: growth([tick.counters.get(name, 0) for tick in rows]) for name in names}


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Counters of several processes added up by name."""
    total: dict[str, int] = defaultdict(int)
    for row in counts:
        for name, count in row.items():
            total[name] += count
    return dict(total)


def cores_used(ticks: Sequence[Tick], begin_us: int, end_us: int) -> float | None:
    """Processor time of one process per time passed: 1.0 is one core kept busy. ``None`` with fewer than two ticks."""
    rows = between(ticks, begin_us, end_us)
    if len(rows) < 2 or rows[-1].at_us <= rows[0].at_us:
        return None
    return growth([tick.cpu_us for tick in rows]) / (rows[-1].at_us - rows[0].at_us)


def memory_of(tick: Tick) -> dict[str, int | None]:
    """Each kind of memory, bytes; ``None`` of what the platform or the simulation cannot tell."""
    return {name: getattr(tick, name) or None for name in MEMORY}


def private(memory: Mapping[str, int | None]) -> int | None:
    """USS, what the process's end would give back; RSS where the platform cannot tell."""
    return memory["uss_bytes"] or memory["rss_bytes"]


def over_idle(memory: Mapping[str, int | None], idle: Mapping[str, int | None]) -> int | None:
    """How much private memory there is beyond that of the idle process; ``None`` where either is not known."""
    now, before = private(memory), private(idle)
    return None if now is None or before is None else now - before


def broker_memory(
    index: int, ticks: Sequence[Tick], clients_began_us: int, begin_us: int, end_us: int
) -> dict[str, Any]:
    """One broker's memory while measuring: means over its ticks, in bytes.

    ``over_idle_bytes`` is the mean private memory minus that of the last tick before the first client sent anything:
    what serving these clients cost. ``None`` where no tick was early enough, or none fell into measuring.
    """
    inside = [tick for tick in ticks if begin_us <= tick.at_us <= end_us]
    idle = [tick for tick in ticks if tick.at_us < clients_began_us]
    row: dict[str, Any] = {"index": index, "ticks": len(inside)}
    for name in MEMORY:
        row[name] = _mean(memory_of(tick)[name] for tick in inside)
    row["over_idle_bytes"] = _mean(over_idle(memory_of(tick), memory_of(idle[-1])) for tick in inside) if idle else None
    row["table_bytes"] = _mean(tick.counters.get("bytes") for tick in inside)
    return row


def mean_memory(brokers: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """The mean over brokers of each kind of memory, leaving out what was not measured."""
    return {name: _mean(row[name] for row in brokers) for name in (*MEMORY, "over_idle_bytes", "table_bytes")}


def _mean(values: Iterable[float | None]) -> float | None:
    """Of those that are known."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
