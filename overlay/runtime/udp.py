"""Drives one ``Node`` over one real UDP socket, in one thread, without an event loop.

Counterparts: ``overlay.core.node`` is the seam, ``overlay.runtime.datagrams`` receives and sends,
``overlay.core.links`` shapes what goes out, ``overlay.runtime.server_process`` puts a broker in. The shape follows
measurements: blocking calls beat every event loop of the language (asyncio by four times), and a kernel time-out
(``SO_RCVTIMEO``) costs nothing where ``settimeout`` costs a ``poll`` before each call. What one call received is one
batch: its datagrams share a ``now``, then the node is drained and its timers are looked at: no backlog keeps a timer
waiting longer than a batch takes.

Beyond a backlog, whatever has come is read before it is worked on, and its senders take turns
(``overlay.core.admission``): the kernel's buffer, in which whoever sends most leaves no room for others, is kept empty.
Reading takes at most half of the time, so that no flood, however fast, is read and never answered.

::

    receive ─> node.receive_datagrams ─> node.datagrams_to_send ─┬─ clear link ──> send
       ^  time-out: timers, held datagrams, housekeeping          └─ shaped link ─> held until due ─> send
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from select import select
from time import monotonic_ns

from overlay.core.addresses import Address, format_address
from overlay.core.admission import BACKLOG, Admission
from overlay.core.links import Shaper
from overlay.core.node import MILLISECOND, NEVER, SECOND, Node
from overlay.runtime.datagrams import BATCH, Datagram, choose, open_datagrams

RECEIVE_BUFFER_BYTES = 4 << 20
"""Asked of the kernel, which may grant less: its usual 208 kB holds 92 datagrams of 1 kB; more vanish."""

IDLE_NS = 200 * MILLISECOND
"""Longest sleep: a closed lifeline or a SIGTERM is noticed within this."""

ROW = BACKLOG // BATCH
"""After so many full batches in a row the driver looks for a backlog."""

MOST_READ = 2_048
"""Datagrams that are read before some are served: 2 ms of reading."""

MAX_HELD = 100_000
"""Datagrams that shaped links may hold back in all; above it they are dropped and counted."""

_TIMEVAL = struct.Struct("@ll")


class CannotBind(OSError):
    """An address cannot be had: it is in use, or not this machine's."""

    def __str__(self) -> str:
        return f"cannot bind {self.filename}: {self.strerror}"


def open_socket(bind: Address) -> socket.socket:
    """A bound UDP socket with an enlarged receive buffer, of one family only. Raises ``CannotBind``."""
    is_v6 = ":" in bind[0]
    sock = socket.socket(socket.AF_INET6 if is_v6 else socket.AF_INET, socket.SOCK_DGRAM)
    try:
        if is_v6:  # else IPv4 comes to [::] as from ::ffff:a.b.c.d, an address that no other broker could answer to
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
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
        knows: Callable[[Address], bool] = lambda source: True,
        datagrams: str | None = None,
    ) -> None:
        """``knows`` says whose datagrams go before those of strangers, under a backlog.

        ``datagrams`` is one of ``datagrams.KINDS``; else what this machine does best. Raises ``InvalidSetting``.
        """
        self.is_stopping = False
        """Set by ``stop``; to run once more, set it back."""
        self.lifeline_closed = False
        self.counters = {"send_errors": 0, "receive_errors": 0, "held_dropped": 0, "backlog_dropped": 0}
        self.datagrams = datagrams or choose()
        """How it receives and sends."""
        self._node = node
        self._sock = sock
        self._io = open_datagrams(sock, self.datagrams)
        self._shapers = shapers or {}
        self._lifeline_fd = lifeline_fd
        self._on_second = on_second
        self._admission = Admission(knows)
        """What waits beyond a backlog."""
        self._reads_at = 0
        """When to read on while there is one."""
        self._ahead: Sequence[Datagram] = ()
        """Read already and no backlog: served next, in this order."""
        self._held: list[tuple[int, int, bytes, Address]] = []
        self._held_count = 0
        self._arm(MILLISECOND)
        self._next_check = self._next_second = monotonic_ns()

    def stop(self) -> None:
        """Make ``run`` return within ``IDLE_NS``. Safe to call from a signal handler."""
        self.is_stopping = True

    def run(self, until: int = NEVER) -> None:
        """Drive until stopped, or until the monotonic instant ``until`` (ns)."""
        node, receive, send = self._node, self._io.receive, self._io.send
        take, next_timer, datagrams_to_send = node.receive_datagrams, node.next_timer, node.datagrams_to_send
        are_clear = not self._shapers  # and then nothing is ever held
        full = ROW if self._admission or self._ahead else 0
        """Full batches in a row."""
        now = monotonic_ns()
        self._send_all(now)
        due = self._handle_due(now, until)
        self._arm(due - now)  # a socket blocks for ever until it is told otherwise
        while not self.is_stopping and now < until:
            try:
                if full >= ROW:
                    batch = self._take_turns()
                elif are_clear and due - now >= self._armed_ns:
                    batch = receive(True)
                else:
                    batch = self._wait_for_datagrams(due - now)
            except OSError:  # an ICMP error of some earlier send; nothing was received
                self.counters["receive_errors"] += 1
                batch = ()
            full = full + 1 if len(batch) == BATCH else 0
            now = monotonic_ns()
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
        """The next datagrams; none when none came within ``wait_ns``, or earlier."""
        if self._held:  # the kernel's receive time-out ticks in up to 10 ms; what links hold back needs better
            wait_ns = min(wait_ns, self._held[0][0] - monotonic_ns())
            if not select((self._sock,), (), (), max(wait_ns, 0) / SECOND)[0]:
                return ()
            return self._io.receive(False)
        if wait_ns < self._armed_ns:
            self._arm(wait_ns // 2)  # half: under load a nearing timer then costs few of these calls
        return self._io.receive(True)

    def _take_turns(self) -> Sequence[Datagram]:
        """Read what has come, and return those whose turn it is; without a backlog, the first of them.

        A batch at a time: senders that wait for their answers go on while the next batch is served.
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
        """What is there, up to ``MOST_READ``."""
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
        """Let the kernel end a ``recvfrom`` after this long; without this it would wait for ever."""
        self._armed_ns = max(wait_ns, MILLISECOND)
        timeout = _TIMEVAL.pack(self._armed_ns // SECOND, self._armed_ns % SECOND // 1000)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)

    def _handle_due(self, now: int, until: int) -> int:
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
        return min(self._next_check, self._next_second, until, NEVER if timer is None else timer)

    def _check_lifeline(self) -> None:
        # Nothing is ever written to a lifeline, so readable means that its last writer is gone.
        if self._lifeline_fd is not None and select((self._lifeline_fd,), (), (), 0)[0]:
            self.lifeline_closed = self.is_stopping = True

    def _send_all(self, now: int) -> None:
        datagrams: Sequence[Datagram] = self._node.datagrams_to_send()
        if self._shapers:
            datagrams = self._shape(datagrams, now)
        if datagrams:
            self.counters["send_errors"] += self._io.send(datagrams)
        if self._held:
            self._send_held(now)

    def _shape(self, datagrams: Sequence[Datagram], now: int) -> Sequence[Datagram]:
        """Hold those whose links are shaped; the others."""
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
