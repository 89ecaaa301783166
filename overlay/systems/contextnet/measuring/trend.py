"""Whether response times change in the course of a run."""

from __future__ import annotations

from collections import defaultdict
from math import erfc, sqrt

from overlay.systems.contextnet.measuring.facts import Facts
from overlay.systems.contextnet.measuring.ledger import Figures

LEAST = 4
"""Orders, for a trend."""


def figures(facts: Facts) -> Figures:
    """By the mean RTT of the messages with each order among those of their nodes."""
    by_order = defaultdict(list)
    for one in facts.due:
        if one.is_answered:
            by_order[one.order].append(one.rtt_us / 1e3)
    means = [sum(rtts) / len(rtts) for _, rtts in sorted(by_order.items())]
    if len(means) < LEAST:
        return {"rtt_drift_ms": None, "rtt_trend_p": None}
    return {"rtt_drift_ms": slope(list(enumerate(means))) * len(means), "rtt_trend_p": mann_kendall(means)}


def slope(points: list[tuple[float, float]]) -> float:
    """Least squares, of at least two different x."""
    x0 = sum(x for x, _ in points) / len(points)
    y0 = sum(y for _, y in points) / len(points)
    return sum((x - x0) * (y - y0) for x, y in points) / sum((x - x0) ** 2 for x, _ in points)


def mann_kendall(values: list[float]) -> float:
    """The two-sided probability of such a trend among values in any order, by the normal distribution (Mann,
    *Econometrica* 13, 1945; Kendall, *Rank Correlation Methods*). Ties are not corrected for: means hardly are."""
    count = len(values)
    score = sum(
        (later > earlier) - (later < earlier) for at, earlier in enumerate(values) for later in values[at + 1 :]
    )
    if not score:
        return 1.0
    deviation = sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return erfc((abs(score) - 1) / deviation / sqrt(2))
