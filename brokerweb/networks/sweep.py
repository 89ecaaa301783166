"""Sends one question to many servers and collects the answers, in bounded time.

The kernel's buffer takes the answers of one batch, so the next batch waits for them. Batches with silent servers share
half of the time, so every server is asked, however many are silent; an answer counts until the end.
"""

from __future__ import annotations

import logging
import select
import socket
import struct
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from overlay.core.addresses import Address
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES

log = logging.getLogger(__name__)

AT_ONCE = 64
"""Questions of one batch."""
SILENCE_S = 0.2
"""Timeout for the answers of one batch: a broker on this host needs a millisecond."""
_STAMPED = getattr(socket, "SO_TIMESTAMPNS", 35)
"""Linux's constant, missing in older Python versions."""

R = TypeVar("R")


class Answer(NamedTuple, Generic[R]):
    said: R
    took_us: float
    """By the kernel's timestamp of the answer, so the load of this process does not count."""


def ask_all(
    servers: Iterable[Address], question: Callable[[], bytes], read: Callable[[bytes], R | None], deadline_s: float
) -> dict[Address, Answer[R]]:
    """The answers, by server. ``read`` returns ``None`` for a datagram that is no answer.

    Each call uses a new port, so that a late answer to an earlier question is not mistaken for one to this.
    """
    waiting = list(dict.fromkeys(servers))
    begun, batches = time.monotonic(), -(-len(waiting) // AT_ONCE)
    answers: dict[Address, Answer[R]] = {}
    sent_ns: dict[Address, int] = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.setsockopt(socket.SOL_SOCKET, _STAMPED, 1)
        except OSError:  # not Linux: use the time at which this process reads the answer
            log.debug("this kernel does not timestamp datagrams")
        for left, some in zip(range(batches - 1, -1, -1), _batches(waiting), strict=True):
            sent_ns |= _sent(sock, some, question)
            until = time.monotonic() + _patience_s(time.monotonic() - begun, left, deadline_s)
            _collect(sock, sent_ns, read, until, answers)
    return answers


def _batches(servers: Sequence[Address]) -> Iterable[Sequence[Address]]:
    rest = iter(servers)
    while some := tuple(islice(rest, AT_ONCE)):
        yield some


def _patience_s(passed_s: float, left: int, deadline_s: float) -> float:
    """How long to wait for answers if ``left`` batches follow."""
    half_s = deadline_s / 2
    if left:
        return min(SILENCE_S, max(0.0, half_s - passed_s) / left)
    return min(max(SILENCE_S, half_s), max(0.0, deadline_s - passed_s))


def _sent(sock: socket.socket, servers: Iterable[Address], question: Callable[[], bytes]) -> dict[Address, int]:
    """When each was asked, Unix ns; those that cannot be reached are omitted."""
    sent_ns = {}
    for server in servers:
        now_ns = time.time_ns()
        try:
            sock.sendto(question(), server)
        except OSError:  # no route, or another address family
            continue
        sent_ns[server] = now_ns
    return sent_ns


def _collect(
    sock: socket.socket,
    sent_ns: dict[Address, int],
    read: Callable[[bytes], R | None],
    until: float,
    answers: dict[Address, Answer[R]],
) -> None:
    """Add answers until all have answered."""
    while len(answers) < len(sent_ns) and (left_s := until - time.monotonic()) > 0:
        if not select.select([sock], [], [], left_s)[0]:
            return
        try:
            data, ancillary, _, source = sock.recvmsg(MAX_DATAGRAM_BYTES, 64)
        except OSError:
            continue
        server = (source[0], source[1])
        if server in sent_ns and server not in answers and (said := read(data)) is not None:
            came_ns = _stamp(ancillary) or time.time_ns()
            answers[server] = Answer(said, max(0, came_ns - sent_ns[server]) / 1000)


def _stamp(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _STAMPED):
            seconds, nanoseconds = struct.unpack_from("@ll", data)
            return int(seconds) * 1_000_000_000 + int(nanoseconds)
    return None
