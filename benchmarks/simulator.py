"""The speed of virtual time: datagrams delivered a second, compared with a loop over the standard library's heap.

The simulator runs the brokers themselves, so it is as fast as they and its schedule are. The loop pushes and pops the
same kind of tuples and does nothing else: what the interpreter and the machine are good for.

Of large overlays the question is what size costs: the same searches among more brokers take as many events each, whose
cost grows only where more memory is reached for. Sizes take turns, so that a busy minute falls on both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from heapq import heappop, heappush
from statistics import fmean

from benchmarks.figures import RATIO, Figure, figure
from overlay.core.node import SECOND
from overlay.sim.actors import NodeActor
from overlay.sim.garbage import Collector
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.workload import Workload
from overlay.topologies import Limits, generate
from telemetry.systems.context_broker.lab.overlay import Overlay

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
LARGE = {1_000: 0, 10_000: 3, 100_000: 8}
"""Brokers, and from how many rounds on so many are looked at: the most take two gigabytes and four minutes to make."""
MOST_GROWTH = 1.5
"""What an event may cost among the most brokers, over what it costs among the fewest."""
SEARCHING = BrokerConfig(search="lookahead", walk_policy="avoid", walk_ttl=256, replication="none", trace_one_in=0)
HEAP = 10_000
STEPS = 100_000

_figure = partial(figure, "simulator")


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    with Collector():  # as a simulated run has it
        yield from _small(rounds, say)
        yield from _large(rounds, say)


def _small(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    for brokers in SIZES:
        say(f"{brokers} brokers")
        overlay = Overlay(generate("random-regular", brokers, {"degree": 4}, seed=1), seed=1, make_actor=NodeActor)
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


def _large(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    sizes = [brokers for brokers, least in LARGE.items() if rounds >= least]
    overlays = {}
    for brokers in sizes:
        say(f"{brokers:,} brokers: made")
        overlays[brokers] = searched(brokers)
    say("searched in turns")
    rates: dict[int, list[float]] = {brokers: [] for brokers in sizes}
    for _ in range(rounds):
        for brokers, overlay in overlays.items():
            rates[brokers].append(events_per_s(overlay))
    for brokers in sizes:
        yield _figure(f"{brokers:,} brokers, searched", "events/s of processor", rates[brokers], "higher")
    for brokers in sizes[1:]:
        growth = [few / many for few, many in zip(rates[sizes[0]], rates[brokers], strict=True)]
        name = f"cost of an event among {brokers:,} brokers / {sizes[0]:,}"
        yield _figure(name, RATIO, growth, "lower", at_most=MOST_GROWTH)


def searched(brokers: int) -> Overlay:
    """A Waxman overlay of mean degree 4 in which a hundred times a second something is searched that 1 % have."""
    graph = generate(
        "waxman", brokers, {"mean_degree": 4, "delay_ms": 1}, seed=1, limits=Limits(brokers, links=2 * brokers)
    )
    overlay = Overlay(graph, SEARCHING, seed=1, monitoring=False, strict=False, make_actor=NodeActor)
    overlay.introduce()
    workload = Workload(
        providers=brokers,
        entities=100,
        payload_bytes=100,
        update_interval_s=3600,
        valid_ms=7_200_000,
        consumers=100,
        request_interval_s=1,
        duration_s=3600,
        stagger_ms=1000 / brokers,
        assignment="random",
    )
    overlay.add_clients(workload)
    overlay.run_for(15 * SECOND)  # until brokers forget as many queries as they come to know
    return overlay


def events_per_s(overlay: Overlay) -> float:
    """Datagrams and steps a second of processor time, over a second of searches."""
    simulator = overlay.simulator
    began, events = time.process_time(), simulator.delivered + simulator.stepped
    overlay.run_for(SECOND)
    return (simulator.delivered + simulator.stepped - events) / (time.process_time() - began)


def heap_steps_per_s() -> float:
    """Pops and pushes a second of processor time, on a heap of 10,000."""
    heap: list[tuple[int, int, int]] = [(i * 7919 % HEAP, 1, i) for i in range(HEAP)]
    heap.sort()
    began = time.process_time()
    for count in range(STEPS):
        at, priority, _ = heappop(heap)
        heappush(heap, (at + 7919, priority, count))
    return STEPS / (time.process_time() - began)
