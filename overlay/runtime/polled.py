"""What the loop of a process serves next to the datagrams of its server: a log, or connections."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from overlay.core.node import MILLISECOND, SECOND

FD_SETSIZE: Final = 1_024
"""Descriptors that ``select`` takes."""


class Polled(Protocol):
    """A loop polls ``descriptors`` until ``next_timer``, calls ``handle`` and then ``feed``, and after each step of the
    node ``take``. Nothing here waits, or raises an exception because a peer is away."""

    counters: dict[str, int]
    """For the ticks of the process."""

    def descriptors(self) -> Sequence[tuple[int, bool]]:
        """Descriptors to poll for reading, and whether for writing as well."""
        ...

    def next_timer(self) -> int:
        """When to call ``handle`` at the latest, monotonic ns."""
        ...

    def handle(self, now: int) -> None:
        """Send and receive what is possible, and do what is due."""
        ...

    def feed(self, now: int) -> None:
        """Let the node have what came."""
        ...

    def take(self, now: int) -> None:
        """Take the node's output, and send it."""
        ...

    def close(self, now: int) -> None:
        """The process ends; waits a second at most."""
        ...


def is_readable(sock: socket.socket, others: Iterable[Polled], wait_ns: int) -> bool:
    """Wait until ``sock`` or one of ``others`` has something. Returns whether ``sock`` has."""
    polled = [one for other in others for one in other.descriptors()]
    writes = [descriptor for descriptor, is_written in polled if is_written]
    reads: list[int | socket.socket] = [sock, *(descriptor for descriptor, _ in polled)]
    if any(descriptor >= FD_SETSIZE for descriptor, _ in polled):
        return _is_readable_of_many(sock, polled, wait_ns)
    return sock in select.select(reads, writes, (), max(wait_ns, 0) / SECOND)[0]


def _is_readable_of_many(sock: socket.socket, polled: Sequence[tuple[int, bool]], wait_ns: int) -> bool:
    """The same in a process with many connections, less exactly: ``poll`` waits for whole milliseconds."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    for descriptor, is_written in polled:
        poll.register(descriptor, select.POLLIN | select.POLLOUT * is_written)
    return sock.fileno() in dict(poll.poll(-(-max(wait_ns, 0) // MILLISECOND)))
