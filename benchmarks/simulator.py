"""How fast virtual time goes: datagrams delivered a second, beside a loop of the standard library's heap.

The simulator runs the brokers themselves, so it is as fast as they and its schedule are. The loop pushes and pops the
same kind of tuples and does nothing else: what the interpreter and the machine are good for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from heapq import heappop, heappush
from statistics import fmean

from benchmarks.figures import RATIO, Figure, figure
from overlay.node import SECOND
from overlay.sim.harness import Overlay
from overlay.topologies import generate
from overlay.workload import Workload

TITLE = "The simulator"
SIZES = (10, 100)
WORKLOAD = Workload(
    providers=20,
    consumers=200,
    update_interval_s=1,
    request_interval_s=0.2,
    entities=20,
    holders=5,
    stagger_ms=1,
    duration_s=3600,
)
SLICE_S = 0.4
"""Simulated, between two loops: some tenths of a second in real time."""
HEAP = 10_000
STEPS = 100_000

_figure = partial(figure, "simulator")


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    for brokers in SIZES:
        say(f"{brokers} brokers")
        overlay = Overlay(generate("random-regular", brokers, {"degree": 4}, seed=1), seed=1)
        overlay.start()
        overlay.add_clients(WORKLOAD)
        overlay.run_for(2 * SECOND)
        rates, ratios, before = [], [], heap_steps_per_s()
        for _ in range(rounds):
            began, delivered = time.process_time(), overlay.simulator.delivered
            overlay.run_for(round(SLICE_S * SECOND))
            rates.append((overlay.simulator.delivered - delivered) / (time.process_time() - began))
            after = heap_steps_per_s()
            ratios.append(rates[-1] / fmean((before, after)))
            before = after
        yield _figure(f"{brokers} brokers", "datagrams/s of processor", rates, "higher")
        yield _figure(f"{brokers} brokers: datagrams / steps of a bare heap", RATIO, ratios, "higher")


def heap_steps_per_s() -> float:
    """Pops and pushes a second of processor time, on a heap of 10,000."""
    heap: list[tuple[int, int, int]] = [(i * 7919 % HEAP, 1, i) for i in range(HEAP)]
    heap.sort()
    began = time.process_time()
    for count in range(STEPS):
        at, priority, _ = heappop(heap)
        heappush(heap, (at + 7919, priority, count))
    return STEPS / (time.process_time() - began)
