"""Drives one ``Node`` over one real UDP socket, in one thread, without an event loop.

Counterparts: ``overlay.node`` is the seam, ``overlay.links`` shapes what goes out, ``overlay.runtime.daemon`` puts a
broker in. The shape follows measurements: a plain blocking ``recvfrom`` and ``sendto`` beat every event loop of the
language (asyncio by four times), and a kernel time-out (``SO_RCVTIMEO``) costs nothing where ``settimeout`` costs a
``poll`` before each call. There is no batch to drain, hence no bound of a batch at which a datagram could be lost.

::

    recvfrom ─> node.receive_datagram ─> node.datagrams_to_send ─┬─ clear link ──> sendto
       ^  time-out: timers, held datagrams, housekeeping          └─ shaped link ─> held until due ─> sendto
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from select import select
from time import monotonic_ns

from overlay.addresses import Address, format_address
from overlay.links import Shaper
from overlay.node import MILLISECOND, SECOND, Node

RECEIVE_BUFFER_BYTES = 4 << 20
"""Asked of the kernel, which may grant less: its usual 208 kB holds 92 datagrams of 1 kB; more vanish."""

MAX_DATAGRAM_BYTES = 65_535

IDLE_NS = 200 * MILLISECOND
"""Longest sleep: a closed lifeline or a SIGTERM is noticed within this."""

MAX_HELD = 100_000
"""Datagrams that shaped links may hold back in all; above it they are dropped and counted."""

_INET = socket.AF_INET
_TIMEVAL = struct.Struct("@ll")


class CannotBind(OSError):
    """An address cannot be had: it is in use, or not this machine's."""

    def __str__(self) -> str:
        return f"cannot bind {self.filename}: {self.strerror}"


def open_socket(bind: Address) -> socket.socket:
    """A bound UDP socket with an enlarged receive buffer. Raises ``CannotBind``."""
    sock = socket.socket(socket.AF_INET6 if ":" in bind[0] else socket.AF_INET, socket.SOCK_DGRAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        sock.bind(bind)
    except OSError as error:
        sock.close()
        raise CannotBind(error.errno, error.strerror, format_address(bind)) from None
    return sock


def bound_address(sock: socket.socket) -> Address:
    """Where a socket is bound, without the scope and flow of IPv6."""
    host, port = sock.getsockname()[:2]
    return host, port


class NodeDriver:
    """One node, one socket. ``run`` returns when it is stopped, its lifeline closes, or its time is over."""

    def __init__(
        self,
        node: Node,
        sock: socket.socket,
        *,
        shapers: Mapping[Address, Shaper] | None = None,
        lifeline_fd: int | None = None,
        on_second: Callable[[int], None] = lambda now: None,
    ) -> None:
        self.is_stopping = False
        """Set by ``stop``; to run once more, set it back."""
        self.lifeline_closed = False
        self.counters = {"send_errors": 0, "receive_errors": 0, "held_dropped": 0}
        self._node = node
        self._sock = sock
        self._shapers = shapers or {}
        self._lifeline_fd = lifeline_fd
        self._on_second = on_second
        self._held: list[tuple[int, int, bytes, Address]] = []
        self._held_count = 0
        self._arm(MILLISECOND)
        self._next_check = self._next_second = monotonic_ns()

    def stop(self) -> None:
        """Make ``run`` return within ``IDLE_NS``. Safe to call from a signal handler."""
        self.is_stopping = True

    def run(self, until: int | None = None) -> None:
        """Drive until stopped, or until the monotonic instant ``until`` (ns)."""
        receive, next_timer, is_v6 = self._node.receive_datagram, self._node.next_timer, self._sock.family != _INET
        now = monotonic_ns()
        self._send_all(now)
        due = self._handle_due(now, until)
        self._arm(due - now)  # a socket blocks for ever until it is told otherwise
        while not self.is_stopping and not (until is not None and now >= until):
            try:
                data, source = self._wait_for_datagram(due - now)
            except BlockingIOError:
                now = monotonic_ns()
                due = self._handle_due(now, until)
                self._arm(due - now)
                continue
            except OSError:  # an ICMP error of some earlier send; nothing was received
                self.counters["receive_errors"] += 1
                now = monotonic_ns()
                continue
            now = monotonic_ns()
            receive(data, source[:2] if is_v6 else source, now)
            self._send_all(now)
            timer = next_timer()
            if timer is not None and timer < due:
                due = timer
            if now >= due:
                due = self._handle_due(now, until)

    def _wait_for_datagram(self, wait_ns: int) -> tuple[bytes, Address]:
        """The next datagram. Raises ``BlockingIOError`` when none came within ``wait_ns``, or earlier."""
        if self._held:  # the kernel's receive time-out ticks in up to 10 ms; what links hold back needs better
            wait_ns = min(wait_ns, self._held[0][0] - monotonic_ns())
            if not select((self._sock,), (), (), max(wait_ns, 0) / SECOND)[0]:
                raise BlockingIOError
            return self._sock.recvfrom(MAX_DATAGRAM_BYTES, socket.MSG_DONTWAIT)
        if wait_ns < self._armed_ns:
            self._arm(wait_ns // 2)  # half: under load a nearing timer then costs few of these calls
        return self._sock.recvfrom(MAX_DATAGRAM_BYTES)

    def _arm(self, wait_ns: int) -> None:
        """Let the kernel end a ``recvfrom`` after this long; without this it would wait for ever."""
        self._armed_ns = max(wait_ns, MILLISECOND)
        timeout = _TIMEVAL.pack(self._armed_ns // SECOND, self._armed_ns % SECOND // 1000)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)

    def _handle_due(self, now: int, until: int | None) -> int:
        """Do what has come due by ``now``; the instant at which something will be due next."""
        timer = self._node.next_timer()
        if timer is not None and timer <= now:
            self._node.handle_timer(now)
            self._send_all(now)
            timer = self._node.next_timer()
        self._send_held(now)
        if now >= self._next_check:
            self._next_check = now + IDLE_NS
            self._check_lifeline()
        if now >= self._next_second:
            self._next_second += SECOND * ((now - self._next_second) // SECOND + 1)
            self._on_second(now)
        due = min(self._next_check, self._next_second)
        if timer is not None:
            due = min(due, timer)
        return due if until is None else min(due, until)

    def _check_lifeline(self) -> None:
        # Nothing is ever written to a lifeline, so readable means that its last writer is gone.
        if self._lifeline_fd is not None and select((self._lifeline_fd,), (), (), 0)[0]:
            self.lifeline_closed = self.is_stopping = True

    def _send_all(self, now: int) -> None:
        for data, destination in self._node.datagrams_to_send():
            shaper = self._shapers.get(destination)
            if shaper is None:
                self._send(data, destination)
                continue
            for at, shaped in shaper.transmit(data, now):
                self._hold(at, shaped, destination)
        if self._held:
            self._send_held(now)

    def _hold(self, at: int, data: bytes, destination: Address) -> None:
        if len(self._held) >= MAX_HELD:
            self.counters["held_dropped"] += 1
            return
        self._held_count += 1
        heappush(self._held, (at, self._held_count, data, destination))

    def _send_held(self, now: int) -> None:
        while self._held and self._held[0][0] <= now:
            _, _, data, destination = heappop(self._held)
            self._send(data, destination)

    def _send(self, data: bytes, destination: Address) -> None:
        try:
            self._sock.sendto(data, destination)
        except OSError:  # no route, a full queue, a family this socket has not: lost, as datagrams may be
            self.counters["send_errors"] += 1
