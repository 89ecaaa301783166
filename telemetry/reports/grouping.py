"""Statistics over the replicates of a group of runs, and their difference from a baseline. Pure.

A group is one configuration, or several with equal values of the grouping fields. In a group of one configuration, each
run is a replicate. In a group of several, a replicate is the effect of a seed on all of them: the mean of the
configurations, plus the mean deviation of the runs with that seed from their configuration's mean. If no run is
missing, that is the mean over the configurations with that seed. So the interval covers chance only, and not the
differences between the grouped configurations. A failed run does not exclude its seed: a seed counts if more than half
of the configurations ran with it. Without such a seed, as between experiments with different seeds, there is no
interval.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from telemetry.measures import Measure
from telemetry.statistics.intervals import SHARE, between, interval, of_median

AGGREGATES = ("mean", "median", "min", "max")
"""What may be said of the replicates of a group."""

BETTER, WORSE, NO_DIFFERENCE, UNKNOWN = "better", "worse", "no difference shown", "unknown"
VERDICTS = (BETTER, WORSE, NO_DIFFERENCE, UNKNOWN)


@dataclass(frozen=True, slots=True)
class Value:
    """What one run measured."""

    configuration: str
    seed: str
    value: float
    requests: float | None = None
    """Of a share, of how many requests it is, where that is known."""


@dataclass(frozen=True, slots=True)
class Replicates:
    """What a group's interval is over."""

    values: tuple[float, ...]
    requests: tuple[float | None, ...]
    """Of shares, of how many requests each value is."""
    by_seed: dict[str, float]
    """Of one configuration that ran several times with a seed, their mean."""
    middle: float | None
    """The mean of the configurations' own means; of one configuration, of its runs. ``None`` of nothing."""
    requests_by_seed: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure of a group, in its measure's unit; the 95 % interval is ``None`` where ``method`` says why."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    replicates: tuple[float, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As ``telemetry.statistics.intervals.interval`` returns it."""
        return {name: getattr(self, name) for name in ("value", "low", "high", "n", "method", "replicates")}


@dataclass(frozen=True, slots=True)
class Difference:
    """A group's mean minus the baseline's; of times, sizes and rates it is the ratio that has the interval."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    """Pairs, or replicates of the smaller side where they are not paired."""
    method: str
    verdict: str
    """One of ``VERDICTS``."""
    share: float | None
    """As a share of the baseline's mean; ``None`` where that is zero."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def ends(found: Estimate | Difference, measure: Measure) -> str:
    """The interval with its units: "[1.38 ms, 1.47 ms]"; empty where there is none."""
    if found.low is None or found.high is None:
        return ""
    write = measure.difference if isinstance(found, Difference) else measure.text
    return f"[{write(found.low)}, {write(found.high)}]"


NOTHING = Difference(None, None, None, 0, "nothing measured to hold against each other", UNKNOWN, None)


def replicates(values: Sequence[Value]) -> Replicates:
    """The replicates of a group that is made of all configurations in ``values``."""
    by_configuration: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in values:
        by_configuration[one.configuration][one.seed].append(one.value)
    groups, made = list(by_configuration.values()), _requests_by_seed(values)
    if not groups:
        return Replicates((), (), {}, None, {})
    means = [{seed: _mean(found) for seed, found in seeds.items()} for seeds in groups]
    if len(groups) == 1:
        whole, requests = tuple(one.value for one in values), tuple(one.requests for one in values)
        return Replicates(whole, requests, means[0], fmean(whole), made)
    own = [fmean(seeds.values()) for seeds in means]
    away: dict[str, list[float]] = defaultdict(list)
    for seeds, mean in zip(means, own, strict=True):
        for seed, value in seeds.items():
            away[seed].append(value - mean)
    whole_mean = fmean(own)
    by_seed = {seed: whole_mean + fmean(found) for seed, found in away.items() if 2 * len(found) > len(groups)}
    middle = fmean(by_seed.values()) if by_seed else whole_mean
    return Replicates(tuple(by_seed.values()), tuple(made[seed] for seed in by_seed), by_seed, middle, made)


