"""Whether a workload makes brokers search at all: an estimate from the plan of its clients. Pure.

An experiment whose queries never leave the broker that was asked measures one broker, whatever its topology is. That is
so where every broker that is asked holds what is asked for, from its own providers or, after its first search, as a
replica.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

from overlay.systems.context_broker.workload import Workload, plan_clients

HARDLY = 0.05
"""Of the requests: if fewer leave their broker, an experiment hardly exercises the overlay."""
NONE = 0.005
"""Below this share no query of most runs leaves its broker."""
MOST_CLIENTS = 20_000
"""Clients of a plan that is drawn for the estimate; 50,000 take a second."""
MOST_PLANNED = 20
"""Configurations of which the clients' plans are drawn for a warning; 200 would keep a form waiting."""
ADVICE = "raise entities, lower holders or turn replication off"


def searched_share(configuration: Mapping[str, Any], seed: int) -> float:
    """About which share of the requests of measuring leave their broker, 0 to 1; 1 where that is not estimated.

    A broker needs a search for each entity that its providers do not describe: the first time that it is asked for it,
    and again whenever its replica has expired. That the first search leaves a replica at that very broker is assumed,
    so that the share is rather too small where replicas are few.
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
    """Whether the broker that a consumer asks may keep what it found."""
    replication = settings.get("replication")
    is_on = replication != "none" and not (replication == "random" and settings.get("replication_index") == 0)
    return is_on and workload.valid_ms >= settings.get("replication_threshold_ms", 0)


def _first(workload: Workload, consumers: int) -> float:
    """Chance that an entity is asked for at a broker of so many consumers while measuring and was not in warming."""
    ramp, rate = workload.ramp_s(), consumers / workload.request_interval_s
    while_warming = consumers + rate * ramp / 2  # each asks as it starts, and they start all along the ramp
    return exp(-while_warming / workload.entities) * (1 - exp(-rate * workload.duration_s / workload.entities))


def _expiries(workload: Workload) -> float:
    """How often a replica expires while measuring; a value is half an update interval old when it is copied."""
    total = workload.ramp_s() + workload.duration_s
    lasts = max(workload.valid_ms / 1e3 - workload.update_interval_s / 2, 0.001)
    return total // lasts * workload.duration_s / total


def warnings(configurations: Sequence[Mapping[str, Any]], seed: int) -> tuple[str, str]:
    """What to know of these before they are launched; empty where there is nothing."""
    some = configurations[:: -(-len(configurations) // MOST_PLANNED)] if configurations else ()
    shares = (searched_share(one, seed) for one in some)
    return _hardly_asked(configurations), warning(max(shares, default=1.0))


def _hardly_asked(configurations: Sequence[Mapping[str, Any]]) -> str:
    """What to know of configurations that end before each consumer has asked; empty where there are none."""
    asking = [configuration["workload"] for configuration in configurations if configuration["workload"]["consumers"]]
    if not (short := [one for one in asking if one["request_interval_s"] > one["duration_s"]]):
        return ""
    worst = max(short, key=lambda one: float(one["request_interval_s"] / one["duration_s"]))
    return (
        f"A consumer asks every {worst['request_interval_s']:g} s and {worst['duration_s']:g} s are measured: some "
        "never ask, and a run with few consumers may hold no request at all. A shorter request interval or a longer "
        "duration gives figures"
    )


def warning(share: float) -> str:
    """What to know of a workload of which ``share`` of the requests leave their broker; empty if enough do."""
    if share >= HARDLY:
        return ""
    how_many = "no query" if share < NONE else f"hardly any query (about {share * 100:.2g} %)"
    return f"{how_many} will leave its broker: {ADVICE}"


def remark(summary: Mapping[str, Any]) -> str:
    """The same of a run that has ended: empty unless it measured queries, and none left its broker."""
    if not summary.get("requests") or summary.get("messages_per_query") != 0:
        return ""
    return f"no query left its broker: {ADVICE}"
