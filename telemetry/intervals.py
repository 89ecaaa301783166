"""Confidence intervals over replicates. The run is the unit: samples within one are not independent of each other.

With 8 to 128 replicates, a percentile bootstrap of the mean (10,000 seeded resamples), which assumes nothing of the
distribution; with more, the normal distribution. With 2 to 7, Student's t: so few values have at most 1,716 different
resamples, whose percentile interval cannot reach beyond the smallest and largest value and covers far less than it
claims (75 % at n = 3). With one replicate there is no interval, and the label says so.

The t interval of a quantity that is never negative (a response time, a size) is taken on the logarithm of the mean m,
whose standard error is s / (m √n) by the delta method, and turned back: m · exp(± t s / (m √n)). It agrees with m ± t s
/ √n where replicates agree, and stays above zero where they do not: three runs of 2, 3 and 9 ms would else span -4.7 to
14 ms, and no response takes less than nothing. The mean of the logarithms was rejected: it is about the geometric mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np

CONFIDENCE = 0.95
RESAMPLES = 10_000
BOOTSTRAP_FROM = 8
"""Replicates from which on the bootstrap is used."""
BOOTSTRAP_TO = 128
"""And to which: of more, the normal distribution says what it says, at a fraction of the cost."""
_Z = 1.959964
"""Two-sided 95 % quantile of the normal distribution."""
_SEED = 20_170_301

_STUDENT_T = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 5: 2.5706, 6: 2.4469}
"""Two-sided 95 % quantiles of Student's t by degrees of freedom, as far as they are needed."""
_T_FROM_8 = 2.3646
"""That of 7 degrees of freedom; with more it is less, to no less than 1.96."""


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


def between(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float | None, float | None, str]:
    """The 95 % interval of the mean of ``ours`` minus that of ``theirs``, replicates that have nothing in common.

    Student's t with the degrees of freedom of the smaller side, 7 where it has more: Welch's would be more, and depend
    on spreads that so few values hardly tell. No interval with fewer than two.
    """
    n = min(len(ours), len(theirs))
    if n < 2:
        return None, None, f"n = {n}, no interval"
    one, other = np.array(ours, dtype=float), np.array(theirs, dtype=float)
    error = np.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
    middle, half = one.mean() - other.mean(), _STUDENT_T.get(n - 1, _T_FROM_8) * error
    return float(middle - half), float(middle + half), "95 % by Student's t, not paired"


def of_median(values: Sequence[float]) -> tuple[float | None, float | None, str]:
    """The interval of a median, at least 95 %: from one of the replicates to another, whatever their distribution.

    Of fewer than six even the smallest and the largest of them cover less than that.
    """
    n, ranks = len(values), _median_ranks(len(values))
    if ranks is None:
        return None, None, f"n = {n}, no interval of a median"
    ordered = sorted(values)
    return ordered[ranks], ordered[n - 1 - ranks], "at least 95 % by order statistics"


@lru_cache
def _median_ranks(n: int) -> int | None:
    """How many values may be left out at either end: by the binomial distribution, of many by the normal one."""
    if n > BOOTSTRAP_TO:
        return int((n - 1) / 2 - _Z * n**0.5 / 2)
    below, left_out = 0.0, None
    for k in range(n // 2):
        below += comb(n, k) / 2**n
        if 2 * below > 1 - CONFIDENCE:
            break
        left_out = k
    return left_out


def _bounds(values: Any, is_signed: bool) -> tuple[float | None, float | None, str]:
    n = len(values)
    if n < 2:
        return None, None, f"n = {n}, no interval"
    if n > BOOTSTRAP_TO:
        mean, half = values.mean(), _Z * values.std(ddof=1) / np.sqrt(n)
        return float(mean - half), float(mean + half), "95 % by the normal distribution"
    if n >= BOOTSTRAP_FROM:
        return *_bootstrap(tuple(values.tolist())), "95 % by bootstrap"
    mean, half = values.mean(), _STUDENT_T[n - 1] * values.std(ddof=1) / np.sqrt(n)
    if is_signed or mean == 0:  # of nothing but zeros there is no logarithm, and no spread either
        return float(mean - half), float(mean + half), "95 % by Student's t"
    factor = np.exp(half / mean)
    return float(mean / factor), float(mean * factor), "95 % by Student's t on the logarithm"


@lru_cache(maxsize=16_384)  # the same figures again for each page that a comparison is looked at through
def _bootstrap(values: tuple[float, ...]) -> tuple[float, float]:
    """The percentiles of the resamples' means, as numpy's ``percentile`` has them, at a third of its cost."""
    means = _drawn(len(values)) @ np.array(values) / len(values)
    tail = (1 - CONFIDENCE) / 2 * (RESAMPLES - 1)
    below, part = int(tail), tail % 1
    ranks = [below, below + 1, RESAMPLES - 2 - below, RESAMPLES - 1 - below]
    low, lower, upper, high = np.partition(means, ranks)[ranks]
    return float(low + (lower - low) * part), float(high - (high - upper) * part)


@lru_cache(maxsize=8)
def _drawn(n: int) -> Any:
    """How often each of ``n`` values is in each resample; their mean is then one product of matrices."""
    draws = np.random.default_rng(_SEED).integers(0, n, size=(RESAMPLES, n))
    counts = np.zeros((RESAMPLES, n))
    np.add.at(counts, (np.arange(RESAMPLES)[:, None], draws), 1)
    return counts
