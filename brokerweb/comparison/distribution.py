"""How response times are distributed, exactly: from the samples of the runs, all replicates of a group together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from django.conf import settings

from brokerweb.comparison import axes
from brokerweb.comparison.asked import MOST_DISTRIBUTIONS
from brokerweb.comparison.services import Comparison, Group
from telemetry.charts import Chart, axis, chart, point, series
from telemetry.comparison import CURVE
from telemetry.metrics import Numbers
from telemetry.runs import Lake

MOST_SAMPLES = 3_000_000
"""Read for one picture; where runs have more, fewer of their replicates are read, and it is said."""
SHARES = tuple(sorted({*CURVE, *(at / 100 for at in range(101))}))
"""At which the curve is drawn; each value there is exact."""
_COLUMNS = ["role", "phase", "outcome", "intended_us", "ended_us"]


@dataclass(frozen=True)
class Distribution:
    """Of one group. Microseconds, from the intended sending; answered requests alone."""

    group: Group
    curve: list[float]
    """A value for each of ``SHARES``; empty where no samples are left."""
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
    paths = [path for one in group.runs if (path := lake.part("samples", one.run)).is_file()]
    parts: list[Numbers] = []
    left = room
    for path in paths:
        rows = pq.ParquetFile(path).metadata.num_rows
        if parts and rows > left:
            break
        parts.append(_answered(path))
        left -= rows
    times = np.concatenate(parts) if parts else np.array([])
    curve = np.quantile(times, SHARES).tolist() if len(times) else []
    return Distribution(group, curve, len(times), len(parts), len(group.runs) - len(paths), len(paths) - len(parts))


def _answered(path: Path) -> Numbers:
    filters = [("role", "=", "consumer"), ("phase", "=", "measuring"), ("outcome", "=", "answered")]
    table = pq.read_table(path, partitioning=None, columns=_COLUMNS, filters=filters)
    times: Numbers = pc.subtract(table["ended_us"], table["intended_us"]).to_numpy()
    return times


def drawn(found: Comparison, some: Sequence[Distribution]) -> Chart:
    """As a chart of ``telemetry.charts``: which share of the answers, in per cent (y), took at most so long (x)."""
    lines = [
        series(
            one.group.label,
            one.group.role,
            one.group.kind,
            [point(value, share * 100, n=one.read) for share, value in zip(SHARES, one.curve, strict=True)],
        )
        for one in some
        if one.curve
    ]
    across, up = axis("Response time", "µs", log=True), axis("Share of the answers", "%", zero=True)
    return chart(
        "ecdf",
        axes.title("Share of the answers", found, "response time"),
        across,
        up,
        lines,
        _notes(some),
    )


def _notes(some: Sequence[Distribution]) -> list[str]:
    notes = [
        "Exact, from the samples: answered requests of all replicates together, from the intended sending; "
        f"drawn at {len(SHARES)} shares."
    ]
    missing, skipped = sum(one.missing for one in some), sum(one.skipped for one in some)
    if missing:
        notes.append(f"{missing} of the runs have no samples any more, or none yet, and are not in it.")
    if skipped:
        notes.append(f"{skipped} replicates are left out, as the samples of all would be more than {MOST_SAMPLES:,}.")
    return notes
