"""The accuracy of the simulator on this machine for one system, as a Markdown page and a chart.

Counterparts: ``residuals`` has the document; ``page.md`` and ``chart.svg`` are the templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log10
from pathlib import Path
from typing import Any

from telemetry.calibration.anchors import CLOSE, compared_again
from telemetry.calibration.plan import Plan
from telemetry.calibration.residuals import Part, row_of
from telemetry.formatting import UNKNOWN, in_unit
from telemetry.templating import render, written_by_hand

Row = Mapping[str, Any]
"""An anchor in the document."""

LIVE, SIMULATED = "live", "simulated"
WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 860, 56, 330, 40, 40, 46
COSTS = {
    "batch_us": "wake, receive and sleep again",
    "other_us": "parse and handle any other message",
    "sent_us": "create and send a datagram",
    "kilobyte_us": "copy 1,000 bytes",
}


def write_page(path: Path, residuals: Part) -> None:
    """The Markdown at ``path`` and the chart next to it, under the same name."""
    picture = path.with_suffix(".svg")
    rows = [row_of(compared_again(row)) for row in residuals["anchors"]]
    anchors = [row for row in rows if not row.get("question")]
    measured, legs = residuals["measured"], _legs(residuals)
    quantity = residuals.get("compared", Plan.compared)
    picture.write_text(chart(anchors, quantity), encoding="utf-8")
    text = render(
        "calibration/page.md",
        measured=measured,
        picture=picture.name,
        anchors=anchors,
        questions=list(_questions(rows)),
        all=rows,
        wrong=[row for row in rows if not row["is_close"]],
        close=residuals["close"],
        written=written_by_hand(path),
        costs=[row for role, costs in residuals["roles"].items() for row in _costs(role, costs)],
        below_nothing=measured.get("below_nothing"),
        memories={role: costs["memory"] for role, costs in residuals["roles"].items() if costs.get("memory")},
        legs=list(legs.values()),
        stages=list(_stages(measured.get("stages", ()), legs)),
        system=residuals.get("system", ""),
        quantity=quantity,
        quantity_from=residuals.get("compared_from", Plan.compared_from),
        further=[line for row in rows for line in _further(row, residuals.get("further", ()))],
        configurations=[_configuration(row) for row in rows if row["configuration"]],
        counts=sorted({row[LIVE]["p50"]["n"] for row in rows}, reverse=True),
        origins=_origins,
        doubts=[(row["anchor"], reason) for row in rows for reason in row["doubts"]],
        path=path.name,
    )
    path.write_text(text, encoding="utf-8")


def _legs(residuals: Part) -> dict[str, str]:
    """The legs of requests that were measured, with their labels."""
    legs = dict.fromkeys(one["leg"] for one in residuals["measured"].get("stages", ()))
    return {leg: residuals["labels"].get(leg, leg) for leg in legs}


def _questions(rows: Sequence[Row]) -> Iterator[tuple[str, str, list[Row]]]:
    """Anchors that answer a question of their own: the question, what it is about, and they."""
    for asked in dict.fromkeys(row["question"] for row in rows if row.get("question")):
        question, _, about = asked.partition("? ")
        yield question, about, [row for row in rows if row["question"] == asked]


def _origins(rows: Sequence[Row]) -> list[Mapping[str, Any]]:
    """Where and when live runs were made, if not with the costs."""
    found = [row["origin"] for row in rows if row.get("origin")]
    return [one for number, one in enumerate(found) if one not in found[:number]]


def _costs(role: str, costs: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name, us in costs.get("received_us", {}).items():
        yield role, f"parse and handle `{name}`", f"{us:.2f}"
    for name, text in COSTS.items():
        if name in costs:
            yield role, text, f"{costs[name]:.2f}"
    for name, us in costs.get("extra_us", {}).items():
        yield role, f"in addition, send `{name}`", f"{us:.2f}"
    for name, curve in costs.get("work_us", {}).items():
        points = list(zip(curve["idle_s"], curve["values"], strict=True))
        cold = [f"{us:.2f} after {1000 * slept_s:g} ms of sleep" for slept_s, us in points[1:]]
        yield role, f"work: {name}", ", ".join([f"{curve['values'][0]:.2f}", *cold])


def _further(row: Row, known: Sequence[Mapping[str, str]]) -> Iterator[list[str]]:
    """What was compared in addition, a line for each measure."""
    for one in known:
        name, unit = one["name"], one["unit"]
        if name in row[LIVE] and name in row[SIMULATED]:
            live, simulated = row[LIVE][name], row[SIMULATED][name]
            yield [
                row["anchor"],
                one["title"],
                _over_runs(live, unit),
                _over_runs(simulated, unit),
                _off(live, simulated),
            ]


def _over_runs(found: Mapping[str, Any], unit: str) -> str:
    value, ends = in_unit(found["value"], unit), [found["low"], found["high"]]
    return value if None in ends else f"{value} ({' to '.join(in_unit(end, unit) for end in ends)})"


def _off(live: Mapping[str, Any], simulated: Mapping[str, Any]) -> str:
    """The difference as a share of the live figure."""
    return f"{100 * (simulated['value'] / live['value'] - 1):+.0f} %" if live["value"] else UNKNOWN


def _configuration(row: Row) -> list[str]:
    """An anchor's name and what it ran with."""
    known = row["configuration"]
    words = (
        ", ".join(f"`{name}: {value}`" for name, value in known[part].items()) for part in ("settings", "workload")
    )
    return [row["anchor"], known["topology"], *words]


def _stages(stages: Sequence[Mapping[str, Any]], legs: Mapping[str, str]) -> Iterator[list[str]]:
    found = {(one["pace"], one["leg"]): one for one in stages}
    for pace in dict.fromkeys(one["pace"] for one in stages):
        yield [pace, *(_stage(found.get((pace, leg))) for leg in legs)]


def _stage(one: Mapping[str, Any] | None) -> str:
    return f"{one['us']:.0f} ({one['low']:.0f}–{one['high']:.0f}; {one['n']})" if one else ""


def chart(anchors: Sequence[Row], quantity: str) -> str:
    """An SVG of the medians with their intervals, on a logarithmic axis, and the band that counts as right."""
    known = [one[kind]["p50"][end] for one in anchors for kind in (LIVE, SIMULATED) for end in ("value", "low", "high")]
    low, high = min(filter(None, known)) / 1.5, max(filter(None, known)) * 1.5
    height = TOP + ROW * len(anchors) + BOTTOM

    def x(us: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (log10(us) - log10(low)) / (log10(high) - log10(low)), 1)

    return render(
        "calibration/chart.svg",
        anchors=anchors,
        quantity=quantity,
        close=CLOSE,
        x=x,
        ticks=[step * 10**power for power in range(1, 6) for step in (1, 2, 5) if low <= step * 10**power <= high],
        floor=height - BOTTOM,
        width=WIDTH,
        height=height,
        row=ROW,
        left=LEFT,
        right=RIGHT,
        top=TOP,
    )
