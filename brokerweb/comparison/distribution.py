"""Exact distributions of response times from the samples of the runs, replicates of a group pooled.

The curve of the pooled samples has a band: at each share, the range over the replicates' own curves. The pooled curve
is their mean weighted by answers and lies inside the band. The band shows the spread of the runs, not the uncertainty
of their mean, which other charts show as intervals. Rejected: an interval at each share, because it belongs to the mean
of the replicates' quantiles, which is not the drawn curve, and would fill the chart with two replicates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings

from brokerweb.comparison import axes
from brokerweb.comparison.query import MOST_DISTRIBUTIONS
from brokerweb.comparison.selection import Figures
from brokerweb.comparison.services import Comparison, Group
from telemetry.charts.charts import Chart, axis, chart, point, series
from telemetry.errors import StorageError
from telemetry.lake.parquet import read_table, row_count
from telemetry.lake.runs import Lake, read_manifest
from telemetry.reports.measured import CURVE
from telemetry.statistics.metrics import Numbers
from telemetry.systems.registry import telemetry_of

MOST_SAMPLES = 3_000_000
"""Samples read for one chart; beyond, fewer replicates are read, and a note says so."""
SHARES = tuple(sorted({*CURVE, *(at / 100 for at in range(101))}))
"""Shares at which the curve is drawn; the values there are exact."""
BAND = "their range"
"""Legend of the area around a curve, after the number of replicates."""
_COLUMNS = ["role", "phase", "outcome", "intended_us", "ended_us"]


@dataclass(frozen=True)
class Distribution:
    """Distribution of one group: answered requests, microseconds from the intended send time."""

    group: Group
    curve: list[float]
    """One value for each of ``SHARES``; empty without samples."""
    low: list[float]
    """Minimum over replicates at each of ``SHARES``; empty with fewer than two replicates."""
    high: list[float]
    """Maximum over replicates."""
    n: int
    """Replicates of the band: runs of one configuration, or seeds common to several configurations."""
    answers: int
    read: int
    """Runs with samples."""
    missing: int
    """Runs without samples, for example deleted by retention."""
    skipped: int
    """Runs skipped to limit the number of samples."""
    damaged: list[str]
    """A sentence for each run whose file cannot be read; it is left out."""

    @property
    def median(self) -> float | None:
        return self.curve[SHARES.index(0.5)] if self.curve else None


def chosen(found: Comparison, groups: Sequence[Group]) -> list[Group]:
    """The groups to draw: those requested by configuration, otherwise the first of the table."""
    asked = set(found.asked.configurations)
    if not asked:
        return list(groups[:MOST_DISTRIBUTIONS])
    return [group for group in groups if asked & set(group.configurations)][:MOST_DISTRIBUTIONS]


def distributions(groups: Iterable[Group]) -> list[Distribution]:
    """One distribution per group; the total number of samples is bounded."""
    wanted = list(groups)
    room = MOST_SAMPLES // max(len(wanted), 1)
    return [_distribution(group, room) for group in wanted]


def _distribution(group: Group, room: int) -> Distribution:
    lake = Lake(settings.LAKE)
    found = [(one, path) for one in group.runs if (path := lake.part("samples", one.run)).is_file()]
    parts: list[tuple[Figures, Numbers]] = []
    damaged: list[str] = []
    left = room
    for one, path in found:
        try:
            rows = row_count(path)
            if parts and rows > left:
                break
            parts.append((one, _answered(lake, one.run)))
        except StorageError as error:
            damaged.append(str(error))
            continue
        left -= rows
    times = np.concatenate([some for _, some in parts]) if parts else np.array([])
    curve = np.quantile(times, SHARES).tolist() if len(times) else []
    own = [np.quantile(some, SHARES) for some in replicates(parts) if len(some)]
    low, high = (np.min(own, axis=0).tolist(), np.max(own, axis=0).tolist()) if len(own) > 1 else ([], [])
    missing, skipped = len(group.runs) - len(found), len(found) - len(parts) - len(damaged)
    return Distribution(group, curve, low, high, len(own), len(times), len(parts), missing, skipped, damaged)


def replicates(parts: Sequence[tuple[Figures, Numbers]]) -> list[Numbers]:
    """Samples by replicate: one run of a configuration, or all runs of several configurations with the same seed. Seeds
    that some configurations lack would mix different sets of configurations.
    """
    configurations = {one.configuration for one, _ in parts}
    if len(configurations) < 2:
        return [some for _, some in parts]
    by_seed: dict[str, list[tuple[str, Numbers]]] = {}
    for one, some in parts:
        by_seed.setdefault(one.seed, []).append((one.configuration, some))
    whole = [found for found in by_seed.values() if {name for name, _ in found} == configurations]
    return [np.concatenate([some for _, some in found]) for found in whole]


def _answered(lake: Lake, run: str) -> Numbers:
    """The response times of a run's answered requests, µs, from the clients of its own system that request."""
    system = telemetry_of(read_manifest(lake.manifest_path(run))).system
    asking = pa.array(system.asking_roles, pa.string())  # may be empty
    filters = [("role", "in", asking), ("phase", "=", "measuring"), ("outcome", "=", "answered")]
    table = read_table(lake.part("samples", run), _COLUMNS, filters)
    times: Numbers = pc.subtract(table["ended_us"], table["intended_us"]).to_numpy()
    return times


def drawn(found: Comparison, some: Sequence[Distribution]) -> Chart:
    """As a chart of ``telemetry.charts.charts``: percentage of answers (y) within a response time (x)."""
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
        "Exact, from the pooled samples of all replicates: answered requests, from the intended send time; "
        f"drawn at {len(SHARES)} shares."
    ]
    if any(one.low for one in some):
        notes.append(
            "Band: at each share, the range over the n replicates' own distributions. More "
            "replicates make it wider, not narrower."
        )
    if single := [one.group.label for one in some if one.curve and not one.low]:
        notes.append(f"No band with fewer than two replicates: {'; '.join(single)}.")
    if any(len(one.group.configurations) > 1 for one in some):
        notes.append("Where configurations are aggregated, a replicate is all of them with one seed.")
    missing, skipped = sum(one.missing for one in some), sum(one.skipped for one in some)
    if missing:
        notes.append(f"{missing} runs without samples are not included.")
    if skipped:
        notes.append(f"{skipped} replicates are skipped: all together have more than {MOST_SAMPLES:,} samples.")
    notes += [f"Left out: {sentence}" for one in some for sentence in one.damaged]
    return notes