def _requests_by_seed(values: Sequence[Value]) -> dict[str, float | None]:
    """``None`` where it is not known of one of a seed's runs."""
    found: dict[str, float | None] = {}
    for one in values:
        before = found.get(one.seed, 0.0)
        found[one.seed] = None if before is None or one.requests is None else before + one.requests
    return found


def _mean(found: Sequence[float]) -> float:
    """Nearly always of one run, thousands of times."""
    return found[0] if len(found) == 1 else fmean(found)


def estimate(values: Sequence[Value], measure: Measure, aggregate: str = "mean") -> Estimate:
    """``aggregate`` of a group's replicates with its interval, on the measure's scale."""
    group = replicates(values)
    n = len(group.values)
    if not n:
        why = "its configurations ran with different seeds" if values else "nothing measured"
        return Estimate(group.middle if aggregate == "mean" else None, None, None, 0, why)
    if aggregate == "mean":
        found = interval(group.values, measure.scale, requests=group.requests, most=measure.most)
        value, low, high, method = (found[name] for name in ("value", "low", "high", "method"))
    elif aggregate == "median":
        value, (low, high, method) = median(group.values), of_median(group.values)
    else:
        value, low, high = (min if aggregate == "min" else max)(group.values), None, None
        method = f"no interval of a {aggregate}"
    return Estimate(value, low, high, n, method, group.values)


def difference(ours: Sequence[Value], baseline: Sequence[Value], measure: Measure) -> Difference:
    """How ``ours`` differs from the baseline in its mean, and whether that is shown beyond its interval.

    Paired by seed where at least half of the smaller side's seeds match: what a seed brings to both, such as who asks
    what and when, then cancels out.
    """
    one, other = replicates(ours), replicates(baseline)
    if one.middle is None or other.middle is None:
        return NOTHING
    common = [seed for seed in one.by_seed if seed in other.by_seed]
    is_paired = len(common) >= 2 and 2 * len(common) >= min(len(one.by_seed), len(other.by_seed))
    sides = [_side(side, common if is_paired else None) for side in (one, other)]
    (ours_values, ours_made), (their_values, their_made) = sides
    if not ours_values or not their_values:  # of configurations with different seeds there is a mean alone
        value, why = one.middle - other.middle, "its configurations ran with different seeds"
        return Difference(value, None, None, 0, why, UNKNOWN, value / other.middle if other.middle else None)
    found = between(
        ours_values,
        their_values,
        measure.scale,
        is_paired=is_paired,
        requests=(ours_made, their_made) if measure.scale == SHARE else None,
        most=measure.most,
    )
    share = found.value / found.theirs if found.theirs else None
    said = verdict(found.low, found.high, measure)
    return Difference(found.value, found.low, found.high, found.n, found.method, said, share)


def _side(found: Replicates, seeds: Sequence[str] | None) -> tuple[list[float], list[float | None]]:
    """Its values and of how many requests they are: of these seeds in their order, or of all replicates."""
    if seeds is None:
        return list(found.values), list(found.requests)
    return [found.by_seed[seed] for seed in seeds], [found.requests_by_seed[seed] for seed in seeds]


def verdict(low: float | None, high: float | None, measure: Measure) -> str:
    """What the interval of a difference says; where neither way is better, at most that none is shown."""
    if low is None or high is None:
        return UNKNOWN
    if low <= 0 <= high:
        return NO_DIFFERENCE
    if not measure.better:
        return UNKNOWN
    return BETTER if (high < 0) == (measure.better == "lower") else WORSE


def quartiles(values: Sequence[float]) -> tuple[float, float, float, float, float] | None:
    """Least, lower quartile, median, upper quartile and most, as a box is drawn; ``None`` of nothing."""
    if not values:
        return None
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    return ordered[0], at(0.25), at(0.5), at(0.75), ordered[-1]


def counted(verdicts: Iterable[str]) -> dict[str, int]:
    """How often each verdict was given, none left out."""
    found = dict.fromkeys(VERDICTS, 0)
    for one in verdicts:
        found[one] += 1
    return found
