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

from overlay.broker.config import MOST_HOPS
from overlay.systems import SYSTEMS
from overlay.workload import Workload, ramp_s

ROUGH_PER_S = 30_000.0
"""Exchanges that a second of processor does, where nothing was simulated yet: an order of magnitude."""
FLOODING = ("flood", "normalized-flood", "expanding-ring")
"""Strategies that ask all neighbours, whoever has the data."""
TURNING_BACK = 2.0
"""How many steps a walk that may turn on the spot makes for one that does not."""


def exchanges(configuration: Mapping[str, Any]) -> float:
    """How many exchanges a run of ``configuration`` has, about."""
    workload, topology = Workload(**configuration["workload"]), configuration["topology"]
    settings = SYSTEMS[configuration["system"]].whole(configuration["settings"])
    seconds: float = ramp_s(workload) / 2 + workload.duration_s
    updates: float = workload.providers * (1 + seconds / workload.update_interval_s)
    requests: float = workload.consumers * (1 + seconds / workload.request_interval_s)
    links: int = len(topology["links"])
    interval_s: float = settings["ping_interval_ms"] / 1000
    pings: float = 2.0 * links * seconds / interval_s if settings["monitoring"] and interval_s else 0.0
    return updates + requests * (1.0 + _asked(workload, settings, topology["brokers"], links)) + pings


def _asked(workload: Workload, settings: Mapping[str, Any], brokers: int, links: int) -> float:
    """How many brokers are asked for a request beside its first, about: until one is met that has the data.

    A request that its own broker can answer asks nobody. Others leave replicas, and these answer later ones.
    """
    held_by = min(brokers, workload.holders or brokers)
    having = held_by * (1 - (1 - 1 / held_by) ** (workload.providers / workload.entities))
    if settings["replication"] != "none":
        requests_per_s = workload.consumers / workload.request_interval_s / workload.entities
        having += settings["replication_index"] * requests_per_s * workload.valid_ms / 1000
    having = min(float(brokers), max(1.0, having))
    if settings["arm"] == "structured":
        to_meet = settings["dht_parallel"] * log2(brokers + 1)
    elif settings["search"] in FLOODING:
        to_meet = 2.0 * links
    else:
        steps = brokers / having * (TURNING_BACK if settings["walk_policy"] == "uniform" else 1.0)
        to_meet = min(steps, settings["walk_ttl"] or MOST_HOPS)
    return (1 - having / brokers) * to_meet


def pace(known: Iterable[tuple[float, float]]) -> float | None:
    """Exchanges a second, of runs that were simulated: pairs of exchanges expected and seconds of processor taken.

    ``None`` where there are none.
    """
    paces = [expected / computed_s for expected, computed_s in known if computed_s > 0]
    return median(paces) if paces else None
