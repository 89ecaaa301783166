"""Intervals of shares over replicates, and of their differences. They never leave 0 to 1, nor -1 to 1. Pure.

A replicate is a run, whose share is of so many requests. The mean of the replicates' shares has Wilson's score interval
(1927), with the quantile of Student's t, for as many independent requests as would make that mean vary by as much as
it does (the effective sample size: Dean and Pagano 2015). Where runs differ by more than chance between requests
explains, these are fewer than were made; they are never more, so that replicates which all found 100 % have an
interval as well. It covers 93 to 100 % unless a few runs of many lose everything: a handful of replicates shows nothing
of these (``docs/decisions.md`` has what was measured).

The difference of two shares has Newcombe's hybrid interval (1998, his methods 10 of both papers): each end of it is
made of the two shares' own ends, so that what begins at 100 % can rise only as far as 100 % is uncertain. For pairs,
how the two sides go together counts: by its estimate, which for n replicates is taken times (n - 2) / n.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from telemetry.statistics.metrics import Numbers


class Share(NamedTuple):
    """A share with its interval; without one where nothing says how sure it is."""

    value: float
    low: float | None
    high: float | None


def wilson(value: float, requests: float, quantile: float) -> Share:
    """The score interval of a share of so many independent requests."""
    weight = quantile**2 / requests
    middle = (value + weight / 2) / (1 + weight)
    half = quantile / (1 + weight) * sqrt(value * (1 - value) / requests + weight / (4 * requests))
    # Of 0 and of 1 one end is the value itself, but for rounding.
    return Share(value, min(value, max(0.0, middle - half)), max(value, min(1.0, middle + half)))


def mean_share(shares: Numbers, requests: Numbers | None, quantile: float) -> Share:
    """The mean of at least two replicates' ``shares``, each of so many requests (``None``: unknown)."""
    n, value = len(shares), float(np.clip(shares.mean(), 0, 1))
    spread = float(shares.var(ddof=1)) / n
    made = n**2 / float((1 / requests).sum()) if requests is not None else None
    if spread == 0 or value in (0.0, 1.0):
        return Share(value, None, None) if made is None else wilson(value, made, quantile)
    effective = value * (1 - value) / spread
    return wilson(value, effective if made is None else min(made, effective), quantile)


def difference(ours: Share, theirs: Share, correlation: float) -> Share:
    """``ours`` minus ``theirs``; of both the interval is known or of neither."""
    value = ours.value - theirs.value
    if ours.low is None or ours.high is None or theirs.low is None or theirs.high is None:
        return Share(value, None, None)
    down = _joined(ours.value - ours.low, theirs.high - theirs.value, correlation)
    up = _joined(ours.high - ours.value, theirs.value - theirs.low, correlation)
    return Share(value, max(-1.0, value - down), min(1.0, value + up))


def _joined(one: float, other: float, correlation: float) -> float:
    return sqrt(max(0.0, one**2 - 2 * correlation * one * other + other**2))


def correlation_of(ours: Numbers, theirs: Numbers) -> float:
    """How pairs of replicates go together, 0 to 1: the less of the estimate, the fewer pairs it is from.

    The estimate itself makes an interval that covers 75 to 94 % with two to five pairs, none (0) one that is up to
    three times as wide as it need be.
    """
    n, one, other = len(ours), ours - ours.mean(), theirs - theirs.mean()
    norm = sqrt(float(one @ one) * float(other @ other))
    return max(0.0, float(one @ other) / norm) * (n - 2) / n if norm else 0.0


def correlation_of_requests(both: int, lost: int, gained: int, neither: int) -> float:
    """That of the same requests in two runs: phi, with Newcombe's correction where it is above 0."""
    norm = sqrt((both + lost) * (gained + neither) * (both + gained) * (lost + neither))
    product = float(both * neither - lost * gained)
    if product > 0:
        product = max(0.0, product - (both + lost + gained + neither) / 2)
    return product / norm if norm else 0.0
