"""Which draws make the table; run in processes of their own, and kept in a file as they come, so that a table that was
interrupted goes on.

Virtual draws run several at a time, at low priority. Live ones, whose latency is the machine's too, run alone: one
overlay is asked at a time. Those that need a while to settle are started together, ``TOGETHER`` overlays at a time.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from overlay.systems.context_broker.introduction import STRUCTURED
from telemetry.errors import TelemetryError
from telemetry.systems.context_broker.lab.draws import Draw
from telemetry.systems.context_broker.lab.live import LiveJob, run_live
from telemetry.systems.context_broker.lab.virtual import run_virtual

Say = Callable[[str], None]

VIRTUAL, LIVE = "virtual", "live"
ENGINES = (VIRTUAL, LIVE)
PILOT = 1_000_000
"""The seed of the topology on which the cost of queries is estimated; its draws are in no table."""
PILOT_QUERIES = 2
TOGETHER = 10
"""Live overlays of the structured arm that settle at a time; of ten brokers each, their upkeep takes few per cent."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place in the table."""

    brokers: int
    holders: int
    topology: str
    arm: str
    engine: str = VIRTUAL


@dataclass(frozen=True, slots=True)
class Task:
    """One arm on one drawn topology, for every number of holders."""

    arm: str
    topology: str
    brokers: int
    seed: int
    engine: str = VIRTUAL

    def place(self, holders: int) -> Place:
        """Where its draw with so many holders belongs."""
        return Place(self.brokers, holders, self.topology, self.arm, self.engine)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured by one engine."""

    brokers: tuple[int, ...]
    holders: tuple[int, ...]
    seeds: int
    queries: int
    """On one topology, at most."""
    datagrams: int
    """What the queries on one topology may cost, about; 0 for whatever they cost."""
    arms: tuple[str, ...]
    topologies: tuple[str, ...]
    engine: str = VIRTUAL

    def tasks(self) -> list[Task]:
        """Draw after draw, so that a table that was interrupted has something in every place."""
        return [
            Task(arm, topology, brokers, seed, self.engine)
            for seed in range(self.seeds)
            for brokers in sorted(self.brokers, reverse=True)
            for topology in self.topologies
            for arm in self.arms
        ]

    def pilots(self) -> list[Task]:
        """Of one more topology each, where the number of queries depends on what they cost."""
        of_all = (
            Task(arm, topology, brokers, PILOT, self.engine)
            for topology in self.topologies
            for brokers in self.brokers
            for arm in self.arms
        )
        return list(of_all) if self.datagrams else []

    def affordable(self, datagrams: float) -> int:
        """How many queries to ask on one topology where one costs so much."""
        return (
            max(1, min(self.queries, round(self.datagrams / max(1.0, datagrams)))) if self.datagrams else self.queries
        )

    def places(self) -> list[Place]:
        """In the order of the table."""
        return [
            Place(brokers, holders, topology, arm, self.engine)
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


Job = tuple[Task, dict[int, int]]
"""A task, and how many queries for each number of holders."""

_TASK = [field.name for field in fields(Task)]
_DRAW = [field.name for field in fields(Draw)]
COLUMNS = [*_TASK, "holders", *_DRAW]


def measure(plan: Plan, draws: Path, processes: int, say: Say) -> list[Row]:
    """Run what is not in the file yet, and give back what the plan asks for. Raises ``TelemetryError``.

    A pilot on one more topology tells what a query costs in each place, and so how many can be afforded. Their number
    is fixed before: to stop once they became expensive would leave out the cheap ones that would have followed.
    """
    book = _Book(draws)
    pilots = [(task, dict.fromkeys(plan.holders, PILOT_QUERIES)) for task in plan.pilots()]
    rows = book.run(pilots, processes, say)
    costs = {row.task.place(row.holders): row.draw.datagrams / row.draw.queries for row in rows}
    jobs = [
        (task, {held: plan.affordable(costs.get(task.place(held), 0.0)) for held in plan.holders})
        for task in plan.tasks()
    ]
    return book.run(jobs, processes, say)


class _Book:
    """The draws in a file, to which new ones are added as they come."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows = {(row.task, row.holders): row for row in read(path)} if path.exists() else {}

    def run(self, jobs: Sequence[Job], processes: int, say: Say) -> list[Row]:
        """The draws of these jobs, those that the file has not being run now."""
        missing = [(task, queries) for task, queries in jobs if not self._has(task, queries)]
        if missing:
            self._run(missing, processes, say)
        return [self._rows[task, held] for task, queries in jobs for held in queries]

    def _run(self, missing: Sequence[Job], processes: int, say: Say) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        done = 0
        with self._path.open("a", newline="") as file:
            writer = csv.writer(file)
            if not file.tell():
                writer.writerow(COLUMNS)
            for found in _run_each(missing, processes):
                self._rows |= {(row.task, row.holders): row for row in found}
                writer.writerows(_cells(row) for row in found)
                file.flush()
                before, done = done, done + len({row.task for row in found})
                if done // 100 > before // 100 or done == len(missing):
                    say(f"{done} of {len(missing)} topologies drawn and searched, {missing[0][0].engine}")

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
    task = Task(cells["arm"], cells["topology"], int(cells["brokers"]), int(cells["seed"]), cells["engine"])
    numbers = {name: float(cells[name]) if name == "latency_ms" else int(cells[name]) for name in _DRAW}
    return Row(task, int(cells["holders"]), Draw(**numbers))  # type: ignore[arg-type]


def _cells(row: Row) -> list[Any]:
    return [*asdict(row.task).values(), row.holders, *asdict(row.draw).values()]


# ---- in processes of their own


def _run_each(jobs: Sequence[Job], processes: int) -> Iterator[list[Row]]:
    """All jobs are of one engine. Spawned: the brokers that are forked there carry none of this process."""
    context = get_context("spawn")
    if jobs[0][0].engine == LIVE:
        with context.Pool(1) as pool:
            yield from pool.imap(_run_live, _together(jobs))
    else:
        with context.Pool(processes, os.nice, (10,)) as pool:
            yield from pool.imap_unordered(_run_virtual, jobs)


def _together(jobs: Sequence[Job]) -> list[list[Job]]:
    """What is started together; the structured arm, which settles first, last."""
    settling = [job for job in jobs if job[0].arm == STRUCTURED]
    batches = [settling[start : start + TOGETHER] for start in range(0, len(settling), TOGETHER)]
    return [*([job] for job in jobs if job[0].arm != STRUCTURED), *batches]


def _run_virtual(job: Job) -> list[Row]:
    task, queries = job
    return _rows(task, run_virtual(task.arm, task.topology, task.brokers, task.seed, queries))


def _run_live(batch: Sequence[Job]) -> list[Row]:
    found = run_live([LiveJob(task.arm, task.topology, task.brokers, task.seed, held) for task, held in batch])
    return [row for (task, _), draws in zip(batch, found, strict=True) for row in _rows(task, draws)]


def _rows(task: Task, draws: Mapping[int, Draw]) -> list[Row]:
    return [Row(task, held, draw) for held, draw in draws.items()]
