"""The server's uplink: paced in the core. Everything else leaves before pushes; each in order of arrival."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.systems.radiator.chains.transfers import Transfer


class Waiting(NamedTuple):
    """A datagram in the queue. ``size`` is what it counts, in bytes."""

    data: bytes
    to: Address
    size: int
    transfer: Transfer | None
    at: int
    spared: int
    """Bytes that compression spares."""


class Uplink:
    """``rate`` is in bytes/s, 0 for no limit. A datagram leaves at the end of its size divided by the rate.

    ``may_leave`` is asked when the turn of a push comes; ``left`` is called when it leaves.
    """

    def __init__(
        self, rate: int, may_leave: Callable[[Transfer, int], bool], left: Callable[[Transfer, int], None]
    ) -> None:
        self._rate, self._may_leave, self._left = rate, may_leave, left
        self._queues: tuple[deque[Waiting], deque[Waiting]] = (deque(), deque())
        self._current: tuple[int, Waiting] | None = None
        """What is being sent, and when it leaves."""
        self._free_at = 0
        self._is_advancing = False
        self._out: list[tuple[bytes, Address]] = []
        self.queued_bytes = 0
        """Everything that has not left."""
        self._is_cut = False
        self.bytes_sent = self.datagrams_sent = self.bytes_spared = 0
        self.bytes_pushed = 0
        """Of ``bytes_sent``, those of pushes."""
        self.bytes_given = 0
        """Of datagrams, as drivers get them."""

    def put(
        self, data: bytes, to: Address, size: int, now: int, transfer: Transfer | None = None, spared: int = 0
    ) -> None:
        if not self._rate and not self._is_cut and not self._is_advancing and not any(self._queues):
            if transfer is None or (not transfer.is_over and self._may_leave(transfer, now)):
                self._leave(data, to, size, now, transfer, spared)
            return
        waiting = Waiting(data, to, size, transfer, now, spared)
        self.queued_bytes += size
        self._queues[transfer is not None].append(waiting)
        self.handle_timer(now)

    def handle_timer(self, now: int) -> None:
        if self._current is not None and self._current[0] > now:
            return
        if not self._is_advancing:  # a push that may not leave is replaced by others, which are put meanwhile
            self._is_advancing = True
            self._advance(now)
            self._is_advancing = False

    def next_timer(self) -> int | None:
        """``None`` if the queue is empty, or while it is cut."""
        if self._is_cut:
            return None
        if self._current is not None:
            return self._current[0]
        found = self._next()
        return None if found is None else found[0]

    def cut(self, now: int) -> None:
        """Nothing leaves until ``mend``. The wait for what is in the queue goes on."""
        self.handle_timer(now)
        self._is_cut = True

    def mend(self, now: int) -> None:
        self._is_cut = False
        self._free_at = max(self._free_at, now)
        if self._current is not None:
            self._current = max(self._current[0], now), self._current[1]
        self.handle_timer(now)

    def datagrams_to_send(self) -> list[tuple[bytes, Address]]:
        out, self._out = self._out, []
        return out

    def _advance(self, now: int) -> None:
        while not self._is_cut and (self._current is not None or self._begin(now)):
            assert self._current is not None
            leaves_at, waiting = self._current
            if leaves_at > now:
                return
            self._current, self._free_at = None, leaves_at
            self.queued_bytes -= waiting.size
            self._leave(waiting.data, waiting.to, waiting.size, leaves_at, waiting.transfer, waiting.spared)

    def _begin(self, now: int) -> bool:
        """Begin to send the next datagram, if there is one."""
        while (found := self._next()) is not None and found[0] <= now:
            begins_at, queue = found
            waiting = queue.popleft()
            transfer = waiting.transfer
            if transfer is not None and (transfer.is_over or not self._may_leave(transfer, now)):
                self.queued_bytes -= waiting.size
                continue
            self._current = (begins_at + (waiting.size * SECOND // self._rate if self._rate else 0), waiting)
            return True
        return False

    def _next(self) -> tuple[int, deque[Waiting]] | None:
        """The queue whose turn is next, and when. A push that waits when the uplink becomes free is not held up by what
        comes later, though a late driver knows of both."""
        others, pushes = self._queues
        if others and (not pushes or max(self._free_at, others[0].at) <= max(self._free_at, pushes[0].at)):
            return max(self._free_at, others[0].at), others
        return (max(self._free_at, pushes[0].at), pushes) if pushes else None

    def _leave(self, data: bytes, to: Address, size: int, at: int, transfer: Transfer | None, spared: int) -> None:
        self.bytes_sent += size
        self.bytes_spared += spared
        self.datagrams_sent += 1
        self.bytes_given += len(data)
        self._out.append((data, to))
        if transfer is not None:
            self.bytes_pushed += size
            self._left(transfer, at)

    def check_invariants(self) -> None:
        waiting = [one for queue in self._queues for one in queue]
        if self._current is not None:
            waiting.append(self._current[1])
        assert self.queued_bytes == sum(one.size for one in waiting)
