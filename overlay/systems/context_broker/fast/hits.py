"""Requests of consumers that the table answers, which are most: answered without building a message.

Counterpart: ``Searching.handle_request`` answers every request, these too, with the same datagrams, counters and
traces. This is the short form where the sender is trusted, the query is not traced, no request like it is pending, and
the newest entry is valid now. Requests and Responses that are not hits go to their lane; anything else is left to the
broker. ``tests/fast/test_conversations.py`` compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.entries import Entry
from overlay.systems.context_broker.broker.pending import Pending
from overlay.systems.context_broker.broker.queries import hop_text, requester_text
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.fast.acks import ack_of
from overlay.systems.context_broker.fast.lanes import Lanes
from overlay.systems.context_broker.fast.sliced import ONE
from overlay.systems.context_broker.wire.kinds import MAX_DIGITS
from overlay.systems.context_broker.wire.messages import RawKey, Status
from overlay.systems.context_broker.wire.table import OPERATIONS

Note = Callable[[int | None, bytes, Address, int], None]
"""Given what a lane said of a datagram, and the datagram; see ``lanes.Lane``."""
Otherwise = Callable[[bytes, Address, int], None]
"""Takes a datagram that was not answered here, and that no lane was asked to take."""

_RECEIVED = ack_of(OPERATIONS[3], Status.REQ_RECEIVED)
_PROCESSED = ack_of(OPERATIONS[3], Status.REQ_PROCESSED)


class Hits:
    """``index`` is that of the broker's table; ``note`` and ``otherwise`` are the broker's."""

    __slots__ = (
        "_acknowledged",
        "_find",
        "_first",
        "_lanes",
        "_note",
        "_otherwise",
        "_quiet",
        "_second",
        "_stamped",
        "_station",
        "_trusted",
        "_trusts",
        "_waiting",
    )

    def __init__(
        self,
        station: Station,
        pending: Pending,
        index: Mapping[RawKey, Entry],
        lanes: Lanes,
        note: Note,
        otherwise: Otherwise,
    ) -> None:
        self._station = station
        self._lanes = lanes
        self._note = note
        self._otherwise = otherwise
        self._waiting = pending.queries
        self._find = index.get
        self._trusts = station.open_network.trusted_hosts
        self._trusted: Address | None = None
        """Who asked last, of those trusted."""
        self._quiet = self._acknowledged = 0
        self._stamped = -1
        """The Unix millisecond of which the two ACKs are, except for the address they go to."""
        self._first = self._second = b""

    def take(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        """Answer those that are hits, and hand on the others, in order."""
        # Whatever is the same for all of them is looked up once.
        station, tracer, waiting = self._station, self._station.tracer, self._waiting
        find, trusts, one_in, lanes = self._find, self._trusts, tracer.one_in, self._lanes
        outgoing, wall_ms = station.outgoing, (now + station.wall_offset_ns) // MILLISECOND
        trusted, is_calm, quiet = self._trusted, tracer.is_calm, 0
        for data, source in datagrams:
            try:
                code, stamp, key = data.split(b"|", 2)
            except ValueError:
                code = stamp = key = b""
            if source is trusted or (source[1] and trusts(source[0])):
                trusted = source
                is_quiet = code == b"32"
                if is_quiet or code == b"3":
                    entry = find(key)  # that of a request with hops is in no table
                    if entry is None:
                        self._note(lanes.take_request(data, is_quiet, stamp, key, source, now), data, source, now)
                        is_calm = False  # to be asked again
                        continue
                    if (
                        entry.valid_begin <= wall_ms < entry.valid_end
                        and stamp.isdigit()
                        and stamp >= ONE
                        and len(stamp) <= MAX_DIGITS
                    ):
                        timestamp = int(stamp)
                        if (
                            hash((timestamp, source[1])) % one_in
                            and (is_calm or tracer.ignores(source, timestamp, key))
                            and not (waiting and (timestamp, key + hop_text(source)) in waiting)
                        ):
                            if is_quiet:
                                outgoing.append((entry.response, source))
                                quiet += 1
                                continue
                            if wall_ms != self._stamped:
                                self._stamp(wall_ms)
                            requester = requester_text(source)
                            outgoing += (
                                (self._first + requester, source),
                                (entry.response, source),
                                (self._second + requester, source),
                            )
                            self._acknowledged += 1
                            continue
                elif code == b"4":
                    self._note(lanes.take_answer(data, source, now), data, source, now)
                    is_calm = False
                    continue
            self._quiet += quiet  # it may ask for the counters
            quiet = 0
            self._otherwise(data, source, now)
            is_calm = tracer.is_calm
        self._quiet += quiet
        self._trusted = trusted

    def _stamp(self, wall_ms: int) -> None:
        stamp = b"5|%d" % wall_ms
        self._stamped, self._first, self._second = wall_ms, stamp + _RECEIVED, stamp + _PROCESSED

    def add_to(self, counters: dict[str, int]) -> None:
        """Add what was counted here to all counters of a broker."""
        hits = self._quiet + self._acknowledged
        counters["in_32"] += self._quiet
        counters["in_3"] += self._acknowledged
        counters["out_5"] += 2 * self._acknowledged
        counters["out_4"] += hits
        counters["hits"] += hits
