"""Clients of a federation in virtual time: processor time and memory of a run, and how they grow with its clients.

One client in a hundred provides a scope of its own, the others send as many queries as there are clients. Each run is a
process of its own, of which the peak memory is known. Sizes take turns.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.figures import RATIO, Figure, Unavailable, figure

TITLE = "Federation: many clients, in virtual time"
BROKERS = 63
SIZES = (1_000, 4_000)
PROVIDERS = 100
"""Clients for each provider."""
MOST_GROWTH = 1.5
"""Of the processor time for each client, from the smallest to the largest size."""
US_PER_S = 1e6
KIB = 1_024
SIMULATE = (sys.executable, "-m", "overlay", "simulate", "-", "--json")
make = partial(figure, "federation_clients")


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    found: dict[int, list[dict[str, Any]]] = {size: [] for size in SIZES}
    for number in range(rounds):
        for size, runs in found.items():
            say(f"{size:,} clients, {number + 1} of {rounds}")
            runs.append(simulated(size))
    costs = {size: [US_PER_S * run["computed_s"] / size for run in runs] for size, runs in found.items()}
    for size, runs in found.items():
        yield make(f"{size:,} clients: processor time for each", "µs", costs[size], "lower")
        yield make(f"{size:,} clients: peak memory", "MiB", [run["peak_rss_mib"] for run in runs], "lower")
    few, many = min(SIZES), max(SIZES)
    growth = [one / other for one, other in zip(costs[many], costs[few], strict=True)]
    name = f"processor time for each of {many:,} clients / {few:,}"
    yield make(name, RATIO, growth, "lower", at_most=MOST_GROWTH)
    heavier = [
        KIB * (one["peak_rss_mib"] - other["peak_rss_mib"]) / (many - few)
        for one, other in zip(found[many], found[few], strict=True)
    ]
    yield make("memory of one more client", "KiB", heavier, "lower")
    satisfied = [run["measures"]["satisfied"] / run["measures"]["subscriptions"] for run in found[many]]
    yield make(f"{many:,} clients: queries satisfied", "share", satisfied, "higher", at_least=1)


def simulated(clients: int) -> dict[str, Any]:
    """What ``overlay simulate`` says of a run. Raises ``Unavailable`` if it fails."""
    specification = json.dumps(definition(clients))
    done = subprocess.run(SIMULATE, input=specification, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"a run of {clients:,} clients failed: {done.stderr.strip()[-200:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def definition(clients: int) -> dict[str, Any]:
    providers = max(1, clients // PROVIDERS)
    links = {"links_per_broker": 1, "delay_ms": 1}
    return {
        "system": "federation",
        "topology": {"kind": "barabasi-albert", "brokers": BROKERS, "params": links, "seed": 1},
        "workload": {
            "providers": providers,
            "scopes": providers,
            "consumers": clients - providers,
            "queries": clients,
            "rate_per_s": 5_000,
            "stagger_ms": 0.1,
        },
        "simulation": {"service_times": "none"},
        "seed": 1,
    }
