"""Queries the servers of a network for their statistics, by their own protocol.

A network keeps no journal, which would grow without limit; queries do not disturb a measurement there.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from itertools import islice

from overlay.core.addresses import Address
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.systems.contract import System

DEADLINE_S = 0.5
"""Timeout for a broker that is gone."""
AT_ONCE = 64
"""Queries sent before reading answers: more answers would not fit into the kernel's buffer."""
SILENCE_S = 0.2
"""Timeout for the answers of one batch: a broker on this host needs a millisecond."""


def statistics_of(system: System, brokers: Mapping[int, Address]) -> dict[int, Mapping[str, int]]:
    """Statistics of each server by index; servers that do not answer in time are omitted."""
    said: dict[int, Mapping[str, int]] = {}
    question = system.statistics_request(time.time_ns() // 1_000_000)
    if not question:
        return said
    waiting, end = iter(brokers.items()), time.monotonic() + DEADLINE_S
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        while time.monotonic() < end and (some := dict(islice(waiting, AT_ONCE))):
            for address in some.values():
                try:
                    sock.sendto(question, address)
                except OSError:  # no route, or another address family
                    continue
            indices = {address: index for index, address in some.items()}
            for source, counters in _answers(system, sock, len(indices), min(end, time.monotonic() + SILENCE_S)):
                if source in indices:
                    said[indices[source]] = counters
    return said


def _answers(
    system: System, sock: socket.socket, most: int, until: float
) -> Iterator[tuple[Address, Mapping[str, int]]]:
    """The received statistics, at most ``most``."""
    while most and (left_s := until - time.monotonic()) > 0:
        sock.settimeout(left_s)
        try:
            data, source = sock.recvfrom(MAX_DATAGRAM_BYTES)
        except TimeoutError:
            return
        except OSError:
            continue
        counters = system.read_statistics(data)
        if counters is not None:
            most -= 1
            yield (source[0], source[1]), counters
