"""The one shape of a chart, for live pages and reports alike. Plain JSON; ``static`` scripts draw it.

::

    {id, title, x: {label, unit, log, categories?}, y: {label, unit, log, zero}, notes: [sentence], remark?: sentence,
     series: [{name, role, topology, metric?, line, points: [{x, y, low, high, n, replicates}]}]}

``role`` is ``measured``, ``shaped`` (measured over links with an added delay, jitter or loss), ``simulated`` (in
virtual time, which its name says too) or ``published``; ``topology`` gives the colour. With ``categories``, x is a
position in that list. ``y`` is ``None`` for a gap. A chart with a ``band``, which says what it is, has points with
``x_low`` and ``x_high``, its ends along x; ``None`` where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Chart = dict[str, Any]


def axis(label: str, unit: str = "", *, log: bool = False, zero: bool = False, **more: Any) -> dict[str, Any]:
    return {"label": label, "unit": unit, "log": log, "zero": zero, **more}


def chart(
    name: str,
    title: str,
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    series: Iterable[Mapping[str, Any]],
    notes: Sequence[str] = (),
) -> Chart:
    """A chart of every series that has a point."""
    drawn = [dict(one) for one in series if one["points"]]
    return {"id": name, "title": title, "x": dict(x), "y": dict(y), "series": drawn, "notes": list(notes)}


def series(
    name: str, role: str, topology: str, points: Iterable[Mapping[str, Any]], *, line: bool = True, metric: str = ""
) -> dict[str, Any]:
    return {
        "name": name,
        "role": role,
        "topology": topology,
        "metric": metric,
        "line": line,
        "points": [dict(one) for one in points],
    }


def point(x: float, y: float | None, **more: Any) -> dict[str, Any]:
    """A point without an interval."""
    return {"x": x, "y": y, "low": None, "high": None, "n": 1, "replicates": [], **more}


def estimate(x: float, interval: Mapping[str, Any], scale: float = 1.0) -> dict[str, Any]:
    """An interval of ``telemetry.statistics.intervals`` as a point; ``scale`` turns its unit into the axis's."""

    def scaled(value: float | None) -> float | None:
        return None if value is None else value * scale

    return {
        "x": x,
        "y": scaled(interval["value"]),
        "low": scaled(interval["low"]),
        "high": scaled(interval["high"]),
        "n": interval["n"],
        "replicates": [value * scale for value in interval["replicates"]],
    }
