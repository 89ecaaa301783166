"""The sending side of a session: records that have a number and are not acknowledged. Counterpart: ``receiver``.

::

    outbox ─ take ─> under way ─ acknowledged
                       │   ^
                       └───┘ again: after a time-out, or when three later datagrams arrived

Each record has the *flight* that carried it last: the number of the datagram, its time, and whether the record had been
sent before. It is one tuple per datagram, not one per record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from overlay.channel.limits import Limits
from overlay.channel.outbox import Outbox
from overlay.channel.round_trip import RoundTrip

Flight = tuple[int, int, bool]
REORDERED: Final = 3
"""A record is lost if a datagram sent so many after its own has arrived."""
ADVANCE: Final = 2
"""Datagrams sent again for each advance after a time-out."""


class Sender:
    __slots__ = (
        *("_limits", "_newest", "_no_sample", "_recover", "_timed_out", "acked", "datagram", "flights"),
        *("outbox", "records", "repeated", "room", "runs", "sacked", "trip"),
    )

    def __init__(self, limits: Limits, room: int) -> None:
        self._limits = limits
        self.room = room
        """Records after ``acked`` that the peer accepts."""
        self.outbox = Outbox(limits.queue, limits.record)
        self.trip = RoundTrip()
        self.acked = 0
        """All records up to it have arrived."""
        self.records: list[bytes] = []
        """Under way, from number ``acked + 1`` on."""
        self.flights: list[Flight] = []
        """Of each of ``records``."""
        self.sacked = 0
        """Bit i: ``records[i]`` has arrived."""
        self.datagram = 0
        """The number of the last one."""
        self.repeated = 0
        """Records sent again."""
        self.runs: list[tuple[int, int]] = []
        """Runs of records to send again: the first number, and how many."""
        self._newest = 0
        """The last datagram that is known to have arrived: it held a record that was sent once."""
        self._timed_out = 0
        """The last datagram before the last time-out."""
        self._recover = 0
        """The next number to send again after a time-out; 0 if there is none."""
        self._no_sample = 0
        """The last datagram before a pause or a time-out."""

    @property
    def sent(self) -> int:
        """The last number."""
        return self.acked + len(self.records)

    @property
    def has_work(self) -> bool:
        """Whether there is a record to send, room or not."""
        return bool(self.runs or self.outbox.waiting or self.outbox.rest)

    def fresh(self, now: int) -> tuple[int, list[bytes]]:
        """The next datagram: the number of its first record, and records. They are under way now."""
        limits, count = self._limits, len(self.records)
        free = (limits.window if limits.window < self.room else self.room) - count
        taken = self.outbox.take(free, limits.space)
        first = self.acked + count + 1
        if taken:
            self.datagram = number = self.datagram + 1
            self.records += taken
            self.flights += [(number, now, False)] * len(taken)
        return first, taken

    def again(self) -> Iterator[tuple[int, list[bytes]]]:
        """The datagrams to send again, as ``fresh`` gives them."""
        runs = self.runs
        if runs:
            self.runs = []
        for number, count in runs:
            first = max(number - self.acked - 1, 0)
            last = number + count - self.acked - 1
            if last > first:
                yield self.acked + 1 + first, self.records[first:last]

    # ---- what the peer says

    def acknowledge(self, ack: int, sack: int, now: int) -> bool:
        """All up to ``ack`` (not below ``acked``) has arrived, and what ``sack`` shows. Whether ``acked`` rose."""
        covered = ack - self.acked
        if sack or self.sacked:
            self._note_gaps(covered, sack, now)
        elif covered:
            flight = self.flights[covered - 1]
            self._sample(flight, now)
            if not flight[2]:
                self._newest = flight[0]
        if not covered:
            return False
        self.outbox.settle(self.records[:covered])
        if covered == len(self.records):
            self.records.clear()
            self.flights.clear()
        else:
            del self.records[:covered], self.flights[:covered]
        self.acked = ack
        trip = self.trip
        trip.wait = trip.rto  # an advance ends the back-off
        if self._recover and self.room:
            self._recover_more(now)
        return True

    def set_room(self, room: int) -> None:
        if not room:
            self._no_sample = self.datagram  # the pause delays what is under way
        self.room = room

    def _note_gaps(self, covered: int, sack: int, now: int) -> None:
        arrived = (1 << covered) - 1 | sack << (covered + 1)
        arrived &= (1 << len(self.records)) - 1
        fresh = arrived & ~self.sacked
        if fresh:
            self._sample(self.flights[fresh.bit_length() - 1], now)
            once = (flight[0] for i, flight in enumerate(self.flights) if fresh >> i & 1 and not flight[2])
            self._newest = max(self._newest, *once, 0)
        # That the first one has arrived cannot be shown; a peer that says so would stop its own records.
        self.sacked = (self.sacked | arrived) & ~(1 << covered)
        if self.room:
            self._find_lost(covered, now)
        self.sacked >>= covered

    def _sample(self, flight: Flight, now: int) -> None:
        datagram, at, is_repeat = flight
        if not is_repeat and datagram > self._no_sample:
            self.trip.sample(now - at)

    # ---- sending again

    def time_out(self, now: int) -> None:
        """The earliest records go again, a run that fills one datagram."""
        self._timed_out = self._no_sample = self.datagram
        self.trip.back_off()
        if self.records:
            after = self._go_again(0, now, self._is_missing)
            self._recover = self.acked + 1 + after

    def was_sent_since(self, heard_at: int) -> bool:
        """Whether one of the earliest records, those of a time-out, was sent since then."""
        return any(at >= heard_at for _, at, _ in self.flights[: self._end_of_run(0, self._is_missing)])

    def _recover_more(self, now: int) -> None:
        """What was sent before the time-out goes again, up to two datagrams."""
        i = max(self._recover - self.acked - 1, 0)
        for _ in range(ADVANCE):
            while i < len(self.records) and not self._is_old(i):
                i += 1
            if i == len(self.records):
                self._recover = 0
                return
            i = self._go_again(i, now, self._is_old)
        self._recover = self.acked + 1 + i

    def _is_missing(self, i: int) -> bool:
        return not self.sacked >> i & 1

    def _is_old(self, i: int) -> bool:
        return self.flights[i][0] <= self._timed_out and not self.sacked >> i & 1

    def _find_lost(self, covered: int, now: int) -> None:
        """Records before one that arrived go again at once if three later datagrams arrived."""
        highest = self.sacked.bit_length()
        i = covered
        while i < highest:
            if self._is_lost(i, now):
                i = self._go_again(i, now, lambda j: j < highest and self._is_lost(j, now))
            else:
                i += 1

    def _is_lost(self, i: int, now: int) -> bool:
        datagram, at, _ = self.flights[i]
        return (
            datagram + REORDERED <= self._newest
            and now - at >= self.trip.srtt  # else reordering alone would send most records many times
            and not self.sacked >> i & 1
        )

    def _go_again(self, first: int, now: int, is_due: Callable[[int], bool]) -> int:
        """Send ``records[first]`` and the due ones after it again, in one datagram. Returns the place after them."""
        end = self._end_of_run(first, is_due)
        self.datagram += 1
        self.flights[first:end] = [(self.datagram, now, True)] * (end - first)
        self.runs.append((self.acked + 1 + first, end - first))
        self.repeated += end - first
        return end

    def _end_of_run(self, first: int, is_due: Callable[[int], bool]) -> int:
        space, i = self._limits.space, first
        while i < len(self.records) and is_due(i):
            space -= len(self.records[i])
            if space < 0:
                break
            i += 1
        return i

    def check_invariants(self) -> None:
        count = len(self.records)
        assert len(self.flights) == count <= self._limits.window
        assert self.sacked.bit_length() <= count and not self.sacked & 1
        assert all(0 < datagram <= self.datagram for datagram, _, _ in self.flights)
        assert all(first + size <= self.sent + 1 for first, size in self.runs)
        assert self._newest <= self.datagram and self._recover <= self.sent + 1
        self.outbox.check_invariants(self.records)
