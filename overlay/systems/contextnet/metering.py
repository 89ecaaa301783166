"""What servers and clients do, counted for the service-time model. Pure.

Datagrams are named by their type in the transport. Work on the log is counted in units (``names.UNITS``): the engine of
the log is asked once in a service for all that it appends, and once for what it reads next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overlay.systems.contextnet.log_member import LogMember
from overlay.systems.contextnet.names import IN_MESSAGES, IN_OTHERS, OUT_RECORDS, READS, WRITES
from overlay.systems.contextnet.records import names
from overlay.systems.contextnet.transport.layouts import VERSION, Type
from overlay.systems.cores import OTHER, Meter

_NAMES = {VERSION << 4 | kind: kind.name for kind in Type}
_WITHOUT = {
    f"in_{topic}" for topic in (*names.OF_POA, *names.COMPACTED, names.CONTEXT_REPORT, names.DISCARDED, names.REJECTED)
}
"""Counters of records read that have no message."""


class DatagramMeter(Meter):
    """Of a node."""

    def _names(self, datagrams: Sequence[bytes]) -> list[str]:
        return [_NAMES.get(data[0], OTHER) if data else OTHER for data in datagrams]


class RecordMeter(DatagramMeter):
    """Of a member of the log."""

    def __init__(self, member: LogMember) -> None:
        self._counters = member.counters
        self._before = 0, 0, 0

    def _units(self) -> Mapping[str, int]:
        messages = others = written = 0
        for name, count in self._counters.items():
            if name.startswith("out_"):
                written += count
            elif name.startswith("in_"):
                if name in _WITHOUT:
                    others += count
                else:
                    messages += count
        before, self._before = self._before, (messages, others, written)
        read, other, out = messages - before[0], others - before[1], written - before[2]
        found = {IN_MESSAGES: read, IN_OTHERS: other, OUT_RECORDS: out, READS: read or other, WRITES: out}
        return {name: 1 if name in (READS, WRITES) else count for name, count in found.items() if count}
