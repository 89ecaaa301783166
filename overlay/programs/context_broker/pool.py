"""The client of a whole network in an event loop: the sockets of ``overlay.systems.context_broker.pool``."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from overlay.core.addresses import Address, format_address
from overlay.core.node import SECOND
from overlay.programs.context_broker.client import REFUSALS, NoAnswer, NotFound, QueryName, Refused, Unanswered
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.fast.replies import read_response
from overlay.systems.context_broker.pool.pool import Pool
from overlay.systems.context_broker.pool.pool_requests import PoolRequest
from overlay.systems.context_broker.pool.stamps import EntryStamps, GivenStamp
from overlay.systems.context_broker.wire.messages import Key


@dataclass(frozen=True, slots=True)
class Found:
    """Data returned by a broker. Times are Unix milliseconds."""

    broker: Address
    """The broker that was asked; it may have found the data at another one."""
    provider: str
    payload: bytes
    timestamp: int
    """When the provider sent it."""
    valid_begin: int
    valid_end: int
    strategy: str
    """``first``, ``next`` or ``hedged``: which of the brokers asked this is."""
    query: QueryName


@dataclass(frozen=True, slots=True)
class Stored:
    """An update that a broker has acknowledged."""

    broker: Address
    first_ms: int
    last_ms: int
    """The header timestamps of its first and last transmission, Unix milliseconds. If they differ, either may be the
    stored one."""
    strategy: str


class PoolClient:
    """All exchanges with one network from one event loop. ``close`` it in that loop."""

    def __init__(self, stamps: EntryStamps | None = None, wall: WallClock | None = None) -> None:
        """``stamps``, with their clock, are shared by the pools of a process."""
        self._loop = asyncio.get_running_loop()
        self._wall = wall or WallClock()
        self._pool = Pool(self._wall, self._open, stamps)
        self._sockets: dict[int, socket.socket] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0
        self._wall_read_at = 0

    async def ask(
        self,
        key: Key,
        brokers: tuple[Address, ...],
        deadline_s: float,
        *,
        holder: Address | None = None,
        is_alone: bool = False,
        trace_one_in: int = 0,
    ) -> Found:
        """Valid data about (type, id, scope), through any of ``brokers``, ``is_alone``: through the first.

        Raises ``NotFound``, ``NoAnswer``; ``TooMany`` and ``WireError`` before anything is sent.
        """
        now = self._now()
        deadline = now + round(deadline_s * SECOND)
        request = self._pool.ask(
            key, brokers, now, deadline, holder=holder, is_alone=is_alone, trace_one_in=trace_one_in
        )
        await self._end_of(request)
        if request.outcome != "answered" or request.answered is None:
            raise _unanswered(request, deadline_s)
        one = request.answered
        timestamp, provider, begin, end, payload = read_response(one.exchange.reply_bytes)
        return Found(
            one.exchange.broker,
            provider,
            payload,
            timestamp,
            begin,
            end,
            request.strategy,
            QueryName(one.lane.own, one.exchange.last_stamp),
        )

    async def provide(
        self,
        provider: str,
        key: Key,
        payload: bytes,
        valid_ms: int,
        brokers: tuple[Address, ...],
        deadline_s: float,
        *,
        holder: Address | None = None,
        is_alone: bool = False,
        given: GivenStamp | None = None,
    ) -> Stored:
        """Store data at one of ``brokers``; ``given``: with these times, not those of the clock.

        Raises ``Refused``, ``NoAnswer``; ``TooMany`` and ``WireError`` before anything is sent.
        """
        now = self._now()
        deadline = now + round(deadline_s * SECOND)
        request = self._pool.provide(
            provider, key, payload, valid_ms, brokers, now, deadline, holder=holder, is_alone=is_alone, given=given
        )
        await self._end_of(request)
        if request.outcome != "answered" or request.answered is None:
            raise _unanswered(request, deadline_s)
        exchange = request.answered.exchange
        return Stored(exchange.broker, exchange.first_stamp, exchange.last_stamp, request.strategy)

    async def withdraw(
        self, provider: str, key: Key, until: int, stamp: int, broker: Address, deadline_s: float
    ) -> None:
        """Let one broker no longer serve a provider's data that are not newer than ``stamp``; ``until`` is their latest
        ValidEnd, 0 if unknown. All brokers get the same ``stamp``, from ``EntryStamps.next``.

        Raises ``Refused``, ``NoAnswer``; ``TooMany`` and ``WireError`` before anything is sent.
        """
        now = self._now()
        deadline = now + round(deadline_s * SECOND)
        request = self._pool.withdraw(provider, key, until, stamp, broker, now, deadline)
        await self._end_of(request)
        if request.outcome != "answered":
            raise _unanswered(request, deadline_s)

    def stamp(self, provider: str, key: Key, least: int) -> int:
        """The timestamp of a withdrawal: later than every update of this process, and not before ``least``."""
        return self._pool.stamps.next((provider, key), self._now(), least)

    def keep(self, brokers: Collection[Address]) -> None:
        """These are the network's brokers now."""
        self._pool.keep(brokers)
        self._flush()

    def close(self) -> None:
        """Close all sockets. Requests in progress end without an answer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for number in list(self._sockets):
            self._close(number)

    def _now(self) -> int:
        now = time.monotonic_ns()
        if now - self._wall_read_at > SECOND:
            self._wall_read_at = now
            self._wall.offset_ns = wall_offset_ns()
        return now

    async def _end_of(self, request: PoolRequest) -> None:
        waiter = request.waiter = self._loop.create_future()
        self._flush()
        try:
            await waiter
        except asyncio.CancelledError:
            self._pool.cancel(request)
            self._flush()
            raise

    def _flush(self) -> None:
        """Do what the pool has queued."""
        pool = self._pool
        if pool.outgoing:
            for number, data in pool.take_outgoing():
                self._send(number, data)
        if pool.ports.closing:
            for number in pool.ports.take_closing():
                self._close(number)
        if pool.finished:
            for request in pool.take_finished():
                waiter = cast("asyncio.Future[None]", request.waiter)
                if not waiter.done():
                    waiter.set_result(None)
        due = pool.next_timer()
        if due is not None and (self._timer is None or due < self._timer_at):
            self._arm(due)

    def _arm(self, due: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = due
        self._timer = self._loop.call_at(due / SECOND, self._timed)

    def _timed(self) -> None:
        self._timer = None
        self._pool.handle_timer(self._now())
        self._flush()

    def _open(self, number: int, broker: Address) -> Address | None:
        sock = socket.socket(socket.AF_INET6 if ":" in broker[0] else socket.AF_INET, socket.SOCK_DGRAM)
        try:
            sock.setblocking(False)
            sock.connect(broker)
        except OSError:
            sock.close()
            return None
        self._sockets[number] = sock
        self._loop.add_reader(sock, self._readable, number, sock)
        own: Address = sock.getsockname()[:2]
        return own

    def _close(self, number: int) -> None:
        sock = self._sockets.pop(number, None)
        if sock is not None:
            if not self._loop.is_closed():
                self._loop.remove_reader(sock)
            sock.close()

    def _send(self, number: int, data: bytes) -> None:
        sock = self._sockets.get(number)
        if sock is None:
            return
        try:
            sock.send(data)
        except BlockingIOError:  # as if the network had lost it: it is sent again
            return
        except OSError:
            self._loop.call_soon(self._refused, number)

    def _readable(self, number: int, sock: socket.socket) -> None:
        try:
            data = sock.recv(MAX_DATAGRAM_BYTES)
        except BlockingIOError:
            return
        except OSError:  # its host reports a closed port
            self._refused(number)
            return
        self._pool.receive_datagram(number, data, time.monotonic_ns())
        self._flush()

    def _refused(self, number: int) -> None:
        self._pool.is_refused(number, time.monotonic_ns())
        self._flush()


def _unanswered(request: PoolRequest, deadline_s: float) -> Unanswered:
    one = request.answered
    asked = list(dict.fromkeys(broker for broker, _, _ in request.failed)) or list(request.brokers)
    error: Unanswered
    if request.outcome == "not_found":
        error = NotFound(f"{', '.join(map(format_address, asked))} found no valid data")
    elif request.outcome == "refused" and one is not None:
        status = one.exchange.status
        return Refused(one.exchange.broker, status, REFUSALS.get(status, "no reason given"))
    else:
        return NoAnswer(f"no answer from {', '.join(map(format_address, asked))} within {deadline_s:g} s")
    if one is not None:
        error.query = QueryName(one.lane.own, one.exchange.last_stamp)
    return error
