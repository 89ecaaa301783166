"""Requests of consumers that the table answers, which are most: answered without building a message.

Counterpart: ``searching`` answers every request, these too, in the same datagrams, counters and traces. Here is what it
comes to when the sender is trusted, the query is not traced, no request like it still waits, and the newest entry is
valid now; whatever else comes is left to it. ``tests/broker/test_hits.py`` holds the two together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from overlay.addresses import Address
from overlay.broker.fields import MAX_DIGITS
from overlay.broker.messages import OPERATIONS, RawKey
from overlay.broker.pending import Pending
from overlay.broker.sliced import ONE, hop_text, requester_text
from overlay.broker.station import Station
from overlay.broker.table import Entry
from overlay.node import MILLISECOND

_THREE = ord("3")
_NONE = (b"", b"", b"")


class Hits(ABC):
    """The front of a broker: it answers what it can at once, and hands on the rest. ``index`` is of its table."""

    def __init__(self, station: Station, pending: Pending, index: Mapping[RawKey, Entry]) -> None:
        self._station = station
        self._waiting = pending.queries
        self._index = index
        self._trusts = station.open_network.trusted_hosts
        self._ignores = station.tracer.ignores
        self._quiet = self._acknowledged = 0
        self._stamped = -1
        """The Unix millisecond of which the two ACKs are, but for whom they are sent to."""
        self._first = self._second = b""

    @abstractmethod
    def _receive(self, data: bytes, source: Address, now: int) -> None:
        """Take a datagram that was not answered at once."""

    def receive_datagram(self, data: bytes, source: Address, now: int) -> None:
        try:
            code, stamp, key = data.split(b"|", 2) if data[0] == _THREE else _NONE
        except (IndexError, ValueError):
            code, stamp, key = _NONE
        entry = self._index.get(key)  # that of a request with hops is in no table
        if entry is None:
            self._receive(data, source, now)
            return
        station = self._station
        wall_ms = (now + station.wall_offset_ns) // MILLISECOND
        if (
            not entry.valid_begin <= wall_ms < entry.valid_end
            or not (stamp.isdigit() and stamp >= ONE and len(stamp) <= MAX_DIGITS)
            or not (source[1] and self._trusts(source[0]))
            or not self._ignores(source, int(stamp), key)
            or (self._waiting and (int(stamp), key + hop_text(source)) in self._waiting)
        ):
            self._receive(data, source, now)
        elif code == b"32":
            station.outgoing.append((entry.response, source))
            self._quiet += 1
        elif code == b"3":
            if wall_ms != self._stamped:
                self._stamp(wall_ms)
            requester = requester_text(source)
            station.outgoing += (
                (self._first + requester, source),
                (entry.response, source),
                (self._second + requester, source),
            )
            self._acknowledged += 1
        else:
            self._receive(data, source, now)

    def _stamp(self, wall_ms: int) -> None:
        ack = f"5|{wall_ms}|ACK|Status:%d|Operation {OPERATIONS[3]}|Requested by "
        self._stamped, self._first, self._second = wall_ms, (ack % 101).encode(), (ack % 102).encode()

    def _settle_hits(self) -> None:
        """Bring the station's counters up to date."""
        received, sent, counters = self._station.received, self._station.sent, self._station.counters
        received[32] += self._quiet
        received[3] += self._acknowledged
        sent[5] += 2 * self._acknowledged
        sent[4] += self._quiet + self._acknowledged
        counters["hits"] += self._quiet + self._acknowledged
        self._quiet = self._acknowledged = 0
