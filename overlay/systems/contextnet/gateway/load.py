"""The load of a gateway, as it reports it: measured, or from the capacity that a workload gives it."""

from __future__ import annotations

from math import cos, log, pi, sqrt

from overlay.core.node import SECOND
from overlay.log.topics import Record
from overlay.systems.contextnet.gateway.inbound import FromNodes
from overlay.systems.contextnet.gateway.outbound import ToNodes
from overlay.systems.contextnet.gateway.station import Station
from overlay.systems.contextnet.records import names
from overlay.systems.contextnet.records.records import Amount, LoadReport
from overlay.systems.cores import Usage


class Load:
    def __init__(self, station: Station, inbound: FromNodes, outbound: ToNodes) -> None:
        self._station, self._inbound, self._outbound = station, inbound, outbound
        self._usage: tuple[int, Usage] | None = None
        """The newest, and when it was measured; its driver tells it once a second. ``None`` in virtual time without
        service times."""
        self._before: tuple[int, Usage] | None = None
        """That of the last report, or the first one."""
        self._seq = 0
        self._lag_us = 0
        self._told_lag_us = 0
        """Of the last report."""

    @property
    def lag_ms(self) -> int:
        """The age of the oldest record that was read since the report before the last one."""
        return max(self._lag_us, self._told_lag_us) // 1_000

    def saw(self, record: Record) -> None:
        """A record for nodes was read: the oldest since the last report is the lag of the log."""
        self._lag_us = max(self._lag_us, self._station.wall_us - record.appended_us)

    def used(self, usage: Usage, now: int) -> None:
        self._usage = now, usage
        self._before = self._before or self._usage

    def begin(self) -> None:
        self._before = self._usage
        self._station.timers.set("load", self._station.now + self._station.settings.load_report_s * SECOND)

    def report(self) -> None:
        station, pool = self._station, self._outbound.pool
        connections = len(station.end.opened())
        machine, process = self._memory()
        found = LoadReport(
            gateway=station.name,
            seq=self._seq,
            at=station.wall_us,
            pool_size=pool.size,
            pool_used=min(pool.used, pool.size),
            cpu=self._cpu(connections),
            memory=machine,
            process_memory=process,
            connections=connections,
            messages_in=self._inbound.messages,
            messages_out=self._outbound.messages,
            queue=pool.parked,
            lag_ms=self._lag_us // 1_000,
        )
        station.tell(names.LOAD_REPORT, station.name.encode(), found)
        self._seq += 1
        self._told_lag_us, self._lag_us = self._lag_us, 0
        self.begin()

    def _cpu(self, connections: int) -> float:
        config = self._station.config
        if config.capacity:
            return _within(connections / config.capacity + config.load_noise * self._normal())
        if self._usage is None or self._before is None:
            return 0.0
        (at, usage), (before, used) = self._usage, self._before
        return _within((usage.processor_us - used.processor_us) * 1_000 / max(1, at - before))

    def _memory(self) -> tuple[Amount, Amount]:
        """Of the machine, and of the process. In virtual time a tenth is used (measures, workload)."""
        most = self._station.settings.memory_limit_mb * 1_000_000
        if self._usage is not None and (usage := self._usage[1]).process_bytes:
            return Amount(usage.machine_bytes, usage.machine_free), Amount(most, max(0, most - usage.process_bytes))
        tenth = Amount(most, most - most // 10)
        return tenth, tenth

    def _normal(self) -> float:
        """A draw of the standard normal distribution (Box and Muller 1958)."""
        chance = self._station.chance
        return sqrt(-2 * log(1 - chance.random())) * cos(2 * pi * chance.random())


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))
