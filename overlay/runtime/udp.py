"""Drives one ``Node`` over one real UDP socket, in one thread, without an event loop.

Counterparts: ``overlay.core.node`` is the interface, ``overlay.runtime.datagrams`` receives and sends,
``overlay.core.links`` shapes outgoing datagrams, ``overlay.runtime.server_process`` provides the broker. The design
follows measurements: blocking calls are faster than every event loop in Python (four times as fast as asyncio), and a
kernel time-out (``SO_RCVTIMEO``) is free, while ``settimeout`` costs a ``poll`` before each call. The datagrams of one
receive call are one batch and share a ``now``. After each batch the node's output is sent and its timers are checked,
so no backlog delays a timer for longer than a batch.

Beyond a backlog, all datagrams are read before they are processed, and senders are served round robin
(``overlay.core.admission``). This keeps the kernel's buffer empty, in which the busiest sender would leave no room for
others. Reading takes at most half of the time, so that datagrams are still answered during any flood.

::

    receive ─> node.receive_datagrams ─> node.datagrams_to_send ─┬─ clear link ──> send
       ^  time-out: timers, held datagrams, housekeeping          └─ shaped link ─> held until due ─> send
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from select import select
from time import monotonic_ns

from overlay.core.addresses import Address, format_address
from overlay.core.admission import BACKLOG, Admission
from overlay.core.links import Shaper
from overlay.core.node import MILLISECOND, NEVER, SECOND, Node
from overlay.runtime.datagrams import BATCH, Datagram, choose, open_datagrams
from overlay.runtime.polled import Polled, is_readable

RECEIVE_BUFFER_BYTES = 4 << 20
"""Requested from the kernel, which may grant less. Its default of 208 kB has room for only 92 datagrams of 1 kB."""

IDLE_NS = 200 * MILLISECOND
"""Longest sleep; a closed lifeline or a SIGTERM is noticed within this time."""

ROW = BACKLOG // BATCH
"""After this many consecutive full batches the driver checks for a backlog."""

MOST_READ = 2_048
"""Maximum datagrams read before some are served: 2 ms of reading."""

MAX_HELD = 100_000
"""Maximum datagrams delayed by shaped links; beyond it they are dropped and counted."""

_TIMEVAL = struct.Struct("@ll")
_IP_MULTICAST_ALL = 49
"""As in <linux/in.h>; the module ``socket`` does not name it."""


class CannotBind(OSError):
    """An address is in use, or does not belong to this machine."""

    def __str__(self) -> str:
        return f"cannot bind {self.filename}: {self.strerror}"


def open_socket(bind: Address) -> socket.socket:
    """A bound UDP socket with an enlarged receive buffer, of one family only. Raises ``CannotBind``."""
    is_v6 = ":" in bind[0]
    sock = socket.socket(socket.AF_INET6 if is_v6 else socket.AF_INET, socket.SOCK_DGRAM)
    try:
        if is_v6:  # otherwise IPv4 arrives at [::] from ::ffff:a.b.c.d, to which no other broker could answer
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        sock.bind(bind)
    except OSError as error:
        sock.close()
        raise CannotBind(error.errno, error.strerror, format_address(bind)) from None
    return sock


def open_group(group: Address, interface: str) -> socket.socket:
    """A socket that receives what is sent to a multicast group over the interface with an IPv4 address (RFC 1112);
    0.0.0.0 is the default one. Several processes may have one each. Raises ``CannotBind``."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(group)
        member = socket.inet_aton(group[0]) + socket.inet_aton(interface)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
        if sys.platform == "linux":  # otherwise it gets what others on this machine have joined, too
            sock.setsockopt(socket.IPPROTO_IP, _IP_MULTICAST_ALL, 0)
    except OSError as error:
        sock.close()
        raise CannotBind(error.errno, error.strerror, f"{format_address(group)} on {interface}") from None
    return sock


def bound_address(sock: socket.socket) -> Address:
    """The address of a bound socket, without the scope and flow of IPv6."""
    host, port = sock.getsockname()[:2]
    return host, port


def move_socket(sock: socket.socket) -> Address:
    """Bind another port of the same host, under the same descriptor, so that whoever uses it goes on. Returns the new
    address; what arrives at the old one is lost. Raises ``CannotBind``."""
    moved = open_socket((bound_address(sock)[0], 0))
    try:
        timeout = sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL.size)
        moved.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
        os.dup2(moved.fileno(), sock.fileno())
    finally:
        moved.close()
    return bound_address(sock)


