"""The same 1 kB value by key from our broker and from what else one could use: requests per second, latency, CPU.

Ours answers quiet requests (code 32) with its journal on and default settings. Each server has one core to itself, who
asks has the other; of NATS and Mosquitto also who answers behind them. A *serial* figure is one request at a time with
both sides on one core, where the time that a sleeping core takes to wake does not hide everything else. Nothing is
pipelined except where the name says so. Rivals whose client is a Python package are held against quiet requests from
Python, where the client is the bound on both sides. ``contenders`` says what each is asked for.

Every burst on a rival stands between two on ours, and each ratio is of these three. The shares of a core say which side
is the bound: where the server's is far from 100 % its rate is the client's, or the scheduler's, and processor time per
request is the fairer figure. Redis, NATS and MQTT run over TCP, which orders and repeats what UDP leaves to the client.

Why pipelined NATS wins: with hundreds of requests in one stream, TCP carries many messages in each segment and system
call, so that the kernel's price of about 3 µs per datagram is paid once for dozens of them. A protocol of one message
per datagram pays it for each, in C as in Python.
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.figures import RATIO, Better, Figure, Unavailable, figure
from benchmarks.peers.contenders import RIVALS, Contender, Ours, Rival, Stage
from benchmarks.peers.processes import Burst, Failed, Load, Process, Threads

TITLE = "the same value from others"
SECTION = "peers"
BURST_S = 0.2
WARM_UP_S = 0.1
PIPELINED = "pipelined NATS is ahead where TCP puts many messages into one segment and system call; a datagram is one"


@dataclass(frozen=True)
class Measured:
    """A burst, and what it cost the server."""

    burst: Burst
    server_cpu_seconds: float

    @property
    def cpu_us(self) -> float:
        """The server's processor time per request."""
        return self.server_cpu_seconds * 1e6 / (self.burst.requests + self.burst.late)


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Yield every rival's figures. Raises ``Unavailable`` at the end for those that are not there or gave up."""
    if not hasattr(os, "sched_setaffinity"):
        raise Unavailable("needs Linux, to put each process on a core and to read its processor time")
    lacking: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as directory, Stage(Path(directory)) as stage:
        match = Match(stage)
        for rival in RIVALS:
            program = rival.find()
            if program is None:
                lacking[rival.name] = f"not installed: {rival.install}"
                continue
            say(f"starting {rival.name}: {program}")
            try:
                match.enter(rival, program)
            except Failed as reason:
                lacking[rival.name] = str(reason)
        random = Random(rounds)
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}")
            for rival in random.sample(match.rivals, len(match.rivals)):
                try:
                    match.play(rival)
                except Failed as reason:
                    match.leave(rival)
                    lacking[rival.name] = f"gave up: {reason}"
        if any(rival.is_pipelined for rival in match.rivals):
            say(PIPELINED)
        yield from match.figures()
    if lacking:
        raise Unavailable("; ".join(f"{name}: {reason}" for name, reason in lacking.items()))


