"""Confidence intervals over replicates. The run is the unit: samples within one are not independent of each other.

Every interval is of 95 % and by Student's t, whatever the number of replicates. What a quantity may be says on which
scale, and with it which mean is shown, so that value and interval are about the same:

::

    scale    for                                    shown            interval
    log      above 0: times, sizes, rates, ratios   geometric mean   t on the logarithm, turned back
    count    0 and more: counts, hops, messages     mean             t, cut off at 0
    signed   any number: differences                mean             t
    share    0 to 1: answered, found, fresh         mean             Wilson's score, see ``shares``

The logarithm of such times is nearly normal, so the first covers what it says from two replicates on, and stays above
zero where they disagree. It is about the geometric mean, which is exp(σ² / 2) below the mean: 0.1 % at σ = 0.05, 12 %
at 0.5, 39 % at 1. Where a replicate is 0, which has no logarithm, ``log`` is taken as ``count``; ``method`` says so.

Two arms are compared on the same scale: the ratio of their geometric means (by pairs, or by Welch), the difference of
their means, that of their shares. Rejected, with what was measured (``docs/decisions.md``): percentile bootstrap, BCa,
bootstrap-t, t on the logarithm of the mean.

Distributions are SciPy's, from ``scipy.special``, which is imported with the first interval. What is made of them is a
line or two each and is tested against ``scipy.stats``, which needs 0.8 s and 47 MB more in each process, and 1.4 ms for
an interval that takes 0.08 ms here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, exp, isfinite, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from telemetry.statistics import shares
from telemetry.statistics.metrics import Numbers

Scale = Literal["log", "count", "signed", "share"]
LOG: Scale = "log"
COUNT: Scale = "count"
SIGNED: Scale = "signed"
SHARE: Scale = "share"

CONFIDENCE = 0.95
_MOST_EXPONENT = 700.0
"""Beyond it a number overflows; an interval so wide says nothing anyway."""

BY_T = "mean, 95 % by Student's t"
BY_LOG = "geometric mean, 95 % by Student's t on the logarithm"
BY_WILSON = "mean, 95 % by Wilson's score and the spread of the replicates"
OF_MEANS = "difference of means, 95 % by Student's t"
OF_LOGS = "ratio of geometric means, 95 % by Student's t on the logarithm"
OF_SHARES = "difference of means, 95 % by Newcombe's hybrid score"


class Difference(NamedTuple):
    """How two arms differ: ours minus theirs, in their unit."""

    value: float
    low: float | None
    high: float | None
    n: int
    """Pairs; where they are not paired, replicates of the smaller arm."""
    method: str
    theirs: float
    """The baseline: the mean of the other arm."""


@lru_cache(maxsize=4_096)
def student(freedom: float) -> float:
    """The two-sided 95 % quantile of Student's t; the degrees of freedom need not be a whole number."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def interval(
    replicates: Sequence[float | None],
    scale: Scale = LOG,
    *,
    requests: Sequence[float | None] | None = None,
    most: float = 1.0,
) -> dict[str, Any]:
    """``{value, low, high, n, method, replicates}``: the mean of the replicates on ``scale`` and its 95 % interval.

    ``None`` among them are replicates that measured nothing; they do not count. ``low`` and ``high`` are ``None`` where
    there are fewer than two. Shares say of how many ``requests`` each of them is; ``most`` is what stands for all of
    them, such as 100 where they are in per cent.
    """
    known = [at for at, value in enumerate(replicates) if value is not None and isfinite(value)]
    values = np.array([replicates[at] for at in known], dtype=float)
    made = [requests[at] for at in known] if requests else None
    value, low, high, method = _mean(values, scale, made, most)
    return {"value": value, "low": low, "high": high, "n": len(values), "method": method, "replicates": values.tolist()}


def between(
    ours: Sequence[float],
    theirs: Sequence[float],
    scale: Scale = LOG,
    *,
    is_paired: bool = False,
    requests: tuple[Sequence[float | None], Sequence[float | None]] | None = None,
    most: float = 1.0,
) -> Difference:
    """Ours minus theirs with its 95 % interval; of at least one replicate each, as many of both where they are pairs.

    On ``LOG`` it is the interval of the ratio of the geometric means that is shown, less 1 and times theirs.
    ``requests`` of both and ``most`` as for ``interval``. No interval with fewer than two on a side.
    """
    one, other = np.array(ours, dtype=float), np.array(theirs, dtype=float)
    how = "paired by seed" if is_paired else "not paired"
    if scale == SHARE:
        return _between_shares(one / most, other / most, is_paired, requests, most, how)
    is_log = scale == LOG and min(one.min(), other.min()) > 0
    if is_log:
        one, other = np.log(one), np.log(other)
    value, half = mean_and_half(one - other) if is_paired else _welch(one, other)
    n, base = min(len(one), len(other)), float(other.mean())
    low, high = (None, None) if half is None else (value - half, value + half)
    if not is_log:
        return Difference(value, low, high, n, _said(n, f"{OF_MEANS}, {how}"), base)
    base, mean = _exp(base), _exp(float(one.mean()))
    low, high = (None if end is None else base * (_exp(end) - 1) for end in (low, high))
    return Difference(mean - base, low, high, n, _said(n, f"{OF_LOGS}, {how}"), base)