class NodeDriver:
    """One node, one socket. ``run`` returns when stopped, when its lifeline closes, or at a time limit."""

    def __init__(
        self,
        node: Node,
        sock: socket.socket,
        *,
        shapers: Mapping[Address, Shaper] | None = None,
        lifeline_fd: int | None = None,
        on_second: Callable[[int], None] = lambda now: None,
        knows: Callable[[Address], bool] = lambda source: True,
        datagrams: str | None = None,
        group: socket.socket | None = None,
    ) -> None:
        """``knows`` identifies known senders, which are served before strangers under a backlog. ``group`` is another
        socket, of which a batch is read every ``IDLE_NS``; answers leave by ``sock``.

        ``datagrams`` is one of ``datagrams.KINDS``; by default the best one on this machine. Raises ``InvalidSetting``.
        """
        self.is_stopping = False
        """Set by ``stop``; reset it to run again."""
        self.lifeline_closed = False
        self.counters = {"send_errors": 0, "receive_errors": 0, "held_dropped": 0, "backlog_dropped": 0}
        self.datagrams = datagrams or choose()
        """The implementation of receiving and sending."""
        self.polled: Sequence[Polled] = ()
        """What else the node has: a log, connections. Set it before ``run``."""
        self._node = node
        self._sock = sock
        self._io = open_datagrams(sock, self.datagrams)
        self._shapers = shapers or {}
        self._lifeline_fd = lifeline_fd
        self._group = None if group is None else open_datagrams(group, self.datagrams)
        self._on_second = on_second
        self._admission = Admission(knows)
        """Datagrams waiting beyond a backlog."""
        self._reads_at = 0
        """When to continue reading during a backlog."""
        self._ahead: Sequence[Datagram] = ()
        """Datagrams already read, without a backlog; served next in this order."""
        self._held: list[tuple[int, int, bytes, Address]] = []
        self._held_count = 0
        self._arm(MILLISECOND)
        self._next_check = self._next_second = monotonic_ns()

    def stop(self) -> None:
        """Let ``run`` return within ``IDLE_NS``. Safe to call from a signal handler."""
        self.is_stopping = True

    def run(self, until: int = NEVER) -> None:
        """Drive until stopped, or until the monotonic time ``until`` (ns)."""
        node, receive, send = self._node, self._io.receive, self._io.send
        take, next_timer, datagrams_to_send = node.receive_datagrams, node.next_timer, node.datagrams_to_send
        are_clear = not self._shapers  # then no datagram is ever delayed
        full = ROW if self._admission or self._ahead else 0
        """Consecutive full batches."""
        now = monotonic_ns()
        self._send_all(now)
        due = self._handle_due(now, until)
        self._arm(due - now)  # by default a socket blocks for ever
        while not self.is_stopping and now < until:
            try:
                if full >= ROW:
                    batch = self._take_turns()
                elif self.polled:
                    batch = self._wait_for_any(due - now)
                elif are_clear and due - now >= self._armed_ns:
                    batch = receive(True)
                else:
                    batch = self._wait_for_datagrams(due - now)
            except OSError:  # an ICMP error of an earlier send; nothing was received
                self.counters["receive_errors"] += 1
                batch = ()
            full = full + 1 if len(batch) == BATCH else 0
            now = monotonic_ns()
            if self.polled:
                due = self._step_with_others(batch, now, until)
                continue
            if batch:
                take(batch, now)
                if not are_clear:
                    self._send_all(now)
                elif (outgoing := datagrams_to_send()) and (lost := send(outgoing)):
                    self.counters["send_errors"] += lost
                timer = next_timer()
                if timer is not None and timer < due:
                    due = timer
                if now < due:
                    continue
            due = self._handle_due(now, until)
            if not batch:
                self._arm(due - now)

    def _wait_for_datagrams(self, wait_ns: int) -> Sequence[Datagram]:
        """The next datagrams; empty if none arrived within ``wait_ns``, or earlier."""
        if self._held:  # the kernel's receive time-out has a resolution of up to 10 ms, too coarse for shaped links
            wait_ns = min(wait_ns, self._held[0][0] - monotonic_ns())
            if not select((self._sock,), (), (), max(wait_ns, 0) / SECOND)[0]:
                return ()
            return self._io.receive(False)
        if wait_ns < self._armed_ns:
            self._arm(wait_ns // 2)  # half, so that an approaching timer needs few of these calls under load
        return self._io.receive(True)

    def _wait_for_any(self, wait_ns: int) -> Sequence[Datagram]:
        """The same, or until something else that is polled has something."""
        if self._held:
            wait_ns = min(wait_ns, self._held[0][0] - monotonic_ns())
        return self._io.receive(False) if is_readable(self._sock, self.polled, wait_ns) else ()

    def _step_with_others(self, batch: Sequence[Datagram], now: int, until: int) -> int:
        """One step of the node with all that came. Returns the time of the next timer."""
        for one in self.polled:
            one.handle(now)
            one.feed(now)
        if batch:
            self._node.receive_datagrams(batch, now)
        due = self._handle_due(now, until)
        self._send_all(now)
        for one in self.polled:
            one.take(now)
        timer = self._node.next_timer()
        return min(due, *(one.next_timer() for one in self.polled), NEVER if timer is None else timer)

    def _take_turns(self) -> Sequence[Datagram]:
        """Read available datagrams, and return the next ones by round robin; without a backlog, the first ones.

        One batch at a time, so that senders that wait for their answers continue while the next batch is served.
        """
        if self._ahead:
            return self._take_ahead()
        admission, now = self._admission, monotonic_ns()
        if now >= self._reads_at:
            come = self._read_all()
            if len(come) <= BACKLOG and not admission:
                self._ahead = come
                return self._take_ahead()
            admission.admit(come)
            self.counters["backlog_dropped"] = admission.dropped
            after = monotonic_ns()
            self._reads_at = after + (after - now)
        return admission.take(BATCH)

    def _take_ahead(self) -> Sequence[Datagram]:
        batch, self._ahead = self._ahead[:BATCH], self._ahead[BATCH:]
        return batch

    def _read_all(self) -> Sequence[Datagram]:
        """Available datagrams, up to ``MOST_READ``."""
        come: list[Datagram] = []
        while len(come) < MOST_READ:
            try:
                batch = self._io.receive(False)
            except OSError:  # as in ``run``
                self.counters["receive_errors"] += 1
                break
            come += batch
            if len(batch) < BATCH:
                break
        return come

    def _arm(self, wait_ns: int) -> None:
        """Set the kernel's time-out of ``recvfrom``; without it the call would block for ever."""
        self._armed_ns = max(wait_ns, MILLISECOND)
        timeout = _TIMEVAL.pack(self._armed_ns // SECOND, self._armed_ns % SECOND // 1000)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)

    def _handle_due(self, now: int, until: int) -> int:
        """Do everything due by ``now``. Returns the time of the next timer."""
        if now >= self._next_check:
            self._next_check = now + IDLE_NS
            self._check_lifeline()
            self._read_group(now)
        timer = self._node.next_timer()
        if timer is not None and timer <= now:
            self._node.handle_timer(now)
            self._send_all(now)
            timer = self._node.next_timer()
        self._send_held(now)
        if now >= self._next_second:
            self._next_second += SECOND * ((now - self._next_second) // SECOND + 1)
            self._on_second(now)
        return min(self._next_check, self._next_second, until, NEVER if timer is None else timer)

    def _check_lifeline(self) -> None:
        # Nothing is written to a lifeline, so it is readable only when its last writer has ended.
        if self._lifeline_fd is not None and select((self._lifeline_fd,), (), (), 0)[0]:
            self.lifeline_closed = self.is_stopping = True

    def _read_group(self, now: int) -> None:
        if self._group is not None and (batch := self._group.receive(False)):
            self._node.receive_datagrams(batch, now)
            self._send_all(now)

    def _send_all(self, now: int) -> None:
        datagrams: Sequence[Datagram] = self._node.datagrams_to_send()
        if self._shapers:
            datagrams = self._shape(datagrams, now)
        if datagrams:
            self.counters["send_errors"] += self._io.send(datagrams)
        if self._held:
            self._send_held(now)

    def _shape(self, datagrams: Sequence[Datagram], now: int) -> Sequence[Datagram]:
        """Delay datagrams over shaped links. Returns the others."""
        clear = []
        for datagram in datagrams:
            data, destination = datagram
            shaper = self._shapers.get(destination)
            if shaper is None:
                clear.append(datagram)
                continue
            for at, shaped in shaper.transmit(data, now):
                self._hold(at, shaped, destination)
        return clear

    def _hold(self, at: int, data: bytes, destination: Address) -> None:
        if len(self._held) >= MAX_HELD:
            self.counters["held_dropped"] += 1
            return
        self._held_count += 1
        heappush(self._held, (at, self._held_count, data, destination))

    def _send_held(self, now: int) -> None:
        due = []
        while self._held and self._held[0][0] <= now:
            _, _, data, destination = heappop(self._held)
            due.append((data, destination))
        if due:
            self.counters["send_errors"] += self._io.send(due)
