"""Response times as the load generators pack them once a second: HdrHistograms, which add up without loss.

Counterpart: ``overlay.runtime.load_generator`` records; nothing else here knows of the encoding. What is unpacked is a
count by value, because the library walks all of a histogram's 2,560 cells in Python for each percentile: 8 ms for a
spread where this takes 0.1, and a page opened late has 600 of them to show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from hdrh.histogram import HdrHistogram

from telemetry.statistics.metrics import PERCENTILES, SPREAD

Counts = Counter[int]
"""How often each value was seen; values in microseconds, each the middle of its cell, within 0.5 % of the true one."""


def unpacked(encoded: str) -> Counts:
    """What one tick holds: nothing for a process that measures no response times, or for what cannot be read."""
    if not encoded:
        return Counter()
    try:
        histogram = HdrHistogram.decode(encoded)
    except Exception:  # noqa: BLE001 the library raises whatever struct, zlib, base64 and ctypes do
        return Counter()
    cells = np.ctypeslib.as_array(histogram.counts)
    return Counter({_middle(histogram, int(index)): int(cells[index]) for index in np.flatnonzero(cells)})


def _middle(histogram: HdrHistogram, index: int) -> int:
    lowest = histogram.get_value_from_index(index)
    return int(lowest + histogram.get_highest_equivalent_value(lowest)) // 2


def merged(parts: Iterable[Counts]) -> Counts:
    total: Counts = Counter()
    for part in parts:
        total.update(part)
    return total


def spread(counts: Counts) -> dict[str, float | int | None]:
    """``{n, mean, p50, p95, p99, min, max}`` in microseconds, as ``metrics.spread`` has them."""
    n = counts.total()
    if n == 0:
        return {"n": 0, **dict.fromkeys(SPREAD)}
    values = np.array(sorted(counts))
    weights = np.array([counts[value] for value in values])
    ranks = np.array(PERCENTILES) / 100 * (n - 1)
    percentiles = np.interp(ranks, *_steps(values, weights))
    found = [np.average(values, weights=weights), *percentiles, values[0], values[-1]]
    return {"n": n, **{name: float(value) for name, value in zip(SPREAD, found, strict=True)}}


def _steps(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted samples as a line through the first and the last rank of each value."""
    last = np.cumsum(weights) - 1
    first = last - weights + 1
    return np.column_stack([first, last]).ravel(), np.repeat(values, 2)
