"""Sentences that are made of the values of a study's plots. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.studies.judging import Result
from telemetry.studies.study import X


def values(result: Result, plot: str) -> Mapping[tuple[str, X], float]:
    """What was found, by series and x."""
    drawn = next((one for one in result.drawn if one.plot.id == plot), None)
    found = drawn.values.items() if drawn else ()
    return {place: value.found["value"] for place, value in found if value.found["value"] is not None}


def series(result: Result, plot: str, name: str) -> dict[X, float]:
    """One of them by x, in order."""
    found = {x: value for (one, x), value in values(result, plot).items() if one == name}
    return dict(sorted(found.items(), key=lambda pair: (isinstance(pair[0], str), pair[0])))


def change(one: float, other: float) -> str:
    """``29 % shorter``."""
    share = one / other - 1
    return f"{abs(share):.0%} {'shorter' if share < 0 else 'longer'}".replace("%", " %")
