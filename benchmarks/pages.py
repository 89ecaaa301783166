"""Section (h): pages and lists of REST in a house that has measured 1,000 configurations ten times each.

Served by the web process as ``make up`` starts it, asked by one browser over one connection. Every address of the
URLconf that can be looked at is asked for in turn, between two requests for ``/healthz``, which is a view that does
nothing: the ratio of the two tells what a page costs beside what any request does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.figures import RATIO, Figure, Unavailable, figure
from benchmarks.house import Connection, House, house

TITLE = "Pages and REST with 1,000 configurations of 10 replicates each"

CONFIGURATIONS, REPLICATES = 1_000, 10
FEW = (50, 2)
"""Configurations and replicates where there is time for one or two rounds only."""
ASKED = 3
"""How often a round asks for an address: nine rounds give a percentile 27 requests."""
HELLO = "/healthz"
GOAL_MS = 150.0
NAMED = ("home", "runs:list", "runs:detail", "experiments:list", "experiments:detail", "reports:list", "reports:detail")
NAMED_LISTS = ("api:run-list", "api:experiment-list", "api:report-list", "api:topology-list", "api:network-list")
"""Addresses that have figures of their own; of the others the slowest are told."""
SLOWEST = 5
LARGEST_PAGE = "?page_size=500"


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Yield the figures of the section."""
    configurations, replicates = (CONFIGURATIONS, REPLICATES) if rounds > 2 else FEW
    say(f"making {configurations} configurations of {replicates} runs each")
    with house() as here:
        made = here.furnish("many", str(configurations), str(replicates))
        here.start_web()
        asked: dict[str, tuple[str, int]] = {name: tuple(each) for name, each in made["addresses"].items()}
        whole = {f"{name}{LARGEST_PAGE}": (f"{asked[name][0]}{LARGEST_PAGE}", asked[name][1]) for name in NAMED_LISTS}
        say(f"asking for {len(asked) + len(whole)} addresses")
        took = _took({**asked, **whole}, here, rounds)
    queries = {name: count for name, (_, count) in {**asked, **whole}.items()}
    yield from _figures(took, queries, made["runs"])


@dataclass(frozen=True)
class Request:
    """What one took, in milliseconds."""

    ms: float
    cpu_ms: float
    """Processor time of the web process, which other people's load leaves nearly alone."""
    hello_ms: float
    """Mean of the two requests for ``HELLO`` around it."""


def _took(addresses: dict[str, tuple[str, int]], here: House, rounds: int) -> dict[str, list[Request]]:
    browser = here.connection()
    found: dict[str, list[Request]] = {name: [] for name in addresses}
    for address, _ in addresses.values():
        browser.get(address)  # once, so that templates are compiled
    for _ in range(rounds * ASKED):
        before = _ms(browser, HELLO)
        for name, (address, _) in addresses.items():
            cpu_s = here.cpu_s("web")
            took = _ms(browser, address)
            cpu_ms = (here.cpu_s("web") - cpu_s) * 1e3
            after = _ms(browser, HELLO)
            found[name].append(Request(took, cpu_ms, (before + after) / 2))
            before = after
    return found


def _ms(browser: Connection, address: str) -> float:
    began = time.perf_counter()
    status, _ = browser.get(address)
    took = (time.perf_counter() - began) * 1e3
    if status != 200:
        raise Unavailable(f"{address} was answered with {status}")
    return took


def _figures(took: dict[str, list[Request]], queries: dict[str, int], runs: int) -> Iterator[Figure]:
    slowest = sorted(took, key=lambda name: -median(one.ms for one in took[name]))[:SLOWEST]
    every = [one.ms for requests in took.values() for one in requests]
    yield figure("pages", "runs", "rows", [runs], "higher")
    yield figure("pages", "addresses", "", [len(took)], "higher")
    yield figure("pages", HELLO, "ms", [one.hello_ms for requests in took.values() for one in requests], "lower")
    yield figure("pages", "all addresses, p95", "ms", [percentile(every, 0.95)], "lower", at_most=GOAL_MS)
    for name in dict.fromkeys([*slowest, *NAMED, *NAMED_LISTS, *(f"{one}{LARGEST_PAGE}" for one in NAMED_LISTS)]):
        requests = took[name]
        times = [one.ms for one in requests]
        yield figure("pages", f"{name}, p50", "ms", times, "lower")
        yield figure("pages", f"{name}, p95", "ms", [percentile(times, 0.95)], "lower", at_most=GOAL_MS)
        yield figure("pages", f"{name}, processor", "ms", [one.cpu_ms for one in requests], "lower")
        yield figure("pages", f"{name} / {HELLO}", RATIO, [one.ms / one.hello_ms for one in requests], "lower")
        yield figure("pages", f"{name}, database", "queries", [queries[name]], "lower")


def percentile(values: list[float], share: float) -> float:
    """The least of ``values`` that is not below ``share`` of them."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
