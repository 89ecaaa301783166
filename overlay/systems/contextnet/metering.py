"""What servers and clients do, counted for the service-time model. Pure.

Datagrams are named by their type in the transport. Work on the log is counted in units (``names.UNITS``): the engine of
the log is asked once in a service for all that it appends, and once for what it reads next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overlay.systems.contextnet.log_member import LogMember
from overlay.systems.contextnet.names import IN_MESSAGES, IN_OTHERS, OUT_MESSAGES, OUT_OTHERS, READS, WRITES
from overlay.systems.contextnet.records import names
from overlay.systems.contextnet.transport.layouts import VERSION, Type
from overlay.systems.cores import OTHER, Meter

_NAMES = {VERSION << 4 | kind: kind.name for kind in Type}
_WITHOUT = (*names.OF_POA, *names.COMPACTED, names.CONTEXT_REPORT, names.DISCARDED, names.REJECTED)
_READ, _WRITTEN = ({f"{way}_{topic}" for topic in _WITHOUT} for way in ("in", "out"))
"""Counters of records that have no message."""


class DatagramMeter(Meter):
    """Of a node."""

    def _names(self, datagrams: Sequence[bytes]) -> list[str]:
        return [_NAMES.get(data[0], OTHER) if data else OTHER for data in datagrams]


class RecordMeter(DatagramMeter):
    """Of a member of the log."""

    def __init__(self, member: LogMember) -> None:
        self._counters = member.counters
        self._before = 0, 0, 0, 0

    def _units(self) -> Mapping[str, int]:
        before, self._before = self._before, self._records()
        units = (IN_MESSAGES, IN_OTHERS, OUT_MESSAGES, OUT_OTHERS)
        grown = {unit: now - then for unit, now, then in zip(units, self._before, before, strict=True) if now > then}
        if IN_MESSAGES in grown or IN_OTHERS in grown:
            grown[READS] = 1
        if OUT_MESSAGES in grown or OUT_OTHERS in grown:
            grown[WRITES] = 1
        return grown

    def _records(self) -> tuple[int, int, int, int]:
        """Read with messages and without, and written, so far."""
        read = other_read = written = other_written = 0
        for name, count in self._counters.items():
            if name.startswith("in_"):
                if name in _READ:
                    other_read += count
                else:
                    read += count
            elif name.startswith("out_"):
                if name in _WRITTEN:
                    other_written += count
                else:
                    written += count
        return read, other_read, written, other_written
