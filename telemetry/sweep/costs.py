"""What a simulated run is expected to cost before it is simulated, from its configuration alone. Pure.

A processor spends its time on exchanges: those of clients with their broker, those that a search makes, and the pings
of neighbours. How many a second of processor does differs between machines and with the settings, so it is measured:
what is expected here is divided by the pace of runs that were simulated before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log2
from statistics import median
from typing import Any

from overlay.assignment import MACHINES
from overlay.broker.config import MOST_HOPS
from overlay.systems import SYSTEMS
from overlay.workload import Workload, ramp_s

ROUGH_PER_S = 30_000.0
"""Exchanges that a second of processor does, where nothing was simulated yet: an order of magnitude."""
FLOODING = ("flood", "normalized-flood", "expanding-ring")
"""Strategies that ask all neighbours, whoever has the data."""
STEPS = {"uniform": 3.5}
"""Steps until a walk meets the one of n brokers that has the data, over n, as seen among 100 of mean degree 4."""
FEW_STEPS = 0.6
"""The same of walks that do not turn on the spot: others than ``backtrack`` end earlier still, at dead ends."""
ASKED = 0.5
"""What a broker that is asked on the way costs, of a client's exchange with its broker: four events for eight."""


def exchanges(configuration: Mapping[str, Any]) -> float:
    """How many exchanges a run of ``configuration`` has, about."""
    workload, topology = Workload(**configuration["workload"]), configuration["topology"]
    settings = SYSTEMS[configuration["system"]].whole(configuration["settings"])
    brokers: int = topology["brokers"]
    links = len(topology["links"])
    seconds: float = ramp_s(workload) / 2 + workload.duration_s
    updates: float = workload.providers * (1 + seconds / workload.update_interval_s)
    requests: float = workload.consumers * (1 + seconds / workload.request_interval_s)
    interval_s: float = settings["ping_interval_ms"] / 1000
    pings: float = 2.0 * links * seconds / interval_s if settings["monitoring"] and interval_s else 0.0
    if settings["arm"] == "structured":
        lookup: float = settings["dht_parallel"] * log2(brokers + 1)
        replicas: int = min(brokers, settings["dht_replicas"])
        return updates * (1 + lookup + replicas) + requests * (1 + lookup * (1 - replicas / brokers)) + pings
    having = _having(workload, settings, brokers)
    asked = (1 - having / brokers) * _search(settings, having, brokers, links)
    return updates + requests * (1 + ASKED * asked) + pings


def _having(workload: Workload, settings: Mapping[str, Any], brokers: int) -> float:
    """How many brokers can answer a request, about: those of providers, and those that keep a replica.

    A request that its own broker can answer leaves no replica, so that the more have the data the fewer join them.
    """
    most = min(brokers, MACHINES) if workload.assignment == "machines" else brokers
    holders = min(most, workload.holders or most)
    having = max(1.0, holders * (1 - (1 - 1 / holders) ** (workload.providers / workload.entities)))
    if settings["replication"] != "none":
        requests_per_s = workload.consumers / workload.request_interval_s / workload.entities
        left = settings["replication_index"] * requests_per_s * workload.valid_ms / 1000
        having += left * (1 - having / brokers) / (1 + left / brokers)
    return float(min(brokers, having))


def _search(settings: Mapping[str, Any], having: float, brokers: int, links: int) -> float:
    """How many brokers a search asks until it meets one of ``having``, about."""
    if settings["search"] in FLOODING:
        return 2.0 * links
    steps = brokers / having * STEPS.get(settings["walk_policy"], FEW_STEPS)
    most_steps: int = settings["walk_ttl"] or MOST_HOPS
    walks: int = settings["walkers"] if settings["search"] == "k-walkers" else 1
    return walks * min(steps, most_steps)


def pace(known: Iterable[tuple[float, float]]) -> float | None:
    """Exchanges a second, of runs that were simulated: pairs of exchanges expected and seconds of processor taken.

    ``None`` where there are none.
    """
    paces = [expected / computed_s for expected, computed_s in known if computed_s > 0]
    return median(paces) if paces else None
