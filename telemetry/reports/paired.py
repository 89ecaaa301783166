"""Two runs with the same arrivals, compared request by request. Pure; counterpart: ``overlay.experiment.whatif``.

The k-th request of a client is the same in both: the same entity, asked of the same broker, meant for the same
moment. Where both were answered there is a difference of response times, and of every request there is whether it was
answered: what a dead broker costs is in the one or the other. What differs between any two requests, such as where they
begin, cancels out, so that a small effect shows in one pair of runs.

It shows in these two: chance that other seeds would have is not in the intervals of one pair, and neighbouring requests
are not independent of each other. ``over_seeds`` puts pairs of several seeds together; the seed is then the unit, and
what it finds holds for seeds that were not run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from telemetry.lake.parquet import read_table
from telemetry.lake.runs import Lake, read_manifest
from telemetry.statistics import shares
from telemetry.statistics.intervals import SHARE, SIGNED, between, interval, mean_and_half, median_ranks, student
from telemetry.systems.registry import telemetry_of

_COLUMNS = ["role", "client", "phase", "outcome", "intended_us", "ended_us", "entity"]
CURVE = tuple(i / 100 for i in range(101))
"""Shares of pairs at which the curve of differences is drawn."""
ANSWERED = "answered"
REQUESTS, SEEDS = "requests", "seeds"
"""What an interval is over."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; all ``None`` where nothing was found, the interval where there is one alone."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Paired:
    """What changed from the first run to the second. Times in microseconds; negative is faster.

    Of several seeds numbers are sums, and figures means over seeds of what each of them is in a pair of runs.
    """

    over: str
    """What the intervals are over: ``REQUESTS`` of one pair of runs, or ``SEEDS``."""
    seeds: int
    pairs: int
    """Requests that both runs have."""
    answered: int
    """Of these, answered in both."""
    unpaired: int
    """Requests of either run that the other lacks, or in which they differ in what was asked."""
    mean: Estimate
    median: Estimate
    answered_before: float | None
    """The share of the pairs that the first run answered; ``answered_after`` the second."""
    answered_after: float | None
    answered_share: Estimate
    """The difference of these two."""
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
    """Two collected runs; ``None`` while one of them has no samples. Raises ``StorageError`` for a damaged file."""
    paths = [lake.part("samples", run) for run in (before, after)]
    if not all(path.is_file() for path in paths):
        return None
    asking = telemetry_of(read_manifest(lake.manifest_path(before))).system.asking_roles
    filters = pc.field("role").isin(pa.array(asking, pa.string()))
    first, second = (read_table(path, _COLUMNS, filters) for path in paths)
    return pair(first, second)


def pair(before: pa.Table, after: pa.Table) -> Paired:
    """Two tables of clients' samples, with at least ``client phase outcome intended_us ended_us entity``."""
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
    n = pairs.num_rows
    lost = sum(count for (first, then), count in counted.items() if first == ANSWERED != then)
    gained = sum(count for (first, then), count in counted.items() if first != ANSWERED == then)
    return Paired(
        over=REQUESTS,
        seeds=1,
        pairs=n,
        answered=both.num_rows,
        unpaired=joined.num_rows - int(pc.sum(known).as_py() or 0),
        mean=mean_of(differences),
        median=median_of(differences),
        answered_before=(both.num_rows + lost) / n if n else None,
        answered_after=(both.num_rows + gained) / n if n else None,
        answered_share=share_of(both.num_rows, lost, gained, n),
        faster=int((differences < 0).sum()),
        slower=int((differences > 0).sum()),
        before=float(np.median(was)) if len(was) else None,
        after=float(np.median(now)) if len(now) else None,
        outcomes=_most_first(counted),
        curve=np.quantile(differences, CURVE).tolist() if len(differences) else [],
    )


def over_seeds(found: Sequence[Paired]) -> Paired:
    """Pairs of runs of different seeds as one; of a single one, itself.

    Each seed has the same weight, however many requests it had. The curve is that of a request of a random seed.
    """
    if len(found) == 1:
        return found[0]
    outcomes: Counter[tuple[str, str]] = Counter()
    for one in found:
        outcomes.update({(was, now): count for was, now, count in one.outcomes})
    curves = [one.curve for one in found if one.curve]
    return Paired(
        over=SEEDS,
        seeds=len(found),
        pairs=sum(one.pairs for one in found),
        answered=sum(one.answered for one in found),
        unpaired=sum(one.unpaired for one in found),
        mean=_over([one.mean.value for one in found]),
        median=_over([one.median.value for one in found]),
        answered_before=_over([one.answered_before for one in found]).value,
        answered_after=_over([one.answered_after for one in found]).value,
        answered_share=_share_over(found),
        faster=sum(one.faster for one in found),
        slower=sum(one.slower for one in found),
        before=_over([one.before for one in found]).value,
        after=_over([one.after for one in found]).value,
        outcomes=_most_first(outcomes),
        curve=np.quantile(np.concatenate(curves), CURVE).tolist() if curves else [],
    )


def _over(values: Sequence[float | None]) -> Estimate:
    known = interval(values, SIGNED)
    return Estimate(known["value"], known["low"], known["high"])


def _share_over(found: Sequence[Paired]) -> Estimate:
    known = [one for one in found if one.answered_before is not None and one.answered_after is not None]
    if not known:
        return Estimate(None, None, None)
    pairs = [one.pairs for one in known]
    after, before = ([getattr(one, name) for one in known] for name in ("answered_after", "answered_before"))
    change = between(after, before, SHARE, is_paired=True, requests=(pairs, pairs))
    return Estimate(change.value, change.low, change.high)


def _most_first(counted: Counter[tuple[str, str]]) -> list[tuple[str, str, int]]:
    return [(*change, count) for change, count in sorted(counted.items(), key=lambda one: (-one[1], one[0]))]


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
    return pc.equal(outcomes, ANSWERED)


def mean_of(values: Any) -> Estimate:
    """The mean, and its interval by Student's t."""
    if not len(values):
        return Estimate(None, None, None)
    value, half = mean_and_half(values)
    return Estimate(value, None, None) if half is None else Estimate(value, value - half, value + half)


def median_of(values: Any) -> Estimate:
    """The median of sorted values; its interval by order statistics, which assumes nothing of the distribution.

    Of fewer than six it is from the least to the most, which covers less than 95 %.
    """
    n = len(values)
    if n < 2:
        return Estimate(float(values[0]) if n else None, None, None)
    low = median_ranks(n) or 0
    return Estimate(float(np.median(values)), float(values[low]), float(values[n - 1 - low]))


def share_of(both: int, lost: int, gained: int, n: int) -> Estimate:
    """By how much the share answered grew, of ``n`` requests of which so many were answered in both runs, in the first
    alone (``lost``) and in the second alone.

    The interval is Newcombe's for paired shares: what began at 100 % can rise only as far as 100 % is uncertain.
    """
    if not n:
        return Estimate(None, None, None)
    if n < 2:
        return Estimate(float(gained - lost), None, None)
    after, before = (shares.wilson((both + alone) / n, n, student(np.inf)) for alone in (gained, lost))
    together = shares.correlation_of_requests(both, lost, gained, n - both - lost - gained)
    found = shares.difference(after, before, together)
    return Estimate((gained - lost) / n, found.low, found.high)
