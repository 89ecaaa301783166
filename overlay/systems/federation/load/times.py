"""The times of a run: all of them follow from the workload, its seed and the settings."""

from __future__ import annotations

from functools import lru_cache

from overlay.core.node import SECOND
from overlay.load.windows import Schedule
from overlay.systems.contract import Setup
from overlay.systems.federation.bdrs.forest import diameter, spanning_forest
from overlay.systems.federation.load.arrivals import asking_times, publishing_times
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.workload import Workload
from overlay.topologies import Graph

SETTLING_S = 1.0
"""Between the last start and measuring, at least."""
BATCH_S = 0.05
"""Within which a broker's registrations wait for others before they are told."""
REGISTERING = 4
"""Datagrams of a client and its broker, one after the other, until it is registered."""
SHORTEST_S = 1.0
"""Of measuring."""


def schedule(setup: Setup) -> Schedule:
    """Measuring begins when every broker knows every provider, and ends with the last arrival."""
    settings, workload = setup.settings, setup.workload
    starts_s = workload.stagger_ms * (workload.providers + workload.consumers) / 1_000
    ramp_s = starts_s + settling_s(settings, workload, setup.graph)
    return Schedule(ramp_s, duration_s(workload, setup.seed), workload.expiry_s)


def duration_s(workload: Workload, seed: int) -> float:
    """Of measuring."""
    questions, notes = asking_times(workload, seed), publishing_times(workload, seed)
    last_s = max((times[-1] for times in (questions, notes) if times), default=0) / SECOND
    return max(last_s, SHORTEST_S if questions else workload.duration_s)


def settling_s(settings: Settings, workload: Workload, graph: Graph) -> float:
    """Until all brokers know of the provider that registered last (seed 001, section 12)."""
    hops, delay_s = widest(graph)
    each_s = BATCH_S if settings.out_of_turn else settings.exchange_s
    registering_s = REGISTERING * (workload.client_delay_ms + workload.client_jitter_ms) / 1_000
    return SETTLING_S + registering_s + hops * each_s + delay_s


@lru_cache(maxsize=64)
def widest(graph: Graph) -> tuple[int, float]:
    """The hops and the delay (s) of a path that no way of a registration exceeds, on the tree that the registration
    service computes: as long as its longest path, as slow as all its edges on that path could be. Ends of equal delay
    are taken by number, which is close enough to the order of names for a bound."""
    links = {link.ends: link for link in graph.links}
    edges = spanning_forest((link.delay_ms, *ends) for ends, link in links.items())
    hops = diameter(edges)
    slowest_ms = max((links[ends].delay_ms + links[ends].jitter_ms for ends in edges), default=0.0)
    return hops, hops * slowest_ms / 1_000
