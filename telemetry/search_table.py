"""``python -m telemetry search-table``: every search strategy on every topology, in virtual time, with intervals.

Counterpart: ``overlay.sim.strategies``, which runs one draw; here they are spread over processes, kept in a file as
they come, so that a table that was interrupted goes on, and summed up with the draw as the unit.
"""

from __future__ import annotations

import csv
import os
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from overlay import __version__
from overlay.broker.config import BrokerConfig
from overlay.sim import strategies
from overlay.sim.strategies import Draw
from telemetry.errors import TelemetryError
from telemetry.intervals import interval

Say = Callable[[str], None]

PILOT = 1_000_000
"""The seed of the topology on which the cost of queries is estimated; its draws are in no table."""
PILOT_QUERIES = 2
LEAST_BROKERS = 8
"""Twice as many as hold an entry of the structured arm, whose queries start at one that lacks it."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place in the table."""

    brokers: int
    holders: int
    topology: str
    arm: str


@dataclass(frozen=True, slots=True)
class Task:
    """One arm on one drawn topology, for every number of holders."""

    arm: str
    topology: str
    brokers: int
    seed: int

    def place(self, holders: int) -> Place:
        """Where its draw with so many holders belongs."""
        return Place(self.brokers, holders, self.topology, self.arm)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured."""

    brokers: tuple[int, ...]
    holders: tuple[int, ...]
    seeds: int
    queries: int
    datagrams: int
    """What the queries on one topology may cost, about."""
    arms: tuple[str, ...]
    topologies: tuple[str, ...]

    def tasks(self) -> list[Task]:
        """Draw after draw, so that a table that was interrupted has something in every place."""
        return [
            Task(arm, topology, brokers, seed)
            for seed in range(self.seeds)
            for brokers in sorted(self.brokers, reverse=True)
            for topology in self.topologies
            for arm in self.arms
        ]

    def affordable(self, datagrams: float) -> int:
        """How many queries to ask on one topology where one costs so much."""
        return max(1, min(self.queries, round(self.datagrams / max(1.0, datagrams))))

    def places(self) -> list[Place]:
        """In the order of the table."""
        return [
            Place(brokers, holders, topology, arm)
            for brokers in self.brokers
            for holders in self.holders
            for topology in self.topologies
            for arm in self.arms
        ]


@dataclass(frozen=True, slots=True)
class Row:
    """One draw, as it stands in the file."""

    task: Task
    holders: int
    draw: Draw


_TASK = [field.name for field in fields(Task)]
_DRAW = [field.name for field in fields(Draw)]
COLUMNS = [*_TASK, "holders", *_DRAW]


# ---- measuring


def measure(plan: Plan, draws: Path, processes: int, say: Say) -> list[Row]:
    """Run what is not in the file yet, and give back what the plan asks for.

    A pilot on one more topology tells what a query costs in each place, and so how many can be afforded. Their number
    is fixed before: to stop once they became expensive would leave out the cheap ones that would have followed.
    """
    book = _Book(draws)
    pilots = [
        Task(arm, topology, brokers, PILOT)
        for topology in plan.topologies
        for brokers in plan.brokers
        for arm in plan.arms
    ]
    jobs = [(task, dict.fromkeys(plan.holders, PILOT_QUERIES)) for task in pilots]
    costs = {
        (row.task.place(row.holders)): row.draw.datagrams / row.draw.queries for row in book.run(jobs, processes, say)
    }
    jobs = [(task, {held: plan.affordable(costs[task.place(held)]) for held in plan.holders}) for task in plan.tasks()]
    return book.run(jobs, processes, say)


Job = tuple[Task, dict[int, int]]
"""A task, and how many queries for each number of holders."""


class _Book:
    """The draws in a file, to which new ones are added as they come."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows = {(row.task, row.holders): row for row in read(path)} if path.exists() else {}

    def run(self, jobs: Sequence[Job], processes: int, say: Say) -> list[Row]:
        """The draws of these jobs, those that the file has not being run now."""
        missing = [(task, queries) for task, queries in jobs if not self._has(task, queries)]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", newline="") as file, get_context("spawn").Pool(processes, os.nice, (10,)) as pool:
            writer = csv.writer(file)
            if not file.tell():
                writer.writerow(COLUMNS)
            for count, found in enumerate(pool.imap_unordered(_run_one, missing), 1):
                self._rows |= {(row.task, row.holders): row for row in found}
                writer.writerows(_cells(row) for row in found)
                file.flush()
                if count % 100 == 0 or count == len(missing):
                    say(f"{count} of {len(missing)} topologies drawn and searched")
        return [self._rows[task, held] for task, queries in jobs for held in queries]

    def _has(self, task: Task, queries: Mapping[int, int]) -> bool:
        rows = [(self._rows.get((task, held)), count) for held, count in queries.items()]
        return all(row is not None and row.draw.queries == count for row, count in rows)


