"""What a run is expected to cost before it is run, from its configuration alone: seconds and bytes. Pure.

A processor spends its time on exchanges: those of clients with their broker, those that a search makes, and the pings
of neighbours. A recording holds the datagrams of these, and a journal what was traced of them. How long they take
differs between machines and with the settings, so that it is measured: what is expected here is multiplied by how much
longer runs took that were simulated before.

The figures are of 17 shapes of simulated runs, 3 to 100 brokers, with and without recordings, measured on 2026-11-23 on
two cores of an AMD EPYC with Python 3.11; a test holds bytes to what such runs leave. Seconds are of a processor that
does nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, exp, log, log2
from statistics import median
from typing import Any

from overlay.core.settings import describe
from overlay.load.assignment import MACHINES
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.broker.search.strategy import Strategy
from overlay.systems.context_broker.broker.search.walk import Walk
from overlay.systems.context_broker.workload import FLEET_SIZE, Workload
from overlay.systems.registry import RECORD, SYSTEMS

EXCHANGES_PER_S = 12_000.0
"""That a second simulates: 11,000 to 23,000 without service times, a third fewer with them."""
RECORDING = 1.5
"""How much longer they take where all that brokers hear and say is recorded."""
COLLECT_S = 0.3
"""To write a run's Parquet and its summary, beside what follows."""
SAMPLES_PER_S, TICKS_PER_S, RECORDS_PER_S = 100_000.0, 10_000.0, 60_000.0
"""That are collected in a second: requests and updates, seconds of processes, recorded datagrams."""

RUN, OF_BROKER, SAMPLE, TICK = 40_000, 1_200, 105, 1_130
"""Bytes of any run, of a broker in its manifests, of one request or update, and of one process in one second."""
ALWAYS_TRACED, TRACED = 16, 130
"""Bytes that a broker asked on the way writes of any query, as some are traced because of how they end, and of one
that is traced because it was drawn."""
PING, UPDATE, REQUEST, ON_THE_WAY, HOP = 300, 200, 340, 250, 18
"""Bytes recorded of an exchange without its payload, at both brokers where there are two; of one on the way also what
each hop adds that is behind it."""
BACK = {"walk": 1.0, "flood": 0.15, "structured": 0.1}
"""How many payloads come back for each broker that is asked on the way, recorded at both ends."""
JOINED = 1.03
"""What is recorded, with the table of messages that is made of it."""
MB = 1_000_000

SPARSE = 1.7
"""How many times as many steps a walk takes where there are no more links than brokers, as on a ring: 4.5 where 2.7
were expected, live, with two of ten that have the data."""
ASKED = 0.5
"""What a broker that is asked on the way costs, of a client's exchange with its broker: four events for eight."""


@dataclass(frozen=True, slots=True)
class Expected:
    """How much of everything a run has, about."""

    brokers: int
    processes: int
    seconds: float
    """Of warming and measuring."""
    updates: float
    requests: float
    asked: float
    """Brokers that are asked on the way, over all requests."""
    steps: float
    """How many of them have been asked before one, in the mean: what its hops say."""
    back: float
    """As ``BACK`` has it."""
    pings: float
    refreshes: float
    """Updates that are sent on to replicas."""

    @property
    def exchanges(self) -> float:
        return self.updates + self.requests + ASKED * self.asked + self.pings + self.refreshes

    @property
    def records(self) -> float:
        """Datagrams recorded, at both ends where these are brokers."""
        return 2 * self.updates + 3 * self.requests + 2.5 * self.asked + 4 * self.pings + 4 * self.refreshes


def exchanges(configuration: Mapping[str, Any]) -> float:
    """How many exchanges a run of ``configuration`` has, about."""
    return expected(configuration).exchanges


def seconds(configuration: Mapping[str, Any]) -> float:
    """What a simulated run takes of one processor, until its result is collected."""
    found, factor = expected(configuration), RECORDING if configuration.get(RECORD.name) else 1.0
    return factor * found.exchanges / EXCHANGES_PER_S + collect_s(configuration)


