"""A message to every client and its acknowledgements: the server next to C and to minimal Python, over real UDP.

``clients.c`` plays all clients on a core of its own. The figure is the server's processor time for each push that was
sent, arrived and was acknowledged. C and minimal Python keep who has acknowledged, and nothing else; the server has a
table of clients, queues, an outcome for each pair, timers, MACs, counters and a journal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.figures import RATIO, Figure, figure
from benchmarks.peers.processes import Load, Process
from benchmarks.programs import program
from benchmarks.radiator.samples import bodies
from benchmarks.servers import CLIENT_CORE, SERVER_CORE, cores, scratch
from overlay.systems.radiator.wire.compression import GZIP, deflate

CLIENTS = 200
BURST_S = 0.4
MESSAGES = 500
SOURCES = Path(__file__).resolve().parent
C, BATCHED, BARE, OURS = "C", "C, batched", "Python, bare", "server"
_figure = partial(figure, "radiator")


class Contender:
    """A server and its clients, and what each burst cost the server."""

    def __init__(self, stack: ExitStack, name: str, directory: Path, sent: Path) -> None:
        served = [sys.executable, "-m", "benchmarks.radiator.served"]
        commands = {
            C: [str(program("exchange", SOURCES))],
            BATCHED: [str(program("exchange", SOURCES)), "--batch", "64"],
            BARE: [*served, "bare", str(directory)],
            OURS: [*served, "ours", str(directory)],
        }
        self._server = Process(commands[name], directory / f"{name}.words")
        stack.callback(self._server.end)
        address = self._server.line()
        load = [str(program("clients", SOURCES)), address, str(CLIENTS), str(sent)]
        self._load = Load(load, directory / f"{name}.load", is_serial=False)
        stack.callback(self._load.end)
        if len(cores()) > 1:
            self._server.put_on(SERVER_CORE)
            self._load.put_on(CLIENT_CORE)
        self.costs_us: list[float] = []
        self.rates: list[float] = []
        self.p50_us: list[float] = []

    def burst(self, *, is_warm: bool = True) -> None:
        before = self._server.cpu_seconds()
        burst = self._load.burst(BURST_S)
        if is_warm:
            self.costs_us.append((self._server.cpu_seconds() - before) * 1e6 / max(1, burst.requests))
            self.rates.append(burst.rate)
            self.p50_us.append(burst.p50_us)


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Raises ``Unavailable`` without a compiler."""
    say(f"a message to {CLIENTS} clients and their acknowledgements, next to C")
    with ExitStack() as stack:
        directory = stack.enter_context(scratch())
        sent = directory / "bodies"
        compressed = [deflate(body, GZIP) for body in bodies(MESSAGES)]
        sent.write_bytes(b"".join(len(body).to_bytes(2, "big") + body for body in compressed))
        contenders = {name: Contender(stack, name, directory, sent) for name in (C, BATCHED, BARE, OURS)}
        for one in contenders.values():
            one.burst(is_warm=False)
        random = Random(3)
        for _ in range(max(3, rounds)):
            for one in random.sample(list(contenders.values()), len(contenders)):
                one.burst()
    what = f"push and acknowledgement, {CLIENTS} clients"
    for name, one in contenders.items():
        yield _figure(f"{what}: {name}, processor", "µs/push", one.costs_us, "lower")
    for name, one in contenders.items():
        yield _figure(f"{what}: {name}", "pushes/s", one.rates, "higher")
    ours = contenders[OURS]
    for name in (C, BATCHED, BARE):
        pairs = zip(ours.costs_us, contenders[name].costs_us, strict=True)
        yield _figure(f"{what}, processor: {OURS} / {name}", RATIO, [one / other for one, other in pairs], "lower")
    yield _figure(f"{what}: {OURS}, from the call to the push, p50", "µs", ours.p50_us, "lower")
