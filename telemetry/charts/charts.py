"""The description of a chart: plain JSON, of which pages, the file of a report, exports and notebooks are made. Pure.

::

    {id, title, x: AXIS, y: AXIS, series: [SERIES], notes: [sentence], remark?: sentence, band?: words}

    AXIS    {label, unit, log, zero, categories?, named?}
    SERIES  {name, role, topology, metric, line, points: [POINT]}
    POINT   {x, y, low, high, n, replicates, note?, x_low?, x_high?}

What is drawn from it:

- **Axes.** ``label`` says what, ``unit`` of what: µs, ms, bytes, kB, % and /s are written at the values (1.2 ms), any
  other behind the label. ``log`` is a logarithmic axis, which a reader can turn linear; ``zero`` an axis that shows 0.
  With ``categories`` x is a place in that list; with ``named`` as well, many are named under the axis, not numbered.
- **Series.** ``role`` is ``measured``, ``shaped`` (measured over links with an added delay, jitter or loss),
  ``simulated`` (in virtual time; hollow marks) or ``published`` (black diamonds, dashed); the legend says all but
  the first.
  ``topology`` (or the value of a ``hue_field``) gives colour, mark and dash, the same on every chart; with none, or
  with the same one, take others in turn, and ``metric`` tells those of one chart apart. ``line`` joins the points.
- **Points.** ``low`` and ``high`` are the ends of the 95 % interval (whiskers), ``n`` how many replicates it is over
  (in the legend), ``replicates`` their own values (faint marks). A ``y`` of ``None`` is a gap. ``None`` as an end is no
  interval. In a chart with a ``band``, which names it, ``x_low`` and ``x_high`` are its ends along x.
- **Words.** ``title`` says what is compared and over what; ``notes`` are below the chart; ``remark`` is above it: what
  must be known before looking.

Who uses it:

    ``figures.figure``     the HTML around the drawing, for pages and files
    ``standalone``         scripts and styles for a file that draws charts by itself
    ``points``             its points as a table
    ``static/js/report.js``, ``estimates.js``   draw it with ECharts
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Chart = dict[str, Any]
Axis = Mapping[str, Any]
Series = dict[str, Any]
Point = dict[str, Any]


def axis(label: str, unit: str = "", *, log: bool = False, zero: bool = False, **more: Any) -> dict[str, Any]:
    return {"label": label, "unit": unit, "log": log, "zero": zero, **more}


def chart(
    name: str, title: str, x: Axis, y: Axis, series: Iterable[Mapping[str, Any]], notes: Sequence[str] = ()
) -> Chart:
    """A chart of every series that has a point."""
    drawn = [dict(one) for one in series if one["points"]]
    return {"id": name, "title": title, "x": dict(x), "y": dict(y), "series": drawn, "notes": list(notes)}


def series(
    name: str, role: str, topology: str, points: Iterable[Mapping[str, Any]], *, line: bool = True, metric: str = ""
) -> Series:
    return {
        "name": name,
        "role": role,
        "topology": topology,
        "metric": metric,
        "line": line,
        "points": [dict(one) for one in points],
    }


def point(x: float, y: float | None, **more: Any) -> Point:
    """A point without an interval."""
    return {"x": x, "y": y, "low": None, "high": None, "n": 1, "replicates": [], **more}


def estimate(x: float, interval: Mapping[str, Any], scale: float = 1.0) -> Point:
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
