"""From measured processor times to costs: differences of two, and what is more after a sleep.

Of each time that of the cheapest round counts, because other load only adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from overlay.core.curves import Curve, constant
from telemetry.calibration.speaking import RESTS_S

DIGITS = 3
"""After the point, of microseconds."""
Times = Mapping[str, float]
"""Microseconds of processor time by what was done."""


def cheapest(rounds: Sequence[Times]) -> dict[str, float]:
    return {what: min(one[what] for one in rounds) for what in rounds[0]}


def at_least_nothing(us: float) -> float:
    return round(max(0.0, us), DIGITS)


def more(times: Sequence[float], others: Sequence[float] = (0.0,) * len(RESTS_S)) -> list[float]:
    """How much longer the first ones take, after each of ``RESTS_S``."""
    return [at_least_nothing(one - other) for one, other in zip(times, others, strict=True)]


def work(warm: float, colder: Sequence[float] | None) -> Curve:
    """``colder``: in addition, after each of ``RESTS_S``."""
    if colder is None:
        return constant(warm)
    return Curve((0.0, *RESTS_S), (warm, *(round(warm + us, DIGITS) for us in colder)))


def precision(rounds: Sequence[Times]) -> dict[str, Any]:
    """Each measured time, and its range over the rounds."""
    return {
        name: {
            "us": round(min(one[name] for one in rounds), DIGITS),
            "low": round(min(one[name] for one in rounds), DIGITS),
            "median": round(median(one[name] for one in rounds), DIGITS),
            "high": round(max(one[name] for one in rounds), DIGITS),
            "turns": len(rounds),
        }
        for name in rounds[0]
        if not name.startswith("idle")
    }
