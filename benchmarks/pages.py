"""Section (h): pages and lists of REST in a house with 1,000 runs, and in one with 1,000 configurations ten times each.

Served by the web process as ``make up`` starts it, asked by one browser over one connection. Every address of the
URLconf that can be looked at is asked for in turn, between two requests for ``/healthz``, which is a view that does
nothing: the ratio of the two is the cost of a page relative to any request.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.figures import RATIO, Figure, Unavailable, figure
from benchmarks.house import Connection, House, house

TITLE = "Pages and REST with 1,000 runs, and with 10,000"

HOUSES = {100: 10, 1_000: 10}
"""Replicates by configurations; the goal is of the first."""
FEW = {50: 2}
"""Where there is time for one or two rounds only."""
ASKED = 3
"""How often a round asks for an address: nine rounds give a percentile 27 requests."""
HELLO = "/healthz"
GOAL_MS = 150.0
NAMED = ("home", "runs:list", "runs:detail", "experiments:list", "experiments:detail", "reports:list", "reports:detail")
NAMED_LISTS = ("api:run-list", "api:experiment-list", "api:report-list", "api:topology-list", "api:network-list")
"""Addresses that have figures of their own; of the others the slowest are told."""
FILES = ("export", "schema")
"""How the names of addresses end that send files; they have no goal."""
SLOWEST = 5
LARGEST_PAGE = "?page_size=500"


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Yield the figures of the section."""
    for place, (configurations, replicates) in enumerate((HOUSES if rounds > 2 else FEW).items()):
        say(f"making {configurations} configurations of {replicates} runs each")
        with house() as here:
            made = here.furnish("many", str(configurations), str(replicates))
            here.start_web()
            asked: dict[str, tuple[str, int]] = {name: tuple(each) for name, each in made["addresses"].items()}
            whole = {
                f"{name}{LARGEST_PAGE}": (f"{asked[name][0]}{LARGEST_PAGE}", asked[name][1]) for name in NAMED_LISTS
            }
            say(f"asking for {len(asked) + len(whole)} addresses")
            took = _took({**asked, **whole}, here, rounds)
        queries = {name: count for name, (_, count) in {**asked, **whole}.items()}
        yield from _figures(took, queries, made["runs"], has_goal=not place)


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


def _figures(took: dict[str, list[Request]], queries: dict[str, int], runs: int, *, has_goal: bool) -> Iterator[Figure]:
    goal, house = GOAL_MS if has_goal else None, f"{runs:,} runs"
    shown = {name: requests for name, requests in took.items() if not name.endswith(FILES)}
    slowest = sorted(shown, key=lambda name: -median(one.ms for one in took[name]))[:SLOWEST]
    files = [name for name in took if name.endswith(FILES)]
    every = [one.ms for requests in shown.values() for one in requests]
    yield figure("pages", f"{house}: addresses", "", [len(took)], "higher")
    hellos = [one.hello_ms for requests in took.values() for one in requests]
    yield figure("pages", f"{house}: {HELLO}", "ms", hellos, "lower")
    yield figure("pages", f"{house}: all pages and lists, p95", "ms", [percentile(every, 0.95)], "lower", at_most=goal)
    for name in dict.fromkeys(
        [*slowest, *NAMED, *NAMED_LISTS, *(f"{one}{LARGEST_PAGE}" for one in NAMED_LISTS), *files]
    ):
        requests = took[name]
        times, what = [one.ms for one in requests], f"{house}: {name}"
        at_most = None if name in files else goal
        yield figure("pages", f"{what}, p50", "ms", times, "lower")
        yield figure("pages", f"{what}, p95", "ms", [percentile(times, 0.95)], "lower", at_most=at_most)
        yield figure("pages", f"{what}, processor", "ms", [one.cpu_ms for one in requests], "lower")
        yield figure("pages", f"{what} / {HELLO}", RATIO, [one.ms / one.hello_ms for one in requests], "lower")
        yield figure("pages", f"{what}, database", "queries", [queries[name]], "lower")


def percentile(values: list[float], share: float) -> float:
    """The least of ``values`` that is not below ``share`` of them."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
