"""Drives many clients from one thread, each with its own UDP sockets.

Counterparts: a system's clients decide what to send and when, ``load_generator`` creates them, ``ready`` waits for
readable sockets. A client of a single server has connected sockets, so the kernel drops datagrams from
other sources; other clients receive from any source::

    heap of timers ─> client.handle_timer ─> send      sockets ready ─> client.receive_datagram ─> samples
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from heapq import heappop, heappush
from select import select
from time import monotonic_ns
from typing import Any

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, SECOND
from overlay.journal.facts import ClientFact
from overlay.load.tally import Tally
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.runtime.logs.port import LogPort
from overlay.runtime.own_faults import LOOK_NS, FaultedClients
from overlay.runtime.ready import AT_ONCE, make_ready
from overlay.runtime.udp import IDLE_NS
from overlay.runtime.usage import kernel_drops
from overlay.systems.cores import Client

Port = tuple[int, int]
"""A client's index in the fleet and one of its lanes."""


class FleetDriver:
    """Clients and their sockets. ``run`` returns when all clients are finished, at a time limit, or when stopped."""

    def __init__(
        self,
        clients: Sequence[Client],
        tally: Tally,
        *,
        on_fact: Callable[[ClientFact], None],
        on_second: Callable[[int], None],
        lifeline_fd: int | None = None,
        faulted: FaultedClients | None = None,
        logs: Mapping[int, LogPort] | None = None,
    ) -> None:
        """``logs`` are those of clients that have one, by index."""
        self.is_stopping = False
        self._clients = clients
        self._tally = tally
        self._tally.counters |= {"send_errors": 0, "receive_errors": 0, "kernel_drops": 0, "open_ports": 0}
        self._on_fact = on_fact
        self._on_second = on_second
        self._lifeline_fd = lifeline_fd
        self._faulted = faulted
        self._logs = logs or {}
        self._log_of: dict[int, tuple[int, int]] = {}
        """By descriptor: the index of the client with this log, and how many connections it had lost before."""
        self._check_ns = LOOK_NS if faulted else IDLE_NS
        self._ready = make_ready()
        self._sockets: dict[Port, socket.socket] = {}
        self._ports: dict[int, tuple[Port, Callable[[int], Any], Address | None]] = {}
        """By descriptor: the port, ``recv`` and the peer of a connected socket, or ``recvfrom`` of another one."""
        self._timers: list[tuple[int, int]] = []
        self._armed: list[int | None] = [None] * len(clients)
        """The earliest time of each client in the heap; later entries of the same client are ignored."""
        self._unfinished = len(clients)
        self._finished = [False] * len(clients)
        self._next_check = self._next_second = monotonic_ns()
        for index in range(len(clients)):
            self._arm(index)

    def stop(self) -> None:
        """Let ``run`` return within a fraction of a second. Safe to call from a signal handler."""
        self.is_stopping = True

    def run(self, until: int, stay: int = 0) -> None:
        """Drive until every client is finished, at least until ``stay`` and at most until ``until`` (ns).

        A fleet whose last request is well before the end of measuring stays and continues to write ticks.
        """
        while not self.is_stopping and (self._unfinished or monotonic_ns() < stay):
            now = monotonic_ns()
            if now >= until:
                for index, client in enumerate(self._clients):
                    client.abandon(now)
                    self._drain(index)
                return
            if now >= self._next_check:
                self._housekeep(now)
            self._handle_timers(now)
            fair = 2 * monotonic_ns() - now  # until then receiving has taken as long as timers have
            due = min(until, self._next_check, self._handle_logs() if self._logs else until)
            is_full = self._receive(min(due, self._timers[0][0]) if self._timers else due)  # logs may have set some
            while is_full and monotonic_ns() < fair:  # answers must not wait for all that is due to be sent
                is_full = self._receive(0)

    def close(self) -> None:
        for log in self._logs.values():
            log.close(monotonic_ns())
        for port in list(self._sockets):
            self._close(port)
        self._ready.close()

    def _handle_timers(self, now: int) -> None:
        while self._timers and self._timers[0][0] <= now:
            at, index = heappop(self._timers)
            if at == self._armed[index]:
                self._armed[index] = None
                client = self._clients[index]
                client.handle_timer(monotonic_ns())
                self._drain(index)

    def _handle_logs(self) -> int:
        """Serve all logs, and poll their descriptors from now on. Returns when to do so again at the latest."""
        due = monotonic_ns() + SECOND
        polled: dict[int, tuple[int, int]] = {}
        for index, log in self._logs.items():
            now = monotonic_ns()
            log.handle(now)
            log.feed(now)
            self._drain(index)
            for descriptor, is_written in log.descriptors():
                polled[descriptor] = index, log.counters["log_lost"]
                if is_written:
                    due = min(due, now + MILLISECOND)
            due = min(due, log.next_timer())
        for descriptor, known in self._log_of.items():
            if polled.get(descriptor) != known and descriptor not in self._ports:
                with suppress(OSError, ValueError, KeyError):  # what was closed is not polled any more
                    self._ready.remove(descriptor)
        for descriptor, known in polled.items():
            if self._log_of.get(descriptor) != known:
                self._ready.add(descriptor)
        self._log_of = polled
        return due

    def _receive(self, due: int) -> bool:
        """Wait for datagrams until ``due``, and receive one from each readable port. Returns whether there may be more.

        Only one: a port with more is reported again, which saves a failing call per port.
        """
        ready = self._ready.wait(due - monotonic_ns())
        for fd in ready:
            if fd in self._log_of:  # served before the next wait
                continue
            if (port := self._ports.get(fd)) is None:  # its client closed it for an earlier datagram of this batch
                continue
            (index, lane), receive, peer = port
            try:
                data, source = (receive(MAX_DATAGRAM_BYTES), peer) if peer else _with_source(receive)
            except OSError:  # an earlier datagram found the server's port closed
                self._tally.counters["receive_errors"] += 1
                continue
            client = self._clients[index]
            if client.receive_datagram(lane, data, source, monotonic_ns()):
                self._drain(index)
        return len(ready) >= AT_ONCE

    def _drain(self, index: int) -> None:
        """Send output, write facts and set the timer after a call to a client."""
        client = self._clients[index]
        for lane, data, to in client.datagrams_to_send():
            self._send((index, lane), data, to)
        if index in self._logs:
            self._logs[index].take(monotonic_ns())
        for fact in client.facts():
            self._on_fact(fact)
        for lane in client.lanes_to_close():
            self._close((index, lane))
        self._arm(index)

    def _arm(self, index: int) -> None:
        """Schedule a client's timer. Occasional early calls are harmless."""
        client, armed = self._clients[index], self._armed[index]
        timer = client.next_timer()
        if timer is not None and (armed is None or timer < armed):
            self._armed[index] = timer
            heappush(self._timers, (timer, index))
        if client.is_finished and not self._finished[index]:
            self._finished[index] = True
            self._unfinished -= 1

    def _send(self, port: Port, data: bytes, to: Address) -> None:
        try:
            sock = self._sockets.get(port) or self._open(port, to)
            if self._clients[port[0]].peer is None:
                sock.sendto(data, to)
                return
            try:
                sock.send(data)
            except ConnectionRefusedError:  # reports an earlier datagram; this one was not sent
                sock.send(data)
        except OSError:  # no buffer or descriptor left: the datagram is lost, and the client retransmits
            self._tally.counters["send_errors"] += 1

    def _open(self, port: Port, to: Address) -> socket.socket:
        peer = self._clients[port[0]].peer
        sock = socket.socket(socket.AF_INET6 if ":" in to[0] else socket.AF_INET, socket.SOCK_DGRAM)
        sock.setblocking(False)
        self._sockets[port] = sock
        if peer is not None:
            sock.connect(peer)
        self._ready.add(sock.fileno())
        self._ports[sock.fileno()] = port, sock.recv if peer else sock.recvfrom, peer
        self._tally.counters["open_ports"] += 1
        return sock

    def _close(self, port: Port) -> None:
        sock = self._sockets.pop(port, None)
        if sock is None:
            return
        self._tally.counters["kernel_drops"] += kernel_drops(sock)
        self._tally.counters["open_ports"] -= 1
        if self._ports.pop(sock.fileno(), None) is not None:
            self._ready.remove(sock.fileno())
        sock.close()

    def _housekeep(self, now: int) -> None:
        self._next_check = now + self._check_ns
        if self._faulted is not None:
            for index in self._faulted.look(now):
                self._drain(index)
        # Nothing is written to a lifeline, so it is readable only when its last writer has ended.
        if self._lifeline_fd is not None and select((self._lifeline_fd,), (), (), 0)[0]:
            self.is_stopping = True
        if now >= self._next_second:
            self._next_second += SECOND * ((now - self._next_second) // SECOND + 1)
            self._on_second(now)


def _with_source(receive: Callable[[int], Any]) -> tuple[bytes, Address]:
    data, source = receive(MAX_DATAGRAM_BYTES)
    return data, source[:2]
