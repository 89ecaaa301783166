"""A batch of orders as a directory, the only thing shared by the processes that execute it and those that wait.

::

    batch.json            the directories of runs and lake, and the estimated cost of each order, the longest first
    orders/<run>.json     one order
    told/<run>.json       its progress; replaced atomically
    stop/<run>, stop/all  exist if it, or everything, should stop
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from telemetry.errors import TelemetryError
from telemetry.lake.storage import plain
from telemetry.sweep.simulation import Order, Places

QUEUED, MEASURING, COLLECTING = "queued", "measuring", "collecting"
DONE, FAILED, CANCELLED = "done", "failed", "cancelled"
ENDED = (DONE, FAILED, CANCELLED)
"""The final states of a run."""


_PARTS, _LIST = ("orders", "told", "stop"), "batch.json"


@dataclass(frozen=True, slots=True)
class Told:
    """The progress of one order."""

    state: str = QUEUED
    share: float = 0.0
    """The simulated share, 0 to 1."""
    reason: str = ""
    """The reason of a failure, as a sentence."""
    attempts: int = 0
    """Number of starts."""
    result: Mapping[str, Any] = field(default_factory=dict)
    """``telemetry.sweep.simulation.Result``, once it completed or was stopped."""

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED


@dataclass(frozen=True, slots=True)
class Batch:
    """A written batch."""

    directory: Path
    places: Places
    costs: Mapping[str, float]
    """By run, in the order of execution: the longest first, so that the batch does not end with one long run."""

    @classmethod
    def write(cls, directory: Path, places: Places, orders: Sequence[Order], costs: Sequence[float]) -> Batch:
        """Write a new batch to ``directory``, replacing an earlier one.

        Raises ``TelemetryError`` if the directory contains other files, and leaves them.
        """
        there = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
        if others := sorted(there - {*_PARTS, _LIST}):
            raise TelemetryError(
                f"{directory} contains {others[0]!r:.80}, which is not part of a sweep. Use another --out."
            )
        shutil.rmtree(directory, ignore_errors=True)
        for name in _PARTS:
            (directory / name).mkdir(parents=True)
        dearest_first = sorted(zip(orders, costs, strict=True), key=lambda pair: -pair[1])
        for order in orders:
            _write(directory / "orders" / f"{order.run}.json", asdict(order))
        paths = {name: str(getattr(places, name).absolute()) for name in _PLACES}
        listed = {"places": paths, "costs": {order.run: cost for order, cost in dearest_first}}
        _write(directory / _LIST, listed)
        return cls.read(directory)

    @classmethod
    def read(cls, directory: Path) -> Batch:
        """The batch in ``directory``."""
        listed = json.loads((directory / _LIST).read_bytes())
        places = Places(**{name: Path(path) for name, path in listed["places"].items()})
        return cls(directory, places, listed["costs"])

    @property
    def runs(self) -> list[str]:
        """In the order of execution."""
        return list(self.costs)

    def order(self, run: str) -> Order:
        return Order(**json.loads((self.directory / "orders" / f"{run}.json").read_bytes()))

    def tell(self, run: str, told: Told) -> None:
        _write(self.directory / "told" / f"{run}.json", asdict(told))

    def told(self, run: str) -> Told:
        try:
            return Told(**json.loads((self.directory / "told" / f"{run}.json").read_bytes()))
        except FileNotFoundError:
            return Told()

    def news(self, seen: dict[str, int]) -> list[tuple[str, Told]]:
        """Changes since the last call with the same ``seen``, which is initially empty and updated here."""
        found = []
        with os.scandir(self.directory / "told") as entries:
            for entry in entries:
                written = entry.stat().st_mtime_ns if entry.name.endswith(".json") else 0
                run = entry.name.removesuffix(".json")
                if written and seen.get(run) != written:
                    seen[run] = written
                    found.append((run, self.told(run)))
        return found

    def all_told(self) -> Iterator[tuple[str, Told]]:
        """The progress of every order."""
        return ((run, self.told(run)) for run in self.runs)

    def stop(self, run: str = "all") -> None:
        """Request that a run, or all of them, stop."""
        (self.directory / "stop" / run).touch()

    @property
    def is_stopping(self) -> bool:
        """Whether all runs are to stop."""
        return (self.directory / "stop" / "all").exists()

    def is_to_stop(self, run: str) -> bool:
        return self.is_stopping or (self.directory / "stop" / run).exists()


_PLACES = [one.name for one in fields(Places)]


def _write(path: Path, value: Any) -> None:
    """Atomic for concurrent readers. Not flushed, as it need not survive a crash of the machine."""
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(plain(value)))
    beside.replace(path)
