"""Mean, deviation and quantiles of samples; ``None`` of too few."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, sqrt
from statistics import fmean


def mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def deviation(values: Sequence[float]) -> float | None:
    """The standard deviation, with n - 1."""
    if len(values) < 2:
        return None
    mean = fmean(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def quantile(ordered: Sequence[float], share: float) -> float | None:
    """Interpolated between neighbours of ``ordered``."""
    if not ordered:
        return None
    place = share * (len(ordered) - 1)
    low = floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
