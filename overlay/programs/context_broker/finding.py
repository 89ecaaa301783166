"""Finds the live brokers of a bootstrap list, blocking. Counterpart: ``clients.bootstrap`` decides."""

from __future__ import annotations

import random
import select
import socket
import time
from collections.abc import Sequence

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, SECOND
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.systems.context_broker.clients.bootstrap import Bootstrapper
from overlay.systems.context_broker.clients.exchange import WallClock

SETTLE_NS = 50 * MILLISECOND
"""After the first answer, for nearer brokers."""


def find(listed: Sequence[Address], deadline_s: float) -> Sequence[Address]:
    """Brokers that answer, nearest first; empty if none has within ``deadline_s``."""
    core = Bootstrapper(WallClock(wall_offset_ns()), random.Random())
    sockets: dict[int, socket.socket] = {}
    now = time.monotonic_ns()
    end = now + round(deadline_s * SECOND)
    try:
        core.renew(listed, now)
        while now < end and (not core.live or core.is_searching):
            _turn(core, sockets, min(core.next_timer() or end, end) - now)
            now = time.monotonic_ns()
            core.handle_timer(now)
            if core.live and end > now + SETTLE_NS:
                end = now + SETTLE_NS
        return core.nearest
    finally:
        for sock in sockets.values():
            sock.close()


def _turn(core: Bootstrapper, sockets: dict[int, socket.socket], wait_ns: int) -> None:
    """Send what is due, and pass on what arrives within ``wait_ns``."""
    for data, to in core.datagrams_to_send():
        family = socket.AF_INET6 if ":" in to[0] else socket.AF_INET
        if family not in sockets:
            sockets[family] = socket.socket(family, socket.SOCK_DGRAM)
            sockets[family].setblocking(False)
        try:
            sockets[family].sendto(data, to)
        except OSError:  # no route: as silent as one that is gone
            continue
    for sock in select.select(list(sockets.values()), [], [], max(wait_ns, 0) / SECOND)[0]:
        try:
            data, source = sock.recvfrom(MAX_DATAGRAM_BYTES)
        except OSError:  # its host reports a closed port
            continue
        core.receive_datagram(data, source[:2], time.monotonic_ns())