class Match:
    """Our broker, the rivals that have entered, and what has been measured of each."""

    def __init__(self, stage: Stage) -> None:
        self.rivals: list[Rival] = []
        self._stage = stage
        self._contenders: dict[Rival, Contender] = {}
        self._values: dict[tuple[str, str, str, Better, float], list[float]] = defaultdict(list)
        try:
            self._ours = Ours(stage)
        except Failed as reason:
            raise Unavailable(f"our own broker: {reason}") from reason
        cores = sorted(os.sched_getaffinity(0))
        self._server_core, self._load_core = cores[-1], cores[0]

    def enter(self, rival: Rival, program: str) -> None:
        """Start a rival. Raises ``Failed``."""
        contender = rival.start(self._stage, program, rival.outstanding)
        for load, ours in self._pairs(rival, contender):
            self._burst(contender.server, load, contender.answerer, seconds=WARM_UP_S)
            self._burst(self._ours.server, ours, seconds=WARM_UP_S)
        self._contenders[rival] = contender
        self.rivals.append(rival)

    def leave(self, rival: Rival) -> None:
        """Forget what a rival has done that did not see it through."""
        self.rivals.remove(rival)
        for key in [key for key in self._values if key[0] == rival.name]:
            del self._values[key]

    def play(self, rival: Rival) -> None:
        """One round: ours, theirs, ours, with many requests outstanding and with one. Raises ``Failed``."""
        contender = self._contenders[rival]
        for load, ours in self._pairs(rival, contender):
            before = self._burst(self._ours.server, ours)
            theirs = self._burst(contender.server, load, contender.answerer)
            after = self._burst(self._ours.server, ours)
            if load is contender.many:
                self._note_many(rival, theirs, (before, after))
            else:
                self._note_serial(rival, theirs, (before, after))

    def _pairs(self, rival: Rival, contender: Contender) -> list[tuple[Load, Load]]:
        """The loads to compare, theirs and ours."""
        many = 64 if rival.is_pipelined else rival.outstanding
        pairs = [(contender.many, self._ours.load(many, in_python=rival.in_python))]
        if not rival.is_pipelined:
            pairs.append((contender.serial, self._ours.load(1, in_python=rival.in_python)))
        return pairs

    def _burst(self, server: Threads, load: Load, *others: Process | None, seconds: float = BURST_S) -> Measured:
        """One burst; who asks shares the server's core when it asks serially."""
        asking_core = self._server_core if load.is_serial else self._load_core
        server.put_on(self._server_core)
        for process in (load, *filter(None, others)):
            process.put_on(asking_core)
        before = server.cpu_seconds()
        burst = load.burst(seconds)
        return Measured(burst, server.cpu_seconds() - before)

    def _note_many(self, rival: Rival, theirs: Measured, ours: tuple[Measured, Measured]) -> None:
        label = f"{rival.outstanding} outstanding"
        rate = _mean(*(each.burst.rate for each in ours))
        cpu_us = _mean(*(each.cpu_us for each in ours))
        seconds = theirs.burst.seconds
        self._note(rival, f"requests/s, {label}, ours / theirs", RATIO, "higher", rate / theirs.burst.rate, rival.goal)
        self._note(rival, f"server's CPU per request, {label}, theirs / ours", RATIO, "higher", theirs.cpu_us / cpu_us)
        self._note(rival, f"requests/s, {label}", "1/s", "higher", theirs.burst.rate)
        self._note(rival, f"server's CPU per request, {label}", "µs", "lower", theirs.cpu_us)
        self._note(
            rival, f"server's share of a core, {label}", "%", "higher", 100 * theirs.server_cpu_seconds / seconds
        )
        self._note(rival, f"client's share of a core, {label}", "%", "lower", 100 * theirs.burst.cpu_seconds / seconds)

    def _note_serial(self, rival: Rival, theirs: Measured, ours: tuple[Measured, Measured]) -> None:
        p50_us = _mean(*(each.burst.p50_us for each in ours))
        p99_us = _mean(*(each.burst.p99_us for each in ours))
        ratio = theirs.burst.p50_us / p50_us
        self._note(rival, "serial p50, theirs / ours", RATIO, "higher", ratio, rival.goal)
        self._note(rival, "serial p99, theirs / ours", RATIO, "higher", theirs.burst.p99_us / p99_us)
        self._note(rival, "serial p50", "µs", "lower", theirs.burst.p50_us)
        self._note(rival, "serial p99", "µs", "lower", theirs.burst.p99_us)

    def _note(self, rival: Rival, name: str, unit: str, better: Better, value: float, goal: float = 0) -> None:
        self._values[rival.name, name, unit, better, goal].append(value)

    def figures(self) -> Iterator[Figure]:
        """Rival by rival, in the order in which they entered."""
        for rival in self.rivals:
            for (whose, name, unit, better, goal), values in self._values.items():
                if whose == rival.name:
                    yield figure(SECTION, f"{whose}: {name}", unit, values, better, at_least=goal or None)


def _mean(*values: float) -> float:
    return sum(values) / len(values)
