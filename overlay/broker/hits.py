"""Requests of consumers that the table answers, which are most: answered without building a message.

Counterpart: ``searching`` answers every request, these too, in the same datagrams, counters and traces. Here is what it
comes to when the sender is trusted, the query is not traced, no request like it still waits, and the newest entry is
valid now; whatever else comes is left to it. ``tests/broker/test_hits.py`` holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable

from overlay.addresses import Address
from overlay.broker.fields import MAX_DIGITS
from overlay.broker.messages import OPERATIONS
from overlay.broker.pending import Pending
from overlay.broker.sliced import ONE, hop_text, requester_text
from overlay.broker.station import Station
from overlay.broker.table import Table
from overlay.node import MILLISECOND, NEVER

Otherwise = Callable[[bytes, bytes, bytes, Address, int], int | None]
"""Takes a request split into code, timestamp and the rest, its source and the time; a lane from there on."""


class Hits:
    __slots__ = (
        "_acknowledged", "_first", "_ignores", "_index", "_otherwise", "_pending", "_quiet", "_second", "_stamped",
        "_station", "_trusts",
    )  # fmt: skip

    def __init__(self, station: Station, pending: Pending, table: Table, otherwise: Otherwise) -> None:
        self._station = station
        self._pending = pending
        self._index = table.index
        self._otherwise = otherwise
        self._trusts = station.open_network.trusted_hosts
        self._ignores = station.tracer.ignores
        self._quiet = 0
        self._acknowledged = 0
        self._stamped = -1
        """The Unix millisecond of which the two ACKs are, but for whom they are sent to."""
        self._first = self._second = b""

    def answer(self, data: bytes, source: Address, now: int) -> int | None:
        """A lane for 3 and 32."""
        try:
            code, stamp, key = data.split(b"|", 2)
        except ValueError:
            return None
        entry = self._index.get(key)  # that of a request with hops is in no table
        if entry is None:
            return self._otherwise(code, stamp, key, source, now)
        station = self._station
        wall_ms = (now + station.wall_offset_ns) // MILLISECOND
        if (
            not entry.valid_begin <= wall_ms < entry.valid_end
            or not (stamp.isdigit() and stamp >= ONE and len(stamp) <= MAX_DIGITS)
            or not self._trusts(source[0])
            or not self._ignores(source, int(stamp), key)
            or (len(self._pending) and self._pending.holds(int(stamp), key + hop_text(source), now))
        ):
            return self._otherwise(code, stamp, key, source, now)
        if code == b"32":
            station.outgoing.append((entry.response, source))
            self._quiet += 1
            return NEVER
        if code != b"3":
            return None
        if wall_ms != self._stamped:
            self._stamp(wall_ms)
        requester = requester_text(source)
        station.outgoing += (
            (self._first + requester, source),
            (entry.response, source),
            (self._second + requester, source),
        )
        self._acknowledged += 1
        return NEVER

    def _stamp(self, wall_ms: int) -> None:
        ack = f"5|{wall_ms}|ACK|Status:%d|Operation {OPERATIONS[3]}|Requested by "
        self._stamped, self._first, self._second = wall_ms, (ack % 101).encode(), (ack % 102).encode()

    def settle(self) -> None:
        """Bring the station's counters up to date."""
        received, sent, counters = self._station.received, self._station.sent, self._station.counters
        received[32] += self._quiet
        received[3] += self._acknowledged
        sent[5] += 2 * self._acknowledged
        sent[4] += self._quiet + self._acknowledged
        counters["hits"] += self._quiet + self._acknowledged
        self._quiet = self._acknowledged = 0
