"""Time series of a network's probes, load and memory, in a ring file of fixed size with coarser steps for older data.

Counterparts: ``probing`` measures and writes, REST's ``series`` and the network's page read. Available on the host with
the network's directory; the writer can be restarted.

::

   var/networks/<id>/probes-by-broker    for all brokers together and for each one, for each tier: a ring of records
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from telemetry.lake.storage import plain


@dataclass(frozen=True, slots=True)
class Tier:
    """A ring of the latest ``slots`` records of ``step_s`` each."""

    step_s: int
    slots: int


TIERS = (Tier(5, 360), Tier(60, 1440))
"""30 minutes in steps of 5 s and one day in steps of 1 min: 65 kB per broker."""

RECORD = np.dtype(
    [
        ("at_s", "<u4"),  # start of the step, Unix time; a slot with another time is outdated
        ("asked", "<u4"),
        ("answered", "<u4"),
        ("p50_us", "<f4"),  # of answered probes; NaN if none
        ("p95_us", "<f4"),
        ("load_per_s", "<f4"),
        ("cores", "<f4"),
        ("private_bytes", "<f8"),
    ]
)
FIGURES = tuple(name for name in RECORD.names or () if name != "at_s")
_UNKNOWN = {**dict.fromkeys(FIGURES, np.nan), "asked": 0, "answered": 0}
LOOKS = ("load_per_s", "cores", "private_bytes")
"""Figures that are polled less often than probes."""


class Step:
    """Measurements of one network in one step. Pure."""

    def __init__(self) -> None:
        self._asked: dict[int, int] = defaultdict(int)
        self._took_us: dict[int, list[float]] = defaultdict(list)
        self._looks: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    def take_probe(self, broker: int, took_us: float | None) -> None:
        """Add a probe of one broker; ``None`` if not answered in time."""
        self._asked[broker] += 1
        if took_us is not None:
            self._took_us[broker].append(took_us)

    def take_look(self, broker: int, figures: Mapping[str, float | None]) -> None:
        """Add polled values of ``LOOKS``."""
        for name in LOOKS:
            if (value := figures.get(name)) is not None:
                self._looks[broker][name].append(value)

    def figures(self) -> dict[int | None, dict[str, float]]:
        """Figures by broker, and under ``None`` of all: times of all probes, sums of loads and sizes."""
        brokers = sorted({*self._asked, *self._looks})
        found: dict[int | None, dict[str, float]] = {}
        for broker in brokers:
            means = {name: fmean(values) for name, values in self._looks[broker].items()}
            found[broker] = _spread(self._asked[broker], self._took_us[broker]) | means
        sums = {
            name: sum(one[name] for one in found.values() if name in one)
            for name in LOOKS
            if any(name in one for one in found.values())
        }
        took = [one for times in self._took_us.values() for one in times]
        found[None] = _spread(sum(self._asked.values()), took) | sums
        return found


def _spread(asked: int, took_us: list[float]) -> dict[str, float]:
    counts: dict[str, float] = {"asked": asked, "answered": len(took_us)}
    if not took_us:
        return counts
    p50, p95 = np.percentile(took_us, (50, 95))
    return counts | {"p50_us": p50, "p95_us": p95}


class Probes:
    """The ring file of a network. It grows with the brokers that are added."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, tier: Tier, at_s: int, found: Mapping[int | None, Mapping[str, float]]) -> None:
        """Write the figures of the step starting at ``at_s``. Raises ``OSError``, for example on a full disk."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with _opened(self._path, os.O_RDWR | os.O_CREAT) as file:
            for broker, figures in found.items():
                values = {**_UNKNOWN, **figures, "at_s": at_s}
                record = np.array([tuple(values[name] for name in RECORD.names or ())], RECORD)
                os.pwrite(file, record.tobytes(), self._place(tier, broker, at_s // tier.step_s % tier.slots))

    def read(self, tier: Tier, broker: int | None, now_s: float) -> dict[str, list[Any]]:
        """``{t, asked, ...}``: Unix seconds and ``FIGURES`` of each step since the first known one, ``None`` in
        gaps.
        """
        try:
            with _opened(self._path, os.O_RDONLY) as file:
                data = os.pread(file, tier.slots * RECORD.itemsize, self._place(tier, broker, 0))
        except FileNotFoundError:
            data = b""
        records = np.frombuffer(data[: len(data) // RECORD.itemsize * RECORD.itemsize], RECORD)
        newest = int(now_s) // tier.step_s * tier.step_s
        oldest = newest - (tier.slots - 1) * tier.step_s
        known = {int(one["at_s"]): one for one in records if oldest <= one["at_s"] <= newest}
        times = range(min(known), max(known) + 1, tier.step_s) if known else range(0)
        return {"t": list(times), **{name: _column(name, times, known) for name in FIGURES}}

    def newest(self, tier: Tier, brokers: Iterable[int], now_s: float) -> dict[int, tuple[int, int]]:
        """Probes asked and answered in the newest complete step of each broker that was asked in it.

        A step is written up to a second after its end, so that before the last one counts if that is missing.
        """
        records = self._newest(tier, brokers, now_s)
        return {broker: (int(one["asked"]), int(one["answered"])) for broker, one in records.items()}

    def last(self, tier: Tier, brokers: Iterable[int], figure: str, now_s: float) -> dict[int, float]:
        """One of ``FIGURES`` in the same step of each broker of which it is known."""
        records = self._newest(tier, brokers, now_s)
        return {broker: float(one[figure]) for broker, one in records.items() if one[figure] == one[figure]}

    def _newest(self, tier: Tier, brokers: Iterable[int], now_s: float) -> dict[int, Any]:
        begins = [int(now_s) // tier.step_s * tier.step_s - steps * tier.step_s for steps in (1, 2)]
        found: dict[int, Any] = {}
        try:
            with _opened(self._path, os.O_RDONLY) as file:
                for broker in brokers:
                    for at_s in begins:
                        place = self._place(tier, broker, at_s // tier.step_s % tier.slots)
                        data = os.pread(file, RECORD.itemsize, place).ljust(RECORD.itemsize, b"\0")
                        record = np.frombuffer(data, RECORD)[0]
                        if record["at_s"] == at_s and record["asked"]:
                            found[broker] = record
                            break
        except FileNotFoundError:
            return {}
        return found

    @staticmethod
    def _place(tier: Tier, broker: int | None, slot: int) -> int:
        """Those of all brokers come first, so that brokers can be added behind."""
        before = sum(one.slots for one in TIERS[: TIERS.index(tier)])
        row = 0 if broker is None else broker + 1
        return (row * sum(one.slots for one in TIERS) + before + slot) * RECORD.itemsize


def _column(name: str, times: Iterable[int], known: Mapping[int, Any]) -> list[Any]:
    found = [plain(known[at][name]) if at in known else None for at in times]
    return [None if value is None or value != value else value for value in found]


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    file = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        yield file
    finally:
        os.close(file)
