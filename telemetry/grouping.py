"""What the replicates of a group of runs say together, and how they differ from a baseline's. Pure.

A group is one configuration, or several that agree in what somebody groups by. Of one, each run is a replicate. Of
several, a replicate is what a seed brings to all of them: the mean of the configurations plus the mean of how far runs
with that seed lie from their own configuration's mean. With every run there, that is the mean over the configurations
with that seed. So the interval tells of chance, and not of how configurations differ that somebody chose to take
together; and a run that failed takes no whole seed away. A seed counts that more than half of the configurations ran
with; where there is none, as between experiments with other seeds, there is no interval.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from telemetry.intervals import between, interval, of_median
from telemetry.measures import Measure

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


@dataclass(frozen=True, slots=True)
class Replicates:
    """What a group's interval is over."""

    values: tuple[float, ...]
    by_seed: dict[str, float]
    """Of one configuration that ran several times with a seed, their mean."""
    middle: float | None
    """The mean of the configurations' own means; of one configuration, of its runs. ``None`` of nothing."""


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
        """As ``telemetry.intervals.interval`` returns it."""
        return {name: getattr(self, name) for name in ("value", "low", "high", "n", "method", "replicates")}


@dataclass(frozen=True, slots=True)
class Difference:
    """A group's mean minus the baseline's."""

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


NOTHING = Difference(None, None, None, 0, "nothing measured to hold against each other", UNKNOWN, None)


def replicates(values: Sequence[Value]) -> Replicates:
    """The replicates of a group that is made of all configurations in ``values``."""
    by_configuration: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in values:
        by_configuration[one.configuration][one.seed].append(one.value)
    groups = list(by_configuration.values())
    if not groups:
        return Replicates((), {}, None)
    means = [{seed: _mean(found) for seed, found in seeds.items()} for seeds in groups]
    if len(groups) == 1:
        whole = tuple(one.value for one in values)
        return Replicates(whole, means[0], fmean(whole))
    own = [fmean(seeds.values()) for seeds in means]
    away: dict[str, list[float]] = defaultdict(list)
    for seeds, mean in zip(means, own, strict=True):
        for seed, value in seeds.items():
            away[seed].append(value - mean)
    whole_mean = fmean(own)
    by_seed = {seed: whole_mean + fmean(found) for seed, found in away.items() if 2 * len(found) > len(groups)}
    return Replicates(tuple(by_seed.values()), by_seed, fmean(by_seed.values()) if by_seed else whole_mean)


def _mean(found: Sequence[float]) -> float:
    """Nearly always of one run, thousands of times."""
    return found[0] if len(found) == 1 else fmean(found)


def estimate(values: Sequence[Value], measure: Measure, aggregate: str = "mean") -> Estimate:
    """``aggregate`` of a group's replicates with its interval; ``low`` and ``high`` never exceed what is possible."""
    group = replicates(values)
    n = len(group.values)
    if not n:
        why = "its configurations ran with different seeds" if values else "nothing measured"
        return Estimate(group.middle if aggregate == "mean" else None, None, None, 0, why)
    if aggregate == "mean":
        found = interval(group.values, is_signed=measure.is_signed)
        value, low, high, method = (found[name] for name in ("value", "low", "high", "method"))
    elif aggregate == "median":
        value, (low, high, method) = median(group.values), of_median(group.values)
    else:
        value, low, high = (min if aggregate == "min" else max)(group.values), None, None
        method = f"no interval of a {aggregate}"
    if high is not None and measure.most is not None:
        high = min(high, measure.most)
    return Estimate(value, low, high, n, method, group.values)


def difference(ours: Sequence[Value], baseline: Sequence[Value], measure: Measure) -> Difference:
    """How ``ours`` differs from the baseline in its mean, and whether that is shown beyond its interval.

    Paired by seed where at least half of the smaller side's seeds match: what a seed brings to both, such as who asks
    what and when, then cancels out.
    """
    one, other = replicates(ours), replicates(baseline)
    if one.middle is None or other.middle is None:
        return NOTHING
    pairs = [value - other.by_seed[seed] for seed, value in one.by_seed.items() if seed in other.by_seed]
    if len(pairs) >= 2 and 2 * len(pairs) >= min(len(one.by_seed), len(other.by_seed)):
        found = interval(pairs, is_signed=True)
        value, low, high, n = found["value"], found["low"], found["high"], found["n"]
        method = f"{found['method']}, paired by seed"
    else:
        low, high, method = between(one.values, other.values)
        value, n = one.middle - other.middle, min(len(one.values), len(other.values))
    share = value / other.middle if other.middle else None
    return Difference(value, low, high, n, method, verdict(low, high, measure), share)


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
