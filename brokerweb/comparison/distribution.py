"""How response times are distributed, exactly: from the samples of the runs, all replicates of a group together.

Beside the curve of all stands a band: at each share, from the fastest to the slowest of the replicates' own curves. The
curve of all is the mean of these, weighted by answers, and so lies in it. The band says by how much runs differed, not
how sure their mean is: that is the interval of the other charts. An interval at each share was rejected, as it is about
the mean of the replicates' quantiles, which is not the curve that is drawn, and as that of two replicates would fill
the picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from django.conf import settings

from brokerweb.comparison import axes
from brokerweb.comparison.asked import MOST_DISTRIBUTIONS
from brokerweb.comparison.selection import Figures
from brokerweb.comparison.services import Comparison, Group
from overlay.systems.registry import asking_roles
from telemetry.charts.charts import Chart, axis, chart, point, series
from telemetry.lake.runs import Lake
from telemetry.reports.comparison import CURVE
from telemetry.statistics.metrics import Numbers

MOST_SAMPLES = 3_000_000
"""Read for one picture; where runs have more, fewer of their replicates are read, and it is said."""
SHARES = tuple(sorted({*CURVE, *(at / 100 for at in range(101))}))
"""At which the curve is drawn; each value there is exact."""
BAND = "their range"
"""What the area beside a curve is, as the legend says it behind their number."""
_COLUMNS = ["role", "phase", "outcome", "intended_us", "ended_us"]


@dataclass(frozen=True)
class Distribution:
    """Of one group. Microseconds, from the intended sending; answered requests alone."""

    group: Group
    curve: list[float]
    """A value for each of ``SHARES``; empty where no samples are left."""
    low: list[float]
    """The least that a replicate has at each of ``SHARES``; empty with fewer than two replicates."""
    high: list[float]
    """And the most."""
    n: int
    """Replicates that the band is of: runs of one configuration; of several, seeds that all of them ran with."""
    answers: int
    read: int
    """Runs whose samples are in it."""
    missing: int
    """Runs whose samples are not there, as retention removes them."""
    skipped: int
    """Runs that are there and were left out, as they would be too many."""

    @property
    def median(self) -> float | None:
        return self.curve[SHARES.index(0.5)] if self.curve else None


def chosen(found: Comparison, groups: Sequence[Group]) -> list[Group]:
    """The groups that are drawn: those asked for by a configuration, else the first of the table."""
    asked = set(found.asked.configurations)
    if not asked:
        return list(groups[:MOST_DISTRIBUTIONS])
    return [group for group in groups if asked & set(group.configurations)][:MOST_DISTRIBUTIONS]


def distributions(groups: Iterable[Group]) -> list[Distribution]:
    """One for each group, in turn; what is read is bounded for all of them together."""
    wanted = list(groups)
    room = MOST_SAMPLES // max(len(wanted), 1)
    return [_distribution(group, room) for group in wanted]


def _distribution(group: Group, room: int) -> Distribution:
    lake = Lake(settings.LAKE)
    found = [(one, path) for one in group.runs if (path := lake.part("samples", one.run)).is_file()]
    parts: list[tuple[Figures, Numbers]] = []
    left = room
    for one, path in found:
        rows = pq.ParquetFile(path).metadata.num_rows
        if parts and rows > left:
            break
        parts.append((one, _answered(path)))
        left -= rows
    times = np.concatenate([some for _, some in parts]) if parts else np.array([])
    curve = np.quantile(times, SHARES).tolist() if len(times) else []
    own = [np.quantile(some, SHARES) for some in replicates(parts) if len(some)]
    low, high = (np.min(own, axis=0).tolist(), np.max(own, axis=0).tolist()) if len(own) > 1 else ([], [])
    missing, skipped = len(group.runs) - len(found), len(found) - len(parts)
    return Distribution(group, curve, low, high, len(own), len(times), len(parts), missing, skipped)


def replicates(parts: Sequence[tuple[Figures, Numbers]]) -> list[Numbers]:
    """The samples of each replicate: of one configuration those of a run, of several those of all with one seed. Seeds
    that not all of them ran with would differ by which configurations they have."""
    configurations = {one.configuration for one, _ in parts}
    if len(configurations) < 2:
        return [some for _, some in parts]
    by_seed: dict[str, list[tuple[str, Numbers]]] = {}
    for one, some in parts:
        by_seed.setdefault(one.seed, []).append((one.configuration, some))
    whole = [found for found in by_seed.values() if {name for name, _ in found} == configurations]
    return [np.concatenate([some for _, some in found]) for found in whole]


def _answered(path: Path) -> Numbers:
    filters = [("role", "in", asking_roles()), ("phase", "=", "measuring"), ("outcome", "=", "answered")]
    table = pq.read_table(path, partitioning=None, columns=_COLUMNS, filters=filters)
    times: Numbers = pc.subtract(table["ended_us"], table["intended_us"]).to_numpy()
    return times


def drawn(found: Comparison, some: Sequence[Distribution]) -> Chart:
    """As a chart of ``telemetry.charts.charts``: which share of the answers, in per cent (y), took at most so long
    (x)."""
    lines = [series(one.group.label, one.group.role, one.group.kind, _points(one)) for one in some if one.curve]
    across, up = axis("Response time", "µs", log=True), axis("Share of the answers", "%", zero=True)
    title = axes.title("Share of the answers", found, "response time")
    return {**chart("ecdf", title, across, up, lines, _notes(some)), "band": BAND}


def _points(one: Distribution) -> list[dict[str, Any]]:
    ends = zip(one.low, one.high, strict=True) if one.low else repeat((None, None))
    return [
        point(value, share * 100, n=one.n, x_low=low, x_high=high)
        for share, value, (low, high) in zip(SHARES, one.curve, ends, strict=False)
    ]


def _notes(some: Sequence[Distribution]) -> list[str]:
    notes = [
        "Exact, from the samples: answered requests of all replicates together, from the intended sending; "
        f"drawn at {len(SHARES)} shares."
    ]
    if any(one.low for one in some):
        notes.append(
            "Band: at each share, from the fastest to the slowest of the n replicates' own distributions; more "
            "replicates make it wider, not narrower."
        )
    if single := [one.group.label for one in some if one.curve and not one.low]:
        notes.append(f"No band, as there are not two replicates to hold against each other: {'; '.join(single)}.")
    if any(len(one.group.configurations) > 1 for one in some):
        notes.append("Where configurations are taken together, a replicate is all of them with one seed.")
    missing, skipped = sum(one.missing for one in some), sum(one.skipped for one in some)
    if missing:
        notes.append(f"{missing} of the runs have no samples any more, or none yet, and are not in it.")
    if skipped:
        notes.append(f"{skipped} replicates are left out, as the samples of all would be more than {MOST_SAMPLES:,}.")
    return notes
