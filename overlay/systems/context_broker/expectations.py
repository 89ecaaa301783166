"""Estimated quantities of a run: exchanges, searches, pings, and the effect of replicas. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, exp, log, log2
from typing import Any

from overlay.core.settings import describe
from overlay.load.assignment import MACHINES
from overlay.load.expectations import FLEET_SIZE, Expected, Kept, Recorded
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.broker.search.strategy import Strategy
from overlay.systems.context_broker.broker.search.walk import Walk
from overlay.systems.context_broker.workload import Workload

ASKED = 0.5
"""The cost of a broker on the path, relative to a client's exchange with its broker: four events instead of eight."""
ALWAYS_TRACED, TRACED = 16, 130
"""Bytes per broker on the path of any query, as some are traced because of their end, and of a query
selected for tracing."""
PING, UPDATE, REQUEST, ON_THE_WAY, HOP = 300, 200, 340, 250, 18
"""Recorded bytes of an exchange without its payload, at both brokers if there are two, and for each
further hop on the path."""
ENTRY = 1_400
"""Bytes of an entry without its payload."""
BACK = {"walk": 1.0, "flood": 0.15, "structured": 0.1}
"""Payloads returned per broker asked on the path, recorded at both ends."""
SPARSE = 1.7
"""The factor by which walks are longer if there are no more links than brokers, as in a ring: measured live, 4.5 steps
instead of 2.7 with the data on two of ten brokers."""


def expected(configuration: Mapping[str, Any], settings: Mapping[str, Any]) -> Expected:
    """The estimate for ``configuration``; ``settings`` are complete."""
    workload, topology = Workload(**configuration["workload"]), configuration["topology"]
    brokers: int = topology["brokers"]
    links = len(topology["links"])
    seconds: float = workload.ramp_s() / 2 + workload.duration_s
    updates: float = workload.providers * (1 + seconds / workload.update_interval_s)
    requests: float = workload.consumers * (1 + seconds / workload.request_interval_s)
    interval_s: float = settings["ping_interval_ms"] / 1000
    pings: float = 2.0 * links * seconds / interval_s if settings["monitoring"] and interval_s else 0.0
    if settings["arm"] == "structured":
        lookup: float = settings["dht_parallel"] * log2(brokers + 1)
        replicas: int = min(brokers, settings["dht_replicas"])
        questions = updates * (lookup + replicas) + requests * lookup * (1 - replicas / brokers)
        asked, steps, back, refreshes = questions / ASKED, 0.0, BACK["structured"], 0.0
    else:
        having = _having(workload, settings, brokers)
        strategy = _strategy(settings, brokers)
        each = strategy.brokers_asked(brokers, links, having)
        asked = requests * (1 - having / brokers) * each
        if settings["replication"] != "none":
            asked = max(asked, _until_they_are_there(workload, settings, strategy, having, brokers, links, requests))
        refreshes = updates * (having - 1) / 2 if settings["replica_refresh"] else 0.0  # fewer in the first half
        is_walk = isinstance(strategy, Walk)
        asked *= SPARSE if is_walk and links <= brokers else 1.0
        steps, back = (each, BACK["walk"]) if is_walk else (log2(brokers + 1), BACK["flood"])
    payload, traced_one_in = workload.payload_bytes, int(settings.get("trace_one_in") or 0)
    of_clients = (payload + UPDATE) * updates + (payload + REQUEST) * requests
    between = (back * payload + ON_THE_WAY + HOP * steps) * asked + PING * pings
    between += 2 * (payload + UPDATE) * refreshes
    with_clients = min(brokers, MACHINES) if workload.assignment == "machines" else brokers
    return Expected(
        servers=brokers,
        clients={"consumers": workload.consumers, "providers": workload.providers},
        processes=brokers + sum(ceil(clients / FLEET_SIZE) for clients in (workload.providers, workload.consumers)),
        kept=Kept("entities", min(workload.entities, workload.providers), ENTRY + workload.payload_bytes),
        seconds=workload.ramp_s() + workload.duration_s,
        exchanges=updates + requests + ASKED * asked + pings + refreshes,
        samples=updates + requests,
        records=2 * updates + 3 * requests + 2.5 * asked + 4 * pings + 4 * refreshes,
        recorded=(Recorded(of_clients, with_clients), Recorded(between, brokers)),
        trace_bytes=(ALWAYS_TRACED + TRACED / traced_one_in) * asked if traced_one_in else 0.0,
    )


def _having(workload: Workload, settings: Mapping[str, Any], brokers: int) -> float:
    """The estimated number of brokers that can answer a request: those of providers, and those with a replica.

    A request answered by its own broker creates no replica, so growth slows down as more brokers have the data.
    """
    most = min(brokers, MACHINES) if workload.assignment == "machines" else brokers
    holders = min(most, workload.holders or most)
    having = max(1.0, holders * (1 - (1 - 1 / holders) ** (workload.providers / workload.entities)))
    if settings["replication"] != "none":
        requests_per_s = workload.consumers / workload.request_interval_s / workload.entities
        left = settings["replication_index"] * requests_per_s * workload.valid_ms / 1000
        having += left * (1 - having / brokers) / (1 + left / brokers)
    return float(min(brokers, having))


def _until_they_are_there(
    workload: Workload,
    settings: Mapping[str, Any],
    strategy: Strategy,
    having: float,
    brokers: int,
    links: int,
    requests: float,
) -> float:
    """The estimated number of brokers asked before replicas exist at every broker that needs them.

    For each entity, the first request at each broker searches, and later ones find more replicas.
    """
    places = min(brokers, MACHINES) if workload.assignment == "machines" else brokers
    firsts = min(places, workload.consumers) * workload.entities
    searches = firsts * (1 - exp(-requests / firsts)) if firsts else 0.0
    few = _having(workload, {**settings, "replication": "none"}, brokers)
    spread = log(having / few) / (having - few) if having > few else 1 / having
    one, several = (strategy.brokers_asked(brokers, links, number) for number in (1, few))
    return searches * min(one * spread, several)


def _strategy(settings: Mapping[str, Any], brokers: int) -> Strategy:
    """The strategy of these settings."""
    known = {info.name for info in describe(BrokerConfig)}
    config = BrokerConfig(**{name: value for name, value in settings.items() if name in known}).among(brokers)
    return STRATEGIES[config.search](config)
