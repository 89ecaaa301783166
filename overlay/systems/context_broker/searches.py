"""Whether a workload makes brokers search: an estimate from the plan of its clients. Pure.

An experiment whose queries never leave the broker asked measures a single broker, whatever the topology. This happens
if every broker has all requested data, from its own providers or, after its first search, as a replica.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

from overlay.systems.context_broker.workload import Workload, plan_clients

HARDLY = 0.05
"""Share of requests that leave their broker, below which an experiment hardly exercises the overlay."""
NONE = 0.005
"""Below this share, most runs have no query that leaves its broker."""
MOST_CLIENTS = 20_000
"""Maximum clients of a plan drawn for the estimate; 50,000 take a second."""
MOST_PLANNED = 20
"""Maximum configurations whose plans are drawn for a warning; 200 would delay a form."""
ADVICE = "raise entities, lower holders or turn replication off"


def searched_share(configuration: Mapping[str, Any], seed: int) -> float:
    """The estimated share of requests during measuring that leave their broker, 0 to 1; 1 without an estimate.

    A broker needs a search for each entity that its providers do not update: at the first request,
    and again whenever its replica has expired. The estimate assumes that the first search creates a replica at that
    broker, so it is too low if replicas are few.
    """
    settings, topology = configuration["settings"], configuration["topology"]
    workload = Workload(**configuration["workload"])
    if (
        settings.get("arm") == "structured"
        or topology["brokers"] < 2
        or not (workload.providers and workload.consumers)
    ):
        return 1.0
    if workload.providers + workload.consumers > MOST_CLIENTS:
        return 1.0
    held: dict[int, set[int]] = defaultdict(set)
    asked: Counter[int] = Counter()
    for client in plan_clients(workload, topology["brokers"], seed, topology.get("positions")):
        if client.role == "provider":
            held[client.broker].add(client.entity)
        else:
            asked[client.broker] += 1
    lacking = {broker: 1 - len(held[broker]) / workload.entities for broker in asked}
    if not keeps_replicas(settings, workload):
        return sum(asked[broker] * lacking[broker] for broker in asked) / workload.consumers
    searched = sum(_first(workload, asked[broker]) * workload.entities * lacking[broker] for broker in asked)
    if not settings.get("replica_refresh"):
        searched += _expiries(workload) * sum(workload.entities * lacking[broker] for broker in asked)
    return min(searched / (workload.consumers * workload.duration_s / workload.request_interval_s), 1.0)


def keeps_replicas(settings: Mapping[str, Any], workload: Workload) -> bool:
    """Whether a consumer's broker may keep a replica of what it found."""
    replication = settings.get("replication")
    is_on = replication != "none" and not (replication == "random" and settings.get("replication_index") == 0)
    return is_on and workload.valid_ms >= settings.get("replication_threshold_ms", 0)


def _first(workload: Workload, consumers: int) -> float:
    """Probability that an entity is requested at a broker with this many consumers in measuring, but not in warming."""
    ramp, rate = workload.ramp_s(), consumers / workload.request_interval_s
    while_warming = consumers + rate * ramp / 2  # each sends a request when it starts, and starts are along the ramp
    return exp(-while_warming / workload.entities) * (1 - exp(-rate * workload.duration_s / workload.entities))


def _expiries(workload: Workload) -> float:
    """How often a replica expires during measuring. On average a value is half an update interval old when copied."""
    total = workload.ramp_s() + workload.duration_s
    lasts = max(workload.valid_ms / 1e3 - workload.update_interval_s / 2, 0.001)
    return total // lasts * workload.duration_s / total


def warnings(configurations: Sequence[Mapping[str, Any]], seed: int) -> tuple[str, str]:
    """Warnings before a launch; empty if there are none."""
    some = configurations[:: -(-len(configurations) // MOST_PLANNED)] if configurations else ()
    shares = (searched_share(one, seed) for one in some)
    return _hardly_asked(configurations), warning(max(shares, default=1.0))


def _hardly_asked(configurations: Sequence[Mapping[str, Any]]) -> str:
    """A warning about configurations that end before each consumer has sent a request; empty if there are none."""
    asking = [configuration["workload"] for configuration in configurations if configuration["workload"]["consumers"]]
    if not (short := [one for one in asking if one["request_interval_s"] > one["duration_s"]]):
        return ""
    worst = max(short, key=lambda one: float(one["request_interval_s"] / one["duration_s"]))
    return (
        f"Consumers send a request every {worst['request_interval_s']:g} s, but measuring lasts only "
        f"{worst['duration_s']:g} s: some send none, and a run with few consumers may have no requests. Use a "
        "shorter request interval or a longer duration"
    )


def warning(share: float) -> str:
    """A warning if only a small ``share`` of the requests leave their broker; otherwise empty."""
    if share >= HARDLY:
        return ""
    how_many = "no query" if share < NONE else f"hardly any query (about {share * 100:.2g} %)"
    return f"{how_many} will leave its broker: {ADVICE}"


def remark(summary: Mapping[str, Any]) -> str:
    """The same for a completed run: empty unless it measured queries and none left its broker."""
    if not summary.get("requests") or summary.get("messages_per_query") != 0:
        return ""
    return f"no query left its broker: {ADVICE}"