def collect_s(configuration: Mapping[str, Any]) -> float:
    """What it takes to collect a run, live or simulated."""
    found = expected(configuration)
    records = found.records if configuration.get(RECORD.name) else 0.0
    samples, ticks = found.updates + found.requests, found.processes * found.seconds
    return COLLECT_S + samples / SAMPLES_PER_S + ticks / TICKS_PER_S + records / RECORDS_PER_S


def disk_bytes(configuration: Mapping[str, Any]) -> float:
    """What a run leaves on the disk: journals, Parquet and recordings."""
    found = expected(configuration)
    traced_one_in: int = SYSTEMS[configuration["system"]].whole(configuration["settings"]).get("trace_one_in") or 0
    traced = ALWAYS_TRACED + TRACED / traced_one_in if traced_one_in else 0.0
    written = SAMPLE * (found.updates + found.requests) + TICK * found.processes * found.seconds + traced * found.asked
    return RUN + OF_BROKER * found.brokers + written + JOINED * _recorded_bytes(configuration, found)


def _recorded_bytes(configuration: Mapping[str, Any], found: Expected) -> float:
    """No broker records more than was chosen: clients are all with those that the assignment uses."""
    workload = configuration["workload"]
    payload: int = workload["payload_bytes"]
    most: float = configuration.get(RECORD.name, 0) * MB
    with_clients = min(found.brokers, MACHINES) if workload["assignment"] == "machines" else found.brokers
    of_clients = (payload + UPDATE) * found.updates + (payload + REQUEST) * found.requests
    between = (found.back * payload + ON_THE_WAY + HOP * found.steps) * found.asked + PING * found.pings
    between += 2 * (payload + UPDATE) * found.refreshes
    return min(of_clients, most * with_clients) + min(between, most * found.brokers)


def expected(configuration: Mapping[str, Any]) -> Expected:
    """How much of everything a run of ``configuration`` has, about."""
    workload, topology = Workload(**configuration["workload"]), configuration["topology"]
    settings = SYSTEMS[configuration["system"]].whole(configuration["settings"])
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
        refreshes = updates * (having - 1) / 2 if settings["replica_refresh"] else 0.0  # half of a run they are fewer
        is_walk = isinstance(strategy, Walk)
        asked *= SPARSE if is_walk and links <= brokers else 1.0
        steps, back = (each, BACK["walk"]) if is_walk else (log2(brokers + 1), BACK["flood"])
    return Expected(
        brokers=brokers,
        processes=brokers + sum(ceil(clients / FLEET_SIZE) for clients in (workload.providers, workload.consumers)),
        seconds=workload.ramp_s() + workload.duration_s,
        updates=updates,
        requests=requests,
        asked=asked,
        steps=steps,
        back=back,
        pings=pings,
        refreshes=refreshes,
    )


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


def _until_they_are_there(
    workload: Workload,
    settings: Mapping[str, Any],
    strategy: Strategy,
    having: float,
    brokers: int,
    links: int,
    requests: float,
) -> float:
    """How many brokers are asked before replicas lie wherever they are asked for, about.

    Of each entity the first request at each broker searches, and meets the more replicas the later it comes.
    """
    places = min(brokers, MACHINES) if workload.assignment == "machines" else brokers
    firsts = min(places, workload.consumers) * workload.entities
    searches = firsts * (1 - exp(-requests / firsts)) if firsts else 0.0
    few = _having(workload, {**settings, "replication": "none"}, brokers)
    spread = log(having / few) / (having - few) if having > few else 1 / having
    one, several = (strategy.brokers_asked(brokers, links, number) for number in (1, few))
    return searches * min(one * spread, several)


def _strategy(settings: Mapping[str, Any], brokers: int) -> Strategy:
    """What searches with these settings."""
    known = {info.name for info in describe(BrokerConfig)}
    config = BrokerConfig(**{name: value for name, value in settings.items() if name in known}).among(brokers)
    return STRATEGIES[config.search](config)


def slowness(known: Iterable[tuple[float, float]]) -> float | None:
    """How much longer runs took than was expected, the median: pairs of seconds expected and taken.

    ``None`` where there are none.
    """
    ratios = [taken_s / expected_s for expected_s, taken_s in known if taken_s > 0]
    return median(ratios) if ratios else None
