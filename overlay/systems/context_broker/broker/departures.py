"""Consequences of a broker's leave or crash: requests continue without it, notices are sent, replacements are searched.

A broker learns of it in three ways: the other broker leaves (7), monitoring drops it (``pings``), or a neighbour
forwards a notice (17). In the first two cases it sends notices with ``gone_ttl``. Each broker forwards each notice
once, with the TTL decremented, so a death costs at most one message per direction of each link within reach of each
witness.

A notice may be false. Its subject is dropped and pinged at once, so a false notice heals within a round trip. A broker
ignores notices of its own death. A neighbour's notice of the same death counts once per ping interval, so repeated
false notices cannot keep a link down. The limit on remembered notices restricts forwarding, but not acting on them;
otherwise one neighbour's flood would suppress all other notices.

A leaving broker still answers requests while it repeats its leave, and a notice may be false or overtake the leave.
Requests that wait for the broker therefore continue without it only after a delay, unless it had missed our pings.
"""

from __future__ import annotations

from typing import Any

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.broker.joining import FAREWELL_GAP, FAREWELLS
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.neighbour_search import NeighbourSearch
from overlay.systems.context_broker.broker.pings import Monitor
from overlay.systems.context_broker.broker.searching import Searching
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.wire.extensions import BrokerGone

GRACE = FAREWELLS * FAREWELL_GAP
MOST_NOTICES = 1024
REMEMBERED = 60 * SECOND
"""Much longer than a flood of eight hops. While the memory is full, new notices are not forwarded."""
MOST_BELIEVED = 1024
"""Maximum; beyond it the oldest are forgotten. One neighbour needs at most one entry per broker that we could lose."""


class Departures:
    __slots__ = (
        "_believed",
        "_heard",
        "_interval",
        "_members",
        "_monitor",
        "_search",
        "_searching",
        "_station",
        "_ttl",
        "_waiting",
    )

    def __init__(
        self, station: Station, members: Members, monitor: Monitor, searching: Searching, search: NeighbourSearch
    ) -> None:
        self._station = station
        self._members = members
        self._monitor = monitor
        self._searching = searching
        self._search = search
        self._ttl = station.config.gone_ttl
        self._interval = station.config.ping_interval_ms * MILLISECOND
        self._heard: dict[tuple[Address, int], int] = {}
        """Remembered notices by (broker, timestamp), with their end; the oldest first."""
        self._believed: dict[tuple[Address, Address], int] = {}
        """Notices by (neighbour, subject) that were acted on, and until when repetitions are ignored; the oldest
        first."""
        self._waiting: dict[Address, int] = {}
        """Departed brokers that requests still wait for, and until when; the earliest first."""

    def note_crash(self, address: Address, now: int) -> None:
        """Monitoring has dropped a neighbour."""
        self._searching.give_up_on(address, now)
        self._announce(address, now)

    def note_leave(self, address: Address, now: int) -> None:
        """A neighbour has left and is forgotten."""
        self._give_up_later(address, now)
        self._announce(address, now)

    def handle_notice(self, notice: BrokerGone, source: Address, now: int) -> None:
        """Handle a neighbour's notice of a leave or crash."""
        if source not in self._members:
            self._station.counters["rejected_command"] += 1
            return
        if abs(notice.timestamp - self._station.wall_ms(now)) > self._station.config.clock_window_ms:
            self._station.counters["rejected_stamp"] += 1
            return
        if notice.broker == self._station.address:
            return
        name = notice.broker, notice.timestamp
        if self._was_heard(name, now):
            self._station.counters["rejected_duplicate"] += 1
            return
        is_remembered = self._remember(name, now)
        if self._believes(source, notice.broker, now):
            self._act_on(notice.broker, now)
        if is_remembered and notice.ttl > 1:
            self._send(BrokerGone(notice.timestamp, min(notice.ttl - 1, self._ttl), notice.broker), source, now)

    def handle_timer(self, now: int) -> None:
        for address in [address for address, until in self._waiting.items() if until <= now]:
            del self._waiting[address]
            if address not in self._members:  # it has not returned
                self._searching.give_up_on(address, now)

    def next_timer(self) -> int | None:
        return next(iter(self._waiting.values()), None)

    def _announce(self, address: Address, now: int) -> None:
        self._search.note_gone(address, now)
        stamp = self._station.wall_ms(now)
        if self._ttl and not self._was_heard((address, stamp), now):
            self._remember((address, stamp), now)
            self._send(BrokerGone(stamp, self._ttl, address), None, now)

    def _act_on(self, address: Address, now: int) -> None:
        if address in self._members:
            if self._monitor.doubt(address, now):
                self._searching.give_up_on(address, now)
            else:
                self._give_up_later(address, now)
        self._search.note_gone(address, now)

    def _send(self, notice: BrokerGone, source: Address | None, now: int) -> None:
        for neighbour in self._members.neighbours:
            if neighbour not in (source, notice.broker):
                self._station.send_message(notice, neighbour, now)

    def _was_heard(self, name: tuple[Address, int], now: int) -> bool:
        _forget(self._heard, now)
        return name in self._heard

    def _remember(self, name: tuple[Address, int], now: int) -> bool:
        """Whether the memory had room."""
        if len(self._heard) >= MOST_NOTICES:
            self._station.report_limit("notices", now)
            return False
        self._heard[name] = now + REMEMBERED
        return True

    def _believes(self, source: Address, subject: Address, now: int) -> bool:
        """Whether to act on a neighbour's notice; repetitions are then ignored for a ping interval."""
        if not (subject in self._members or self._search.considers(subject)):  # irrelevant for this broker
            return False
        _forget(self._believed, now)
        if (source, subject) in self._believed:
            return False
        if len(self._believed) >= MOST_BELIEVED:
            del self._believed[next(iter(self._believed))]
        self._believed[source, subject] = now + self._interval
        return True

    def _give_up_later(self, address: Address, now: int) -> None:
        self._waiting.pop(address, None)
        if len(self._waiting) >= self._station.config.neighbour_capacity:
            longest = next(iter(self._waiting))
            del self._waiting[longest]
            self._searching.give_up_on(longest, now)
        self._waiting[address] = now + GRACE

    def check_invariants(self) -> None:
        assert len(self._heard) <= MOST_NOTICES
        assert len(self._believed) <= MOST_BELIEVED
        assert len(self._waiting) <= self._station.config.neighbour_capacity
        assert list(self._waiting.values()) == sorted(self._waiting.values())
        assert self._ttl or not (self._heard or self._believed)


def _forget(book: dict[Any, int], now: int) -> None:
    """Remove expired entries; they expire in order of insertion."""
    while book and next(iter(book.values())) <= now:
        del book[next(iter(book))]
