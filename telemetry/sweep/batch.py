"""A batch of orders as a directory, so that whoever carries them out and whoever waits share nothing else.

::

    batch.json            where runs and lake lie, and what each order is expected to cost, the dearest first
    orders/<run>.json     one order
    told/<run>.json       how far it is; replaced whole each time
    stop/<run>, stop/all  exist once it, or everything, is to stop
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
"""The states of a run, in the words that they have everywhere."""


_PARTS, _LIST = ("orders", "told", "stop"), "batch.json"


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of one order."""

    state: str = QUEUED
    share: float = 0.0
    """How much of it is simulated, 0 to 1."""
    reason: str = ""
    """Why it failed, as a sentence."""
    attempts: int = 0
    """How often it was begun."""
    result: Mapping[str, Any] = field(default_factory=dict)
    """``telemetry.sweep.simulation.Result``, once it ended well or was stopped."""

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch that was written before."""

    directory: Path
    places: Places
    costs: Mapping[str, float]
    """By run, in the order in which they are carried out: the dearest first, so that the end is not one long wait."""

    @classmethod
    def write(cls, directory: Path, places: Places, orders: Sequence[Order], costs: Sequence[float]) -> Batch:
        """A new batch in ``directory``, where nothing stays of an earlier one.

        Raises ``TelemetryError`` where something else lies there, and leaves it alone.
        """
        there = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
        if others := sorted(there - {*_PARTS, _LIST}):
            raise TelemetryError(f"{directory} holds {others[0]!r:.80}, which is of no sweep. Name another --out.")
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
        """In the order in which they are carried out."""
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
        """What was told since the last call with ``seen``, which begins empty and is kept up to date here."""
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
        """Of every order."""
        return ((run, self.told(run)) for run in self.runs)

    def stop(self, run: str = "all") -> None:
        """Ask that a run, or all of them, stop soon."""
        (self.directory / "stop" / run).touch()

    def is_to_stop(self, run: str) -> bool:
        return any((self.directory / "stop" / name).exists() for name in (run, "all"))


_PLACES = [one.name for one in fields(Places)]


def _write(path: Path, value: Any) -> None:
    """Whole for whoever reads it meanwhile; it need not outlive the machine, so nothing is flushed."""
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(plain(value)))
    beside.replace(path)
