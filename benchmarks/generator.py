"""The load generator alone: 1,000 clients with a socket each on one core, and a C server on the other.

A window is a run of the real fleet, including its journal, for two seconds of open-loop load. It *holds* a rate if 99 %
of its requests are sent within 2 ms of their due time and all are answered. The reference for its processor time is
``benchmarks/c/load.c``, which makes the same exchange over one socket with batched system calls and keeps no records.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, quantiles

from benchmarks.bursts import fill
from benchmarks.figures import RATIO, Figure, Unavailable, figure
from benchmarks.programs import program
from benchmarks.servers import CLIENT_CORE, Server, c_server, cores
from overlay.core.addresses import parse_address
from overlay.core.node import SECOND
from overlay.journal.facts import Sample, Tick
from overlay.journal.journal import read_journal
from overlay.programs.context_broker.client import ContextClient
from overlay.runtime.load_generator import run_fleet
from overlay.systems.context_broker.system import SYSTEM
from overlay.systems.context_broker.workload import Workload, entity_name, make_payload, plan_clients
from overlay.systems.contract import Setup
from overlay.topologies import Graph

TITLE = "The load generator: 1,000 clients on one core"
CLIENTS = 1000
LATE_GOAL_US = 2000
RATE_GOAL = 10_000
RATES = (2000, 4000, 6000, 8000, RATE_GOAL, 12_500, 15_000, 17_500, 20_000, 22_500, 25_000, 30_000)
"""The rates to try, in requests per second."""
WINDOW_S = 2.2
"""Long enough for a complete second between two ticks."""
VALID_MS = 86_400_000
C_BURST_MS = 300

Say = Callable[[str], None]
_figure = partial(figure, "generator")


@dataclass(frozen=True)
class Window:
    """The results of one run of a fleet."""

    late_p99_us: float
    processor_us: float
    """Processor time of the generator per request."""
    pss_kib: float
    unanswered: int

    @property
    def holds(self) -> bool:
        return self.late_p99_us < LATE_GOAL_US and not self.unanswered


def measure(rounds: int, say: Say) -> Iterator[Figure]:
    """The highest rate held, the cost of a request, and the memory of a client."""
    with c_server() as server:
        payload = make_payload(Workload().payload_bytes).encode()
        ContextClient([parse_address(server.address)]).provide("bench", entity_name(0), payload, VALID_MS)
        fill(server, 1000)  # the entries that load.c requests
        for exchange, goal in (("full", RATE_GOAL), ("quiet", None)):
            say(f"the highest rate held, {exchange} exchange")
            held = _highest_held(server, exchange, rounds)
            yield _figure(f"{exchange}, rate held", "requests/s", held, "higher", at_least=goal)
        for exchange in ("full", "quiet"):
            say(f"{RATE_GOAL} requests/s, {exchange} exchange")
            yield from _costs(server, exchange, rounds)
        say("memory")
        few, many = (window(server, "full", 10 * clients, clients) for clients in (1, CLIENTS))
        yield _figure("memory for each client, PSS", "KiB", [(many.pss_kib - few.pss_kib) / (CLIENTS - 1)], "lower")


def _highest_held(server: Server, exchange: str, rounds: int) -> list[float]:
    """For each round, the highest of ``RATES`` that was held, or 0. A round starts near the last result."""
    held, place = [], RATES.index(RATE_GOAL)
    for _ in range(rounds):
        known: dict[int, bool] = {-1: True, len(RATES): False}
        while not (known.get(place) and known.get(place + 1) is False):
            untried = place if place not in known else place + 1
            if untried not in known:
                known[untried] = window(server, exchange, RATES[untried]).holds
            if not known[place]:
                place -= 1
            elif known.get(place + 1):
                place += 1
        held.append(float(RATES[place]) if place >= 0 else 0.0)
        place = max(place, 0)
    return held


def _costs(server: Server, exchange: str, rounds: int) -> Iterator[Figure]:
    windows, ratios = [], []
    for _ in range(rounds):
        before = _c_processor_us(server, exchange)
        one = window(server, exchange, RATE_GOAL)
        windows.append(one)
        ratios.append(one.processor_us / fmean((before, _c_processor_us(server, exchange))))
    name = f"{exchange}, {RATE_GOAL:,} requests/s"
    late = [each.late_p99_us for each in windows]
    yield _figure(f"{name}, sent late, p99", "µs", late, "lower", at_most=LATE_GOAL_US if exchange == "full" else None)
    yield _figure(f"{name}, processor", "µs/request", [each.processor_us for each in windows], "lower")
    yield _figure(f"{exchange}, processor / C, batched, one socket", RATIO, ratios, "lower")


def _c_processor_us(server: Server, exchange: str) -> float:
    """Processor time of ``load.c`` per request, for the same exchange and server with 64 outstanding requests."""
    command = [str(program("load")), "--to", server.address, "--op", exchange, "--ms", str(C_BURST_MS)]
    command += ["--core", str(CLIENT_CORE)] if len(cores()) > 1 else []
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return float(told["cpu_us"] / told["requests"])


def window(server: Server, exchange: str, rate: float, clients: int = CLIENTS) -> Window:
    """One run of a fleet of ``clients`` at ``rate`` requests per second in all. Raises ``Unavailable`` if it fails."""
    workload = Workload(
        providers=0,
        consumers=clients,
        request_interval_s=clients / rate,
        duration_s=WINDOW_S,
        stagger_ms=100 / clients,
        acknowledgements=exchange == "full",
    )
    with tempfile.TemporaryDirectory(prefix="waxwing-bench-") as directory:
        journal = Path(directory) / "consumers-0.journal"
        zero = time.monotonic_ns() + SECOND // 10
        child = os.fork()
        if child == 0:
            _be_fleet(server, workload, journal, zero)
        try:
            status = os.waitpid(child, 0)[1]
        except KeyboardInterrupt:
            os.kill(child, signal.SIGTERM)
            os.waitpid(child, 0)
            raise
        if status:
            raise Unavailable(f"a fleet of {clients} clients ended with status {status}")
        facts = list(read_journal(journal))
    begin_s = workload.ramp_s()
    begin, end = (round(at) // 1000 for at in (begin_s * SECOND, (begin_s + WINDOW_S) * SECOND))
    samples = [fact for fact in facts if isinstance(fact, Sample) and fact.phase == "measuring"]
    ticks = [fact for fact in facts if isinstance(fact, Tick) and begin <= fact.at_us <= end]
    return _summed_up(samples, ticks)


def _be_fleet(server: Server, workload: Workload, journal: Path, zero: int) -> None:
    """The forked child's work; does not return."""
    code = 1
    try:
        if len(cores()) > 1:
            os.sched_setaffinity(0, {CLIENT_CORE})
        code = run_fleet(
            SYSTEM,
            plan_clients(workload, 1, seed=1),
            [parse_address(server.address)],
            Setup(None, workload, Graph(1, ()), seed=1),
            start_ns=zero,
            zero_ns=zero,
            journal=journal,
            process="consumers-0",
            on_ready=lambda: None,
        )
    finally:
        os._exit(code)


def _summed_up(samples: Sequence[Sample], ticks: Sequence[Tick]) -> Window:
    first, last = ticks[0], ticks[-1]
    late = [float(sample.sent_us - sample.intended_us) for sample in samples]
    return Window(
        late_p99_us=quantiles(late, n=100, method="inclusive")[98],
        processor_us=(last.cpu_us - first.cpu_us) / (last.counters["requests"] - first.counters["requests"]),
        pss_kib=last.pss_bytes / 1024,
        unanswered=sum(sample.outcome != "answered" for sample in samples),
    )
