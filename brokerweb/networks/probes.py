"""Time series of a network's probes, load and memory, in a ring file of fixed size with coarser steps for older data.

Counterparts: ``probing`` measures and writes each second, ``thinning`` merges seconds into coarser steps, REST's
``series`` and the network's page read. Available on the host with the network's directory; the writer can be restarted.

::

   var/networks/<id>/series    for all brokers together and for each one, for each tier: a ring of records

The file of a system with gauges of its own has their names in its own name, since its records have other fields.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telemetry.lake.storage import plain


@dataclass(frozen=True, slots=True)
class Tier:
    """A ring of the latest ``slots`` records of ``step_s`` each."""

    step_s: int
    slots: int
    range: str
    """What it covers, as in REST and on pages."""

    @property
    def covers_s(self) -> int:
        return self.step_s * self.slots


TIERS = (Tier(1, 900, "15m"), Tier(10, 1080, "3h"), Tier(60, 1440, "1d"), Tier(600, 2016, "14d"))
"""At most 2,016 points per line of a chart; 326 kB per broker. Longer rings take more disk, shorter ones forget sooner.
Each step must divide those after it, and the first tier must cover a step of the last one."""
SECONDS = TIERS[0]
FEW_SECONDS = TIERS[1]
"""Whose newest step says whether a server answers: a single lost datagram is not yet silence."""

RECORD = np.dtype(
    [
        ("at_s", "<u4"),  # start of the step, Unix time; a slot with another time is outdated
        ("asked", "<u4"),
        ("answered", "<u4"),
        ("p50_us", "<f4"),  # of answered probes; NaN if none
        ("p95_us", "<f4"),
        ("sum_us", "<f8"),  # of the same
        ("answers_per_s", "<f4"),  # queries answered from a table
        ("hops", "<f4"),  # mean of these; NaN if none
        ("load_per_s", "<f4"),
        ("cores", "<f4"),
        ("private_bytes", "<f8"),
        ("looks_s", "<f4"),  # seconds of the step in which load and memory are known
        ("pad", "<f4"),
    ]
)
Records = NDArray[np.void]
COUNTS = ("asked", "answered", "sum_us", "looks_s")
"""What is added up when steps are merged."""
LOOKS = ("answers_per_s", "hops", "load_per_s", "cores", "private_bytes")
"""Figures that are polled less often than probes."""
FIGURES = ("asked", "answered", "answered_share", "mean_us", "p50_us", "p95_us", *LOOKS)
"""As in REST, in the units of their names; shares are 0 to 1, hops and cores plain numbers."""


def record_with(gauges: Sequence[str]) -> np.dtype[np.void]:
    """``RECORD`` with gauges of a system behind it."""
    return np.dtype([*RECORD.descr, *((name, "<f4") for name in gauges)])


def gauges_of(found: Records) -> tuple[str, ...]:
    """Those that these records have."""
    return (found.dtype.names or ())[len(RECORD.names or ()) :]


class Probes:
    """The ring file of a network. It grows with the brokers that are added."""

    def __init__(self, path: Path, gauges: Sequence[str] = ()) -> None:
        """``gauges``: further columns, of its system. Names of figures are not among them."""
        self._path = path.with_name("-".join((path.name, *gauges)))
        self._gauges = tuple(gauges)
        self._record = record_with(gauges)

    def write(self, tier: Tier, at_s: int, found: Mapping[int | None, Mapping[str, float]]) -> None:
        """Write the figures of the step starting at ``at_s``, by broker, and under ``None`` of all of them.

        Raises ``OSError``, for example on a full disk.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with _opened(self._path, os.O_RDWR | os.O_CREAT) as file:
            slot = at_s // tier.step_s % tier.slots
            for broker, record in zip(found, records_of(at_s, found.values(), self._gauges), strict=True):
                os.pwrite(file, record.tobytes(), _place(tier, broker, slot) * self._record.itemsize)

    def records(self, tier: Tier, brokers: Iterable[int | None], begin_s: int, end_s: int) -> dict[int | None, Records]:
        """What is known of the steps from ``begin_s`` to before ``end_s``, by broker, oldest first."""
        try:
            with _opened(self._path, os.O_RDONLY) as file:
                rings = {broker: _ring(file, self._record, tier, broker, begin_s, end_s) for broker in brokers}
        except FileNotFoundError:
            return {broker: np.empty(0, self._record) for broker in brokers}
        return {broker: _between(ring, begin_s, end_s) for broker, ring in rings.items()}

    def read(self, tier: Tier, broker: int | None, now_s: float) -> dict[str, list[Any]]:
        """``{t, asked, ...}``: Unix seconds, ``FIGURES`` and gauges of each step since the first known one,
        ``None`` in gaps.
        """
        names = (*FIGURES, *self._gauges)
        end_s = int(now_s) // tier.step_s * tier.step_s + tier.step_s
        found = self.records(tier, (broker,), end_s - tier.covers_s, end_s)[broker]
        if not found.size:
            return {"t": [], **{name: [] for name in names}}
        first, last = int(found["at_s"][0]), int(found["at_s"][-1])
        times = range(first, last + 1, tier.step_s)
        places = (found["at_s"].astype(np.int64) - first) // tier.step_s
        return {"t": list(times), **{name: _column(values_of(name, found), places, len(times)) for name in names}}

    def newest(self, tier: Tier, brokers: Iterable[int], now_s: float) -> dict[int, tuple[int, int]]:
        """Probes asked and answered in the newest complete step of each broker that was asked in it.

        A step is written up to a second after its end, so that before the last one counts if that is missing.
        """
        newest = self._newest(tier, brokers, now_s)
        return {broker: (int(row["asked"]), int(row["answered"])) for broker, row in newest.items()}

    def last(self, tier: Tier, brokers: Iterable[int], figure: str, now_s: float) -> dict[int, float]:
        """One of ``FIGURES`` in the same step of each broker of which it is known."""
        newest = self._newest(tier, brokers, now_s)
        return {broker: float(row[figure]) for broker, row in newest.items() if row[figure] == row[figure]}

    def _newest(self, tier: Tier, brokers: Iterable[int], now_s: float) -> dict[int, Any]:
        begin_s = int(now_s) // tier.step_s * tier.step_s
        found = self.records(tier, brokers, begin_s - 2 * tier.step_s, begin_s)
        asked = {broker: rows[rows["asked"] > 0] for broker, rows in found.items() if broker is not None}
        return {broker: rows[-1] for broker, rows in asked.items() if rows.size}


