"""What samples say: response times, outcomes, lateness, ages. Pure, over numpy columns.

Counterpart: ``telemetry.spark.nodes`` computes the same from Parquet, and a test holds the two together. A percentile
is exact, from the samples, with linear interpolation between neighbours (as numpy's and Spark's ``percentile``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay.journal.facts import OUTCOMES

PERCENTILES = (50, 95, 99)
"""Those that are shown everywhere, in percent."""

STATISTICS = ("mean", *(f"p{percent}" for percent in PERCENTILES))
"""What is said of every response time; the names under which it stands in summaries, snapshots and reports."""

SPREAD = (*STATISTICS, "min", "max")

Numbers = NDArray[Any]


def spread(values: Numbers) -> dict[str, float | int | None]:
    """``{n, mean, p50, p95, p99, min, max}`` in the unit of ``values``; of none, all but ``n`` are ``None``."""
    if len(values) == 0:
        return {"n": 0, **dict.fromkeys(SPREAD)}
    found = [np.mean(values), *np.percentile(values, PERCENTILES), np.min(values), np.max(values)]
    return {"n": len(values), **{name: float(value) for name, value in zip(SPREAD, found, strict=True)}}


def bounds(answered: Numbers, unanswered: int) -> dict[str, float | None]:
    """``STATISTICS`` of requests of which ``unanswered`` took for ever; ``None`` is no bound, or that there are none.

    A percentile is that of all of them, as ``spread`` has it: one that would lie between the slowest answer and a
    request without any has no bound.
    """
    requests, ordered = len(answered) + unanswered, np.sort(answered)
    ranks = [percent * (requests - 1) / 100 for percent in PERCENTILES]
    known = [rank if 0 <= rank <= len(answered) - 1 else None for rank in ranks]
    percentiles = [None if rank is None else float(np.interp(rank, range(len(ordered)), ordered)) for rank in known]
    mean = float(np.mean(answered)) if len(answered) and not unanswered else None
    return dict(zip(STATISTICS, [mean, *percentiles], strict=True))


def outcome_counts(outcomes: Mapping[str, int]) -> dict[str, int]:
    """Every outcome that a request can have, with its count."""
    return {outcome: int(outcomes.get(outcome, 0)) for outcome in OUTCOMES}


def answer_ratio(outcomes: Mapping[str, int]) -> float | None:
    """Share of the requests that were answered, 0 to 1; ``None`` without requests."""
    requests = sum(outcomes.values())
    return outcomes.get("answered", 0) / requests if requests else None


def rate(count: int, duration_us: int) -> float | None:
    """``count`` per second over ``duration_us``; ``None`` over nothing."""
    return count * 1e6 / duration_us if duration_us > 0 else None


def ages_ms(ended_us: Numbers, entry_ms: Numbers, zero_unix_us: int) -> Numbers:
    """How old each answer's entry was when it arrived, milliseconds; one without a timestamp (0) is left out."""
    dated = entry_ms > 0
    return (ended_us[dated] + zero_unix_us) / 1000 - entry_ms[dated]
