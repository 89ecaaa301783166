"""A broker under a flood: the share of single requests that it answers, and the time to recover.

The flooder is a process with one socket on the generator's core (``benchmarks.flooder``). The probing client uses a new
socket for each request, asks for stored data and does not retry. Scanning a linear table takes so long that 20,000
requests per second are several times the broker's capacity. The other flood measures the cost of reading and refusing.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.bursts import fill
from benchmarks.figures import Figure, figure
from benchmarks.record import ROOT
from benchmarks.servers import CLIENT_CORE, Server, brokers, scratch
from overlay.core.addresses import parse_address

TITLE = "A broker under a flood from one socket"
SHARE_GOAL, RECOVERY_GOAL_S = 90.0, 1.0
ENTRIES = 3_000
FLOOD_S = 2.0
"""Duration of a flood. The first half fills all buffers."""
WAIT_S = 0.5
GAP_S = 0.005
RECOVERED = 20
"""Consecutive answered requests that mean recovery."""
LONGEST_S = 10.0
"""Maximum wait for recovery."""

Say = Callable[[str], None]
_figure = partial(figure, "floods")


@dataclass(frozen=True)
class Flood:
    """A flood: the kind of the broker's table, the rate and the datagrams."""

    name: str
    table: str
    rate: int
    lines: Sequence[bytes]


def measure(rounds: int, say: Say) -> Iterator[Figure]:
    stamp = time.time_ns() // 1_000_000
    requests = [b"3|%d|sensor|room%d|lab" % (stamp + i, i % ENTRIES) for i in range(50_000)]
    floods = (
        Flood("20,000 requests/s that are scanned for", "linear", 20_000, requests),
        Flood("20,000 requests/s", "indexed", 20_000, requests),
        Flood("40,000 datagrams/s of garbage", "indexed", 40_000, [b"\xff" * 60, b"3|", b"77|1|x"]),
    )
    for flood in floods:
        say(flood.name)
        yield from _under(flood, rounds)


def _under(flood: Flood, rounds: int) -> Iterator[Figure]:
    quiet, shares, waits, recoveries = [], [], [], []
    with brokers(1, {"table": flood.table}) as [broker]:
        fill(broker, ENTRIES, payload=64)
        for _ in range(rounds):
            quiet.append(_ask(broker, FLOOD_S / 4)[1])
            with flooded(broker, flood):
                _ask(broker, FLOOD_S / 2)
                share, wait = _ask(broker, FLOOD_S / 2)
            shares.append(share)
            waits.append(wait)
            recoveries.append(_recovery(broker))
    yield _figure(f"{flood.name}: single tries answered", "%", shares, "higher", at_least=SHARE_GOAL)
    yield _figure(f"{flood.name}: p50 of those answered", "ms", waits, "lower")
    yield _figure(f"{flood.name}: p50 before it", "ms", quiet, "lower")
    yield _figure(f"{flood.name}: recovery after it", "s", recoveries, "lower", at_most=RECOVERY_GOAL_S)


@contextmanager
def flooded(broker: Server, flood: Flood) -> Iterator[None]:
    """Run the flood during the context."""
    with scratch() as directory:
        lines = directory / "lines"
        lines.write_bytes(b"\n".join(flood.lines))
        with _flooder(broker, flood.rate, lines):
            yield


@contextmanager
def _flooder(broker: Server, rate: int, lines: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "benchmarks.flooder", *broker.address.rsplit(":", 1)]
    command += [str(rate), str(CLIENT_CORE), str(lines)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.wait()


def _ask(broker: Server, seconds: float) -> tuple[float, float]:
    """Probe for ``seconds``: the percentage of answered requests, and their median time in milliseconds."""
    ends, tries, times = time.monotonic() + seconds, 0, []
    while time.monotonic() < ends:
        tries += 1
        took = _try(broker, tries)
        if took is not None:
            times.append(1000 * took)
        time.sleep(GAP_S)
    return 100 * len(times) / tries, median(times) if times else 1000 * WAIT_S


def _try(broker: Server, number: int) -> float | None:
    """Send one request; the seconds until its answer, or ``None``."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(WAIT_S)
        began = time.monotonic()
        stamp = time.time_ns() // 1_000_000
        sock.sendto(b"32|%d|sensor|room%d|lab" % (stamp, number % ENTRIES), parse_address(broker.address))
        try:
            sock.recv(65_535)
        except TimeoutError:
            return None
        return time.monotonic() - began


def _recovery(broker: Server) -> float:
    """Seconds until the first of ``RECOVERED`` consecutive answered requests."""
    ended = since = time.monotonic()
    answered = 0
    while answered < RECOVERED and since - ended < LONGEST_S:
        if _try(broker, answered) is None:
            answered, since = 0, time.monotonic()
        else:
            answered += 1
    return since - ended
