"""Confidence intervals over replicates. The run is the unit: samples within one are not independent of each other.

With 8 replicates or more, a percentile bootstrap of the mean (10,000 seeded resamples), which assumes nothing of the
distribution. With 2 to 7, Student's t: so few values have at most 1,716 different resamples, whose percentile interval
cannot reach beyond the smallest and largest value and covers far less than it claims (75 % at n = 3). With one
replicate there is no interval, and the label says so.

The t interval of a quantity that is never negative (a response time, a size) is taken on the logarithm of the mean m,
whose standard error is s / (m √n) by the delta method, and turned back: m · exp(± t s / (m √n)). It agrees with m ± t s
/ √n where replicates agree, and stays above zero where they do not: three runs of 2, 3 and 9 ms would else span -4.7 to
14 ms, and no response takes less than nothing. The mean of the logarithms was rejected: it is about the geometric mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

CONFIDENCE = 0.95
RESAMPLES = 10_000
BOOTSTRAP_FROM = 8
"""Replicates from which on the bootstrap is used."""
_SEED = 20_170_301

_STUDENT_T = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 5: 2.5706, 6: 2.4469}
"""Two-sided 95 % quantiles of Student's t by degrees of freedom, as far as they are needed."""


def interval(replicates: Sequence[float | None], *, is_signed: bool = False) -> dict[str, Any]:
    """``{value, low, high, n, method, replicates}``: the mean of the replicates and its 95 % interval.

    ``None`` among them are replicates that measured nothing; they do not count. ``low`` and ``high`` are ``None``
    where there are fewer than two. ``is_signed`` for what may be negative, such as a difference.
    """
    values = np.array([value for value in replicates if value is not None and np.isfinite(value)], dtype=float)
    low, high, method = _bounds(values, is_signed)
    return {
        "value": float(values.mean()) if len(values) else None,
        "low": low,
        "high": high,
        "n": len(values),
        "method": method,
        "replicates": values.tolist(),
    }


def _bounds(values: Any, is_signed: bool) -> tuple[float | None, float | None, str]:
    n = len(values)
    if n < 2:
        return None, None, f"n = {n}, no interval"
    if n >= BOOTSTRAP_FROM:
        return *_bootstrap(values), "95 % by bootstrap"
    mean, half = values.mean(), _STUDENT_T[n - 1] * values.std(ddof=1) / np.sqrt(n)
    if is_signed or mean == 0:  # of nothing but zeros there is no logarithm, and no spread either
        return float(mean - half), float(mean + half), "95 % by Student's t"
    factor = np.exp(half / mean)
    return float(mean / factor), float(mean * factor), "95 % by Student's t on the logarithm"


def _bootstrap(values: Any) -> tuple[float, float]:
    draws = np.random.default_rng(_SEED).integers(0, len(values), size=(RESAMPLES, len(values)))
    tail = (1 - CONFIDENCE) / 2 * 100
    low, high = np.percentile(values[draws].mean(axis=1), [tail, 100 - tail])
    return float(low), float(high)