def read(draws: Path) -> list[Row]:
    """The draws in a file. Raises ``TelemetryError`` for another kind of file."""
    with draws.open(newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            raise TelemetryError(f"{draws} does not hold draws: its columns are {reader.fieldnames}")
        return [_row(cells) for cells in reader]


def _row(cells: Mapping[str, str]) -> Row:
    task = Task(cells["arm"], cells["topology"], int(cells["brokers"]), int(cells["seed"]))
    numbers = {name: float(cells[name]) if name == "latency_ms" else int(cells[name]) for name in _DRAW}
    return Row(task, int(cells["holders"]), Draw(**numbers))  # type: ignore[arg-type]


def _cells(row: Row) -> list[Any]:
    return [*asdict(row.task).values(), row.holders, *asdict(row.draw).values()]


def _run_one(job: Job) -> list[Row]:
    task, queries = job
    draws = strategies.run_draws(task.arm, task.topology, task.brokers, task.seed, queries)
    return [Row(task, held, draw) for held, draw in draws.items()]


# ---- summing up


METRICS: dict[str, tuple[str, Callable[[Draw], float | None]]] = {
    "success": ("answered, % of queries", lambda draw: 100 * draw.answered / draw.queries),
    "messages": ("requests and lookaheads between brokers per query", lambda draw: draw.messages / draw.queries),
    "datagrams": ("all datagrams between brokers per query", lambda draw: draw.datagrams / draw.queries),
    "hops": (
        "hops from the broker asked to the data, of answered queries",
        lambda draw: draw.hops / draw.answered if draw.answered else None,
    ),
    "latency": (
        "ms to the answer, of answered queries",
        lambda draw: draw.latency_ms / draw.answered if draw.answered else None,
    ),
}
"""By name: what it is, and its value for one draw; ``None`` where it has none."""

Summary = dict[Place, dict[str, dict[str, Any]]]


def summarise(rows: Sequence[Row]) -> Summary:
    """Of each place, each metric's mean over the draws with its interval; and ``counts``, sums over them."""
    draws: dict[Place, list[Draw]] = {}
    for row in sorted(rows, key=lambda row: row.task.seed):
        draws.setdefault(row.task.place(row.holders), []).append(row.draw)
    return {place: _summary(found) for place, found in draws.items()}


def _summary(draws: Sequence[Draw]) -> dict[str, dict[str, Any]]:
    found = {name: interval([value(draw) for draw in draws]) for name, (_, value) in METRICS.items()}
    counts = {name: sum(getattr(draw, name) for draw in draws) for name in ("queries", "answered", "not_found", "lost")}
    most = {name: max(getattr(draw, name) for draw in draws) for name in ("most_messages", "longest")}
    return {**found, "counts": {"seeds": len(draws), **counts, **most}}


def write_csv(summary: Summary, path: Path) -> None:
    """Every figure with both ends of its interval."""
    counts = ("seeds", "queries", "answered", "not_found", "lost", "most_messages", "longest")
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        ends = [f"{name}{end}" for name in METRICS for end in ("", "_low", "_high")]
        writer.writerow(["brokers", "holders", "topology", "strategy", *ends, *counts])
        for place, found in summary.items():
            figures = [_plain(found[name][end]) for name in METRICS for end in ("value", "low", "high")]
            writer.writerow([*asdict(place).values(), *figures, *(found["counts"][name] for name in counts)])


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


# ---- the table in words


PUBLISHED: dict[tuple[int, int, str], dict[str, tuple[float, float]]] = {
    (10, 5, "Waxman 2"): {"uniform": (100, 2.6), "noback": (100, 1.9), "avoid": (100, 1.8), "backtrack": (100, 1.8)},
    (10, 1, "Waxman 2"): {
        "uniform": (82.1, 17.4),
        "noback": (96.8, 10.4),
        "avoid": (99.5, 7.2),
        "backtrack": (100, 6.9),
    },
    (10, 1, "ring"): {"uniform": (87.0, 15.9), "noback": (100, 5.0), "avoid": (100, 5.0), "backtrack": (100, 5.0)},
    (100, 5, "Waxman 4"): {
        "uniform": (100, 30.0),
        "noback": (100, 21.1),
        "avoid": (100, 17.4),
        "backtrack": (100, 17.5),
    },
    (100, 1, "Waxman 2"): {
        "uniform": (43.9, 289),
        "noback": (71.8, 211),
        "avoid": (86.2, 168),
        "backtrack": (100, 88.7),
    },
}
"""Of 2,000 queries each: success in % and messages, as systems.md 1.9 has them; ``avoid`` with its fallback."""

DEAD_END: dict[tuple[int, int, str], tuple[float, float]] = {
    (10, 5, "Waxman 2"): (91.7, 1.5),
    (10, 1, "Waxman 2"): (39.5, 2.9),
    (10, 1, "ring"): (100, 5.0),
    (100, 5, "Waxman 4"): (65.0, 11.1),
    (100, 1, "Waxman 2"): (4.5, 3.9),
}
"""Its column "avoid (NACK at dead end)"."""

AT_DEAD_END = "avoid, NACK at a dead end"
WITH_STEPS_BACK = "backtrack, steps back counted"
REASONS = {
    "noback": "walks end at a dead end here, turn back there",
    "avoid": "walks end at a dead end here, turn back there",
    "backtrack": "steps back count there",
}
"""Why a policy differs where it does; for the others, what is written on the page by hand."""
PUBLISHED_QUERIES = 2000


def agrees(found: Mapping[str, Any], published: float, error: float) -> bool:
    """Whether a published value lies within our interval, widened by its own sampling error."""
    low, high = found["low"], found["high"]
    return low is not None and low - error <= published <= high + error


def compare(summary: Summary) -> Iterator[tuple[str, ...]]:
    """Rows: where, policy, published, found, and whether they agree, of the table of systems.md 1.9."""
    for (brokers, holders, topology), policies in PUBLISHED.items():
        columns = {
            **policies,
            AT_DEAD_END: DEAD_END[brokers, holders, topology],
            WITH_STEPS_BACK: policies["backtrack"],
        }
        for policy, (success, messages) in columns.items():
            place = Place(brokers, holders, topology, f"walk, {policy.partition(',')[0]}")
            if place not in summary:
                continue
            found = _counted(summary[place], policy)
            share = success / 100
            chance = 196 * ((share * (1 - share) + 0.5 / PUBLISHED_QUERIES) / PUBLISHED_QUERIES) ** 0.5
            verdicts = (
                agrees(found["success"], success, chance),
                agrees(found["messages"], messages, 0.05 * messages + 0.05),
            )
            yield (
                f"{topology}, {holders} of {brokers}",
                policy,
                f"{success:g} / {messages:g}",
                f"{_figure(found['success'])} / {_figure(found['messages'])}",
                _verdict(*verdicts, REASONS.get(policy, "see above")),
            )


def _verdict(success: bool, messages: bool, reason: str) -> str:
    if success and messages:
        return "agree"
    return f"{'messages differ' if success else 'success differs' if messages else 'differ'}: {reason}"


def _counted(found: Mapping[str, dict[str, Any]], policy: str) -> Mapping[str, dict[str, Any]]:
    """With refusals among the messages, where steps back are: all datagrams but the answers, one for each hop."""
    if policy != WITH_STEPS_BACK:
        return found
    pairs = zip(found["datagrams"]["replicates"], found["hops"]["replicates"], strict=True)
    return {**found, "messages": interval([datagrams - hops for datagrams, hops in pairs])}


def _figure(found: Mapping[str, Any]) -> str:
    """A mean and half the width of its interval, to the precision that the latter allows."""
    if found["value"] is None:
        return "–"
    if found["low"] is None:
        return f"{found['value']:.3g}"
    half = (found["high"] - found["low"]) / 2
    digits = 0 if half >= 2 or found["value"] >= 1000 else 1 if half >= 0.1 or found["value"] >= 10 else 2
    return f"{found['value']:.{digits}f} ± {half:.{digits}f}" if half else f"{found['value']:.{digits}f}"


READING = "<!-- written by hand -->"
"""Before and behind what somebody wrote on the page, which stays when the tables are made anew."""


def write_markdown(summary: Summary, path: Path, how: str) -> None:
    """The page: ``how`` it was made, what was written on it by hand, and the tables."""
    brokers = sorted({place.brokers for place in summary})
    holders = sorted({place.holders for place in summary})
    topologies = list(dict.fromkeys(place.topology for place in summary))
    topologies = [name for name in strategies.TOPOLOGIES if name in topologies]
    names = [arm for arm in strategies.arms() if any(place.arm == arm for place in summary)]
    parts = ["# Search strategies, in virtual time", how, f"{READING}\n\n{_written(path)}\n\n{READING}"]
    head = ("where", "policy", "there: success % / messages", "here", "")
    parts += ["## Beside the table of walk policies (systems.md 1.9)", _table(head, compare(summary))]
    for count in brokers:
        for held in holders:
            parts.append(f"## {held} of {count} brokers {'has' if held == 1 else 'have'} the data")
            for name, (title, _) in METRICS.items():
                if name == "datagrams":
                    continue
                rows = (
                    (arm, *(_cell(summary, Place(count, held, topology, arm), name) for topology in topologies))
                    for arm in names
                )
                parts += [f"{title[0].upper()}{title[1:]}:", _table(("strategy", *topologies), rows)]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _written(path: Path) -> str:
    """What stands on the page by hand."""
    parts = path.read_text(encoding="utf-8").split(READING) if path.exists() else []
    return parts[1].strip() if len(parts) == 3 else ""


def _cell(summary: Summary, place: Place, metric: str) -> str:
    return _figure(summary[place][metric]) if place in summary else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# ---- the command


def make(given: Namespace, say: Say, now: datetime) -> Path:
    """Measure what ``python -m telemetry search-table`` was told to, and write page and figures. Raises
    ``TelemetryError``."""
    if max(given.holders) >= min(given.brokers):
        raise TelemetryError(f"{max(given.holders)} of {min(given.brokers)} brokers leave none that lacks the data")
    if min(given.brokers) < LEAST_BROKERS:
        raise TelemetryError(f"{min(given.brokers)} brokers are too few: all may hold what the structured arm keeps")
    plan = Plan(
        brokers=tuple(given.brokers),
        holders=tuple(given.holders),
        seeds=given.seeds,
        queries=given.queries,
        datagrams=given.datagrams,
        arms=tuple(strategies.arms()),
        topologies=tuple(strategies.TOPOLOGIES),
    )
    summary = summarise(measure(plan, given.draws, given.processes, say))
    ordered = {place: summary[place] for place in plan.places() if place in summary}
    given.out.mkdir(parents=True, exist_ok=True)
    write_csv(ordered, given.out / "search-strategies.csv")
    page: Path = given.out / "search-strategies.md"
    write_markdown(ordered, page, _how(plan, ordered, now))
    return page


def _how(plan: Plan, summary: Summary, now: datetime) -> str:
    counts = [found["counts"] for found in summary.values()]
    queries = sum(count["queries"] for count in counts)
    least = min(count["queries"] for count in counts)
    command = (
        f"python -m telemetry search-table --brokers {' '.join(map(str, plan.brokers))} "
        f"--holders {' '.join(map(str, plan.holders))} --seeds {plan.seeds} --queries {plan.queries} "
        f"--datagrams {plan.datagrams}"
    )
    return (
        f"Virtual time: the brokers that run live, driven by `overlay.sim`, over links of {strategies.DELAY_MS:g} ms "
        f"without loss. No replication, no monitoring; each query asks for an entity of its own, placed at random, at "
        f"a random broker that lacks it. Settings are the defaults, walks have 4 x N hops, floods and rings "
        f"{BrokerConfig().flood_ttl}, k-walkers {BrokerConfig().walkers}, and a shallow flood is waited for "
        f"{strategies.WAIT_MS} ms a hop.\n\n"
        f"Version {__version__}, {now:%Y-%m-%d}. {queries:,} queries in {len(summary)} places, on "
        f"{min(count['seeds'] for count in counts)} drawn topologies (seeds 0 to {plan.seeds - 1}) in each, at most "
        f"{plan.queries} queries on one and as many fewer as cost about {plan.datagrams:,} datagrams by a pilot, "
        f"{least} at least in a place. Intervals are 95 % by bootstrap, with the topology as the "
        f"unit; ± is half their width, and left out where all topologies came out alike. "
        f"{sum(count['lost'] for count in counts)} queries ended without a word, and the most that one cost "
        f"were {max(count['most_messages'] for count in counts):,} messages; the longest datagram had "
        f"{max(count['longest'] for count in counts):,} bytes. All figures: [search-strategies.csv]"
        f"(search-strategies.csv). Made by\n\n```\n{command}\n```"
    )


def live_body(topologies: Sequence[str], holders: Sequence[int]) -> dict[str, Any]:
    """The same live: what to ``POST`` to ``/api/experiments/``, over topologies that exist there, by their ids.

    Consumers may be on a broker that has the data, which the table leaves out: their requests cost no message.
    """
    fixed = {"replication": "none", "lookahead_wait_ms": strategies.WAIT_MS, "monitoring": False}
    return {
        "name": "Search strategies, live",
        "topology": list(topologies),
        "settings": fixed,
        "workload": {
            "holders": list(holders),
            "assignment": "random",
            "providers": 100,
            "entities": 100,
            "consumers": 20,
            "request_interval_s": 1.0,
            "update_interval_s": 600.0,
            "valid_ms": 3_600_000,
            "stagger_ms": 20.0,
            "duration_s": 20.0,
        },
        "blocks": [{"settings": dict(settings)} for settings in strategies.arms().values()],
        "replicates": 3,
    }
