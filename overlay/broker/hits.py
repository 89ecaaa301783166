"""Requests of consumers that the table answers, which are most: answered without building a message.

Counterpart: ``searching`` answers every request, these too, in the same datagrams, counters and traces. Here is what it
comes to when the sender is trusted, the query is not traced, no request like it still waits, and the newest entry is
valid now; whatever else comes is left to it. ``tests/broker/test_hits.py`` holds the two together.
"""

from __future__ import annotations

from overlay.addresses import Address, format_address
from overlay.broker.fields import MAX_DIGITS
from overlay.broker.messages import OPERATIONS
from overlay.broker.pending import Pending
from overlay.broker.sliced import hop_text
from overlay.broker.station import Station
from overlay.broker.table import Table
from overlay.node import MILLISECOND

_FIRST = "ACK|Status:101|Operation " + OPERATIONS[3]
_STATUS, _SECOND_STATUS = b"|Status:101|", b"|Status:102|"


class Hits:
    def __init__(self, station: Station, pending: Pending, table: Table) -> None:
        self._station = station
        self._pending = pending
        self._index = table.index
        self._trusts = station.open_network.trusted_hosts
        self._ignores = station.tracer.ignores
        self._quiet = 0
        self._acknowledged = 0

    def answer(self, data: bytes, source: Address, now: int) -> bool:
        """Whether it was such a request; it is answered then. The key of one with hops is in no table."""
        parts = data.split(b"|", 2)
        if len(parts) != 3:
            return False
        code, stamp, key = parts
        entry = self._index.get(key)
        if entry is None:
            return False
        station = self._station
        wall_ms = (now + station.wall_offset_ns) // MILLISECOND
        if not entry.valid_begin <= wall_ms < entry.valid_end or not self._trusts(source[0]):
            return False
        if not stamp.isdigit() or len(stamp) > MAX_DIGITS or (stamp[0] == 48 and len(stamp) > 1):
            return False
        if not self._ignores(source, int(stamp), key):
            return False
        if len(self._pending) and self._pending.holds(int(stamp), key + hop_text(source), now):
            return False
        outgoing = station.outgoing
        if code == b"32":
            outgoing.append((entry.response, source))
            self._quiet += 1
        elif code == b"3":
            ack = f"5|{wall_ms}|{_FIRST}|Requested by {format_address(source)}".encode()
            outgoing.append((ack, source))
            outgoing.append((entry.response, source))
            outgoing.append((ack.replace(_STATUS, _SECOND_STATUS, 1), source))
            self._acknowledged += 1
        else:
            return False
        return True

    def settle(self) -> None:
        """Bring the station's counters up to date."""
        received, sent, counters = self._station.received, self._station.sent, self._station.counters
        received[32] += self._quiet
        received[3] += self._acknowledged
        sent[5] += 2 * self._acknowledged
        sent[4] += self._quiet + self._acknowledged
        counters["hits"] += self._quiet + self._acknowledged
        self._quiet = self._acknowledged = 0
