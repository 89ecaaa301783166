"""The command: measure what is asked for and is not in the file yet, then write page and figures."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from overlay import __version__
from overlay.systems.context_broker.broker.config import BrokerConfig
from telemetry.errors import TelemetryError
from telemetry.systems.context_broker.lab.draws import DELAY_MS, TOPOLOGIES, WAIT_MS, arms
from telemetry.systems.context_broker.search_table.draws import ENGINES, LIVE, VIRTUAL, Place, Plan, measure
from telemetry.systems.context_broker.search_table.page import write_markdown
from telemetry.systems.context_broker.search_table.summary import Summary, differences, summarise, write_csv

LEAST_BROKERS = 8
"""Twice as many as hold an entry of the structured arm, whose queries start at one that lacks it."""


def add_flags(table: ArgumentParser) -> None:
    """What can be told to ``python -m telemetry search-table``."""
    table.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES), help="(default: both)")
    table.add_argument(
        "--brokers", type=int, nargs="+", default=[10, 100], help="sizes in virtual time (default: 10 100)"
    )
    table.add_argument(
        "--live-brokers", type=int, nargs="+", default=[10], help="sizes live, a process each (default: 10)"
    )
    table.add_argument(
        "--holders", type=int, nargs="+", default=[1, 2, 5], help="brokers with the data (default: 1 2 5)"
    )
    table.add_argument("--topologies", nargs="+", choices=TOPOLOGIES, default=list(TOPOLOGIES), help="(default: all)")
    table.add_argument("--strategies", nargs="+", choices=arms(), default=list(arms()), help="(default: all)")
    table.add_argument("--seeds", type=int, default=20, help="topologies drawn for each place (default: 20)")
    table.add_argument(
        "--queries", type=int, default=30, help="on each topology in virtual time, at most (default: 30)"
    )
    table.add_argument("--live-queries", type=int, default=10, help="queries on each topology live (default: 10)")
    table.add_argument(
        "--datagrams",
        type=int,
        default=2000,
        help="fewer queries on each topology in virtual time where they would cost more than that (default: 2000)",
    )
    table.add_argument(
        "--processes", type=int, default=2, help="of virtual time, at low priority; live runs alone (default: 2)"
    )
    table.add_argument(
        "--draws",
        type=Path,
        default=Path("var/search-table/draws.csv"),
        help="kept as they come, and not run again: remove it when the code has changed "
        "(default: var/search-table/draws.csv)",
    )
    table.add_argument(
        "--out", type=Path, default=Path("docs/results"), help="directory of search-strategies.md and .csv"
    )


def make(given: Namespace, say: Callable[[str], None], now: datetime) -> Path:
    """Measure what was asked for, and write page and figures; the page. Raises ``WaxwingError``."""
    plans = [plan for plan in plans_of(given) if plan.engine in given.engines]
    for plan in plans:
        check(plan)
    rows = [row for plan in plans for row in measure(plan, given.draws, given.processes, say)]
    summary = summarise(rows)
    ordered = {place: summary[place] for plan in plans for place in plan.places()}
    given.out.mkdir(parents=True, exist_ok=True)
    write_csv(ordered, given.out / "search-strategies.csv")
    page: Path = given.out / "search-strategies.md"
    write_markdown(ordered, list(differences(rows)), page, _how(plans, ordered, now))
    return page


def plans_of(given: Namespace) -> list[Plan]:
    """What each engine would measure."""
    holders, arms, topologies = tuple(given.holders), tuple(given.strategies), tuple(given.topologies)
    return [
        Plan(tuple(given.brokers), holders, given.seeds, given.queries, given.datagrams, arms, topologies, VIRTUAL),
        Plan(tuple(given.live_brokers), holders, given.seeds, given.live_queries, 0, arms, topologies, LIVE),
    ]


def check(plan: Plan) -> None:
    """Raise ``TelemetryError`` for what cannot be drawn."""
    if max(plan.holders) >= min(plan.brokers):
        raise TelemetryError(f"{max(plan.holders)} of {min(plan.brokers)} brokers leave none that lacks the data")
    if min(plan.brokers) < LEAST_BROKERS:
        raise TelemetryError(f"{min(plan.brokers)} brokers are too few: all may hold what the structured arm keeps")


def _how(plans: Sequence[Plan], summary: Summary, now: datetime) -> str:
    common = (
        f"Each query asks for an entity of its own, placed at random, at a random broker that lacks it. No "
        f"replication, no monitoring, links of {DELAY_MS:g} ms without loss. Settings are the defaults, walks have "
        f"4 x N hops, floods and rings {BrokerConfig().flood_ttl}, k-walkers {BrokerConfig().walkers}, and a shallow "
        f"flood is waited for {WAIT_MS} ms a hop. Messages are all that a query led to, those after its answer "
        f"included. Intervals are 95 % with the topology as the unit, by Student's t and of success by Wilson's score; "
        f"± is half their width, and left out where it is nothing. All figures: "
        f"[search-strategies.csv](search-strategies.csv). Version {__version__}, {now:%Y-%m-%d}, made by"
    )
    told = [_how_one(plan, {p: found for p, found in summary.items() if p.engine == plan.engine}) for plan in plans]
    return "\n\n".join([*told, common, f"```\n{_command(plans)}\n```"])


def _how_one(plan: Plan, summary: dict[Place, dict[str, dict[str, int]]]) -> str:
    counts = [found["counts"] for found in summary.values()]
    queries = sum(count["queries"] for count in counts)
    if plan.engine == LIVE:
        how = "**Live**: a process for each broker, real UDP on this machine, one query at a time"
        each = f"{plan.queries} queries on each"
    else:
        how = "**Virtual time**: the brokers that run live, driven by `overlay.sim`"
        each = (
            f"at most {plan.queries} queries on one and as many fewer as cost about {plan.datagrams:,} datagrams by a "
            f"pilot, {min(count['queries'] for count in counts)} at least in a place"
        )
    lost, most, longest = (
        sum(count["lost"] for count in counts),
        max(count["most_messages"] for count in counts),
        max(count["longest"] for count in counts),
    )
    return (
        f"{how}. {queries:,} queries in {len(summary)} places, on {plan.seeds} drawn topologies (seeds 0 to "
        f"{plan.seeds - 1}) in each, {each}. {lost} queries ended without a word, and the most that one cost were "
        f"{most:,} messages; the longest datagram had {longest:,} bytes."
    )


def _command(plans: Sequence[Plan]) -> str:
    flags = [f"--engines {' '.join(plan.engine for plan in plans)}"]
    for plan in plans:
        live = "live-" if plan.engine == LIVE else ""
        flags += [f"--{live}brokers {' '.join(map(str, plan.brokers))}", f"--{live}queries {plan.queries}"]
        flags += [f"--datagrams {plan.datagrams}"] if plan.datagrams else []
    plan = plans[0]
    flags += [f"--holders {' '.join(map(str, plan.holders))}", f"--seeds {plan.seeds}"]
    if plan.arms != tuple(arms()):
        flags.append(f"--strategies {' '.join(map(repr, plan.arms))}")
    if plan.topologies != tuple(TOPOLOGIES):
        flags.append(f"--topologies {' '.join(map(repr, plan.topologies))}")
    return " ".join(["python -m telemetry search-table", *flags])
