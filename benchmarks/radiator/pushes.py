"""Live pushes: one server and a fleet of clients over real UDP, on this machine's cores.

The rate is raised until less than ``WHOLE`` of the pairs is delivered, or the lag says that it cannot be kept. Every
push has an outcome in the server's ledger. Clients check the MAC of each push, acknowledge it and write it to the
journal; a body is inflated and parsed once per process. They take more processor time than the server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.figures import Figure, Unavailable
from benchmarks.radiator.runs import Run, live
from benchmarks.radiator.timing import make
from benchmarks.servers import supervisor
from overlay.runtime.supervisor_client import SupervisorClient

CLIENTS = 200
RATES = (5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 40_000)
QUICK_RATES = (10_000, 20_000, 30_000)
"""Pushes per second."""
GOAL = 20_000
DURATION_S = 4.0
WHOLE = 0.999
LATE_MS = 1_000.0
"""A p95 above it shows a backlog that grows."""
FULL_ROUNDS = 4


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Raises ``Unavailable`` if runs fail."""
    is_full = rounds >= FULL_ROUNDS
    rates, turns = (RATES, max(1, rounds // 3)) if is_full else (QUICK_RATES, 1)
    held: list[float] = []
    kept: dict[int, list[Run]] = {}
    with supervisor() as client:
        for _ in range(turns):
            best = 0
            for rate in rates:
                say(f"{rate:,} pushes/s to {CLIENTS} clients")
                run = _pushed(client, rate)
                kept.setdefault(rate, []).append(run)
                if not _is_held(run):
                    break
                best = rate
            held.append(float(best))
    yield make(f"pushes delivered live, {CLIENTS} clients", "pushes/s", held, "higher", at_least=GOAL)
    for rate, runs in kept.items():
        yield from _figures(f"{rate:,} pushes/s", runs)


def _pushed(client: SupervisorClient, rate: int) -> Run:
    workload = {"clients": CLIENTS, "messages_per_s": rate / CLIENTS, "duration_s": DURATION_S}
    return live(client, {"echo": True}, workload)


def _is_held(run: Run) -> bool:
    return run.delivered_share >= WHOLE and run["lag_p95_us"] <= LATE_MS * 1e3


def _figures(what: str, runs: list[Run]) -> Iterator[Figure]:
    if not any(run["pairs_delivered"] for run in runs):
        raise Unavailable(f"{what}: nothing was delivered")
    yield make(f"{what}: delivered", "%", [100 * run.delivered_share for run in runs], "higher")
    yield make(f"{what}: lag, p50", "ms", [run["lag_p50_us"] / 1e3 for run in runs], "lower")
    yield make(f"{what}: lag, p95", "ms", [run["lag_p95_us"] / 1e3 for run in runs], "lower")
    yield make(f"{what}: server, processor", "µs/push", [run.server_us for run in runs], "lower")
    yield make(f"{what}: server, share of a core", "%", [100 * run.server_cpu_s / run.seconds for run in runs], "lower")
    yield make(
        f"{what}: clients, share of a core", "%", [100 * run.fleets_cpu_s / run.seconds for run in runs], "lower"
    )
    yield make(f"{what}: repeated", "%", [100 * run["duplicates_suppressed"] / _pushes(run) for run in runs], "lower")


def _pushes(run: Run) -> float:
    return max(1.0, run["pushes"])
