"""Two runs with the same arrivals, compared request by request. Pure; counterpart: ``overlay.experiment.whatif``.

The k-th request of a consumer is the same in both: the same entity, asked of the same broker, meant for the same
moment. Where both were answered there is a difference of response times. What differs between any two requests, such as
where they begin, cancels out, so that a small effect shows in one pair of runs. It shows in these two: chance that
other seeds would have is not in the intervals, and neighbouring requests are not independent of each other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from telemetry.intervals import CONFIDENCE
from telemetry.runs import Lake

_COLUMNS = ["role", "client", "phase", "outcome", "intended_us", "ended_us", "entity"]
_Z = 1.959964
"""Two-sided 95 % quantile of the normal distribution."""
RESAMPLES = 2_000
BOOTSTRAP_BELOW = 2_000
"""Pairs; of more, the bootstrap of a mean says what the normal distribution says, at a thousand times the cost."""
CURVE = tuple(i / 100 for i in range(101))
"""Shares of pairs at which the curve of differences is drawn."""
_SEED = 20_170_301


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval over pairs; all ``None`` without pairs, the interval with fewer than two."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Paired:
    """What changed from the first run to the second. Times in microseconds; negative is faster."""

    pairs: int
    """Requests that both runs have."""
    answered: int
    """Of these, answered in both."""
    unpaired: int
    """Requests of either run that the other lacks, or in which they differ in what was asked."""
    mean: Estimate
    median: Estimate
    faster: int
    slower: int
    before: float | None
    """Median response time of the first run, over the pairs answered in both; ``after`` of the second."""
    after: float | None
    outcomes: list[tuple[str, str, int]]
    """Outcome before, outcome after, and of how many requests; most first."""
    curve: list[float]
    """The difference at each share of ``CURVE``, ascending; empty without pairs."""


def compare(lake: Lake, before: str, after: str) -> Paired | None:
    """Two collected runs; ``None`` while one of them has no samples."""
    paths = [lake.part("samples", run) for run in (before, after)]
    if not all(path.is_file() for path in paths):
        return None
    filters = [("role", "=", "consumer")]
    first, second = (pq.read_table(path, partitioning=None, columns=_COLUMNS, filters=filters) for path in paths)
    return pair(first, second)


def pair(before: pa.Table, after: pa.Table) -> Paired:
    """Two tables of consumers' samples, with at least ``client phase outcome intended_us ended_us entity``."""
    joined = _numbered(before).join(
        _numbered(after), ["client", "number"], join_type="full outer", right_suffix="_after"
    )
    known = pc.fill_null(pc.equal(joined["entity"], joined["entity_after"]), False)
    pairs = joined.filter(known)
    pairs = pairs.filter(pc.equal(pairs["phase"], "measuring"))
    both = pairs.filter(pc.and_(_answered(pairs["outcome"]), _answered(pairs["outcome_after"])))
    was, now = both["took"].to_numpy().astype(float), both["took_after"].to_numpy().astype(float)
    differences = np.sort(now - was)
    counted = Counter(zip(pairs["outcome"].to_pylist(), pairs["outcome_after"].to_pylist(), strict=True))
    return Paired(
        pairs=pairs.num_rows,
        answered=both.num_rows,
        unpaired=joined.num_rows - int(pc.sum(known).as_py() or 0),
        mean=mean_of(differences),
        median=median_of(differences),
        faster=int((differences < 0).sum()),
        slower=int((differences > 0).sum()),
        before=float(np.median(was)) if len(was) else None,
        after=float(np.median(now)) if len(now) else None,
        outcomes=[(*change, count) for change, count in sorted(counted.items(), key=lambda one: (-one[1], one[0]))],
        curve=np.quantile(differences, CURVE).tolist() if len(differences) else [],
    )


def _numbered(samples: pa.Table) -> pa.Table:
    """With the number of each request among its client's, in the order in which they were intended."""
    samples = samples.select([name for name in _COLUMNS if name != "role"]).sort_by(
        [("client", "ascending"), ("intended_us", "ascending")]
    )
    clients = samples["client"].to_numpy()
    begins = np.flatnonzero(np.diff(clients, prepend=-1))
    numbers = np.arange(len(clients)) - np.repeat(begins, np.diff(begins, append=len(clients)))
    took = pc.subtract(samples["ended_us"], samples["intended_us"])
    kept = samples.select(["client", "phase", "outcome", "entity"])
    kept = kept.set_column(1, "phase", kept["phase"].cast(pa.string()))
    for name in ("outcome", "entity"):
        kept = kept.set_column(kept.schema.get_field_index(name), name, kept[name].cast(pa.string()))
    return kept.append_column("number", pa.array(numbers)).append_column("took", took)


def _answered(outcomes: pa.ChunkedArray) -> Any:
    return pc.equal(outcomes, "answered")


def mean_of(values: Any) -> Estimate:
    """The mean; its interval by a percentile bootstrap, or of many pairs by the normal distribution."""
    n = len(values)
    if n < 2:
        return Estimate(float(values[0]) if n else None, None, None)
    mean = float(values.mean())
    if n >= BOOTSTRAP_BELOW:
        half = _Z * float(values.std(ddof=1)) / sqrt(n)
        return Estimate(mean, mean - half, mean + half)
    draws = np.random.default_rng(_SEED).integers(0, n, size=(RESAMPLES, n))
    means = values[draws].mean(axis=1)
    # Each draw and its mirror image, so that two runs told in the other order give the negative, to the last digit.
    means = np.concatenate([means, values[n - 1 - draws].mean(axis=1)])
    tail = (1 - CONFIDENCE) / 2 * 100
    low, high = np.percentile(means, [tail, 100 - tail])
    return Estimate(mean, float(low), float(high))


def median_of(values: Any) -> Estimate:
    """The median of sorted values; its interval by order statistics, which assumes nothing of the distribution.

    The ranks are those of the binomial distribution with p = 1/2, by its normal approximation.
    """
    n = len(values)
    if n < 2:
        return Estimate(float(values[0]) if n else None, None, None)
    half = _Z * sqrt(n) / 2
    low = max(int(np.floor((n - 1) / 2 - half)), 0)
    return Estimate(float(np.median(values)), float(values[low]), float(values[n - 1 - low]))