def mean_and_half(values: Numbers) -> tuple[float, float | None]:
    """The mean of at least one value and half the width of its interval, by Student's t; ``None`` of one alone."""
    n, value = len(values), float(values.mean())
    if n < 2:
        return value, None
    if (values == values[0]).all():
        return float(values[0]), 0.0
    away = values - value
    return value, student(n - 1) * sqrt(float(away @ away) / (n - 1) / n)


def of_median(values: Sequence[float]) -> tuple[float | None, float | None, str]:
    """The interval of a median, at least 95 %: from one of the replicates to another, whatever their distribution.

    Of fewer than six even the smallest and the largest of them cover less than that.
    """
    n, ranks = len(values), median_ranks(len(values))
    if ranks is None:
        return None, None, f"n = {n}, no interval of a median"
    ordered = sorted(values)
    return ordered[ranks], ordered[n - 1 - ranks], "at least 95 % by order statistics"


@lru_cache(maxsize=4_096)
def median_ranks(n: int) -> int | None:
    """How many of ``n`` values are left out at either end, by the binomial distribution; ``None`` where all are too
    few."""
    from scipy.special import bdtrik

    left_out = ceil(bdtrik((1 - CONFIDENCE) / 2, n, 0.5)) - 1 if n > 1 else -1
    return left_out if left_out >= 0 else None


# ---- one arm


def _mean(
    values: Numbers, scale: Scale, requests: Sequence[float | None] | None, most: float
) -> tuple[float | None, float | None, float | None, str]:
    n = len(values)
    if not n:
        return None, None, None, "n = 0, no interval"
    if scale == SHARE:
        return _mean_of_shares(values / most, requests, most)
    if scale == LOG and values.min() > 0:
        return _geometric(values)
    value, half = mean_and_half(values)
    if half is None:
        return value, None, None, _said(n, "")
    low = value - half if scale == SIGNED or values.min() < 0 else max(0.0, value - half)
    return value, low, value + half, BY_T if scale != LOG else f"{BY_T}, as a replicate is 0 or less"


def _geometric(values: Numbers) -> tuple[float, float | None, float | None, str]:
    n = len(values)
    if n < 2 or (values == values[0]).all():  # themselves, to the last digit
        end = None if n < 2 else float(values[0])
        return float(values[0]), end, end, _said(n, BY_LOG)
    middle, half = mean_and_half(np.log(values))
    assert half is not None
    return _exp(middle), _exp(middle - half), _exp(middle + half), BY_LOG


def _mean_of_shares(
    values: Numbers, requests: Sequence[float | None] | None, most: float
) -> tuple[float, float | None, float | None, str]:
    n = len(values)
    if n < 2:
        return float(values[0]) * most, None, None, _said(n, "")
    found = shares.mean_share(values, _known(requests), student(n - 1))
    if found.low is None or found.high is None:
        return found.value * most, None, None, "all equal, number of requests unknown: no interval"
    return found.value * most, found.low * most, found.high * most, BY_WILSON


def _known(requests: Sequence[float | None] | None) -> Numbers | None:
    """``None`` where one is not known."""
    if not requests or not all(requests):
        return None
    return np.array(requests, dtype=float)


# ---- two arms


def _welch(ours: Numbers, theirs: Numbers) -> tuple[float, float | None]:
    """The difference of two means and half the width of its interval, with Welch's degrees of freedom."""
    value = float(ours.mean() - theirs.mean())
    if min(len(ours), len(theirs)) < 2:
        return value, None
    parts = [(float(arm.var(ddof=1)) / len(arm), len(arm) - 1) for arm in (ours, theirs)]
    error = sum(variance for variance, _ in parts)
    freedom_parts = sum(variance**2 / freedom for variance, freedom in parts)
    if not freedom_parts:
        return value, 0.0
    return value, student(error**2 / freedom_parts) * sqrt(error)


def _between_shares(
    ours: Numbers,
    theirs: Numbers,
    is_paired: bool,
    requests: tuple[Sequence[float | None], Sequence[float | None]] | None,
    most: float,
    how: str,
) -> Difference:
    n, base = min(len(ours), len(theirs)), float(theirs.mean()) * most
    if n < 2:
        return Difference(float(ours.mean()) * most - base, None, None, n, _said(n, ""), base)
    one, other = (
        shares.mean_share(values, _known(made), student(len(values) - 1))
        for values, made in zip((ours, theirs), requests or (None, None), strict=True)
    )
    found = shares.difference(one, other, shares.correlation_of(ours, theirs) if is_paired else 0.0)
    if found.low is None or found.high is None:
        unknown = "all values of one side are equal, number of requests unknown: no interval"
        return Difference(found.value * most, None, None, n, unknown, base)
    return Difference(found.value * most, found.low * most, found.high * most, n, f"{OF_SHARES}, {how}", base)


def _said(n: int, method: str) -> str:
    return method if n > 1 else f"n = {n}, no interval"


def _exp(value: float) -> float:
    return exp(max(-_MOST_EXPONENT, min(_MOST_EXPONENT, value)))