def records_of(at_s: int, found: Iterable[Mapping[str, float]], gauges: Sequence[str] = ()) -> Records:
    """Records of one step; figures that are missing are unknown."""
    record = record_with(gauges)
    unknown = {name: 0 if name in COUNTS or name == "pad" else np.nan for name in record.names or ()}
    rows = [{**unknown, **figures, "at_s": at_s} for figures in found]
    return np.array([tuple([row[name] for name in unknown]) for row in rows], record)


def values_of(name: str, found: Records) -> NDArray[Any]:
    """One of ``FIGURES`` or a gauge of each record; NaN where it is unknown."""
    if name in ("mean_us", "answered_share"):
        above, below = ("sum_us", "answered") if name == "mean_us" else ("answered", "asked")
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(found[below] > 0, found[above] / found[below], np.nan))
    return np.asarray(found[name])


def _column(values: NDArray[Any], places: NDArray[np.int64], length: int) -> list[Any]:
    column: list[Any] = [None] * length
    for place, value in zip(places.tolist(), values, strict=True):
        column[place] = None if value != value else plain(value)
    return column


def _between(found: Records, begin_s: int, end_s: int) -> Records:
    """Those of this time: a slot may have an older record, or none."""
    kept = found[(found["at_s"] >= max(begin_s, 1)) & (found["at_s"] < end_s)]
    return kept[np.argsort(kept["at_s"], kind="stable")]


def _ring(file: int, record: np.dtype[np.void], tier: Tier, broker: int | None, begin_s: int, end_s: int) -> Records:
    """The slots of this time, which may begin near the end of the ring."""
    first, count = begin_s // tier.step_s, min(tier.slots, -(-(end_s - begin_s) // tier.step_s))
    at = first % tier.slots
    parts = [(at, min(count, tier.slots - at))]
    if count > parts[0][1]:
        parts.append((0, count - parts[0][1]))
    width = record.itemsize
    read = [os.pread(file, size * width, _place(tier, broker, slot) * width) for slot, size in parts]
    return np.concatenate([np.frombuffer(data[: len(data) // width * width], record) for data in read])


def _place(tier: Tier, broker: int | None, slot: int) -> int:
    """In records. Those of all brokers come first, so that brokers can be added behind."""
    before = sum(one.slots for one in TIERS[: TIERS.index(tier)])
    row = 0 if broker is None else broker + 1
    return row * sum(one.slots for one in TIERS) + before + slot


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    file = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        yield file
    finally:
        os.close(file)
