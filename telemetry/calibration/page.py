"""The accuracy of the simulator on this machine, as a JSON document, a Markdown page and a chart.

Counterparts: ``anchors`` compared; ``command`` writes the document next to the model, where ``trust`` reads it for the
web. ``page.md`` and ``chart.svg`` are the templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import log10
from pathlib import Path
from typing import Any

from overlay.core.service_times import ServiceModel
from overlay.runtime.calibrated import REFERENCE
from telemetry.calibration.anchors import CLOSE, Compared, compared_again
from telemetry.templating import render, written_by_hand

Row = Mapping[str, Any]
"""An anchor in the document."""

RESIDUALS = "calibration-residuals.json"
REFERENCE_RESIDUALS = Path(__file__).with_name("reference_residuals.json")
"""Of the model that comes with the code."""

LIVE, SIMULATED = "live", "simulated"
WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 860, 56, 330, 40, 40, 46
CODES = {"1": "ping", "2": "update", "3": "request", "4": "answer"}
COSTS = {
    "batch_us": "wake, receive and sleep again",
    "sent_us": "create and send a datagram",
    "forwarded_us": "in addition, forward a request",
    "kilobyte_us": "copy 1,000 bytes",
    "scan_us": "search a linear table",
    "client_sends_us": "client: a request",
    "client_receives_us": "client: a datagram",
}
SCANS = {"scanned_us": "each entry compared", "matched_us": "in addition, each matching entry"}
LEGS = {
    "timer": "delay at the client",
    "first": "client to broker",
    "last": "answer, broker to client",
    "hop": "forwarded to the next broker",
    "back": "answer, to the previous broker",
    "relayed": "answer passed on to the client",
}


def residuals_path(model: Path) -> Path:
    """The path of the residuals for the model in this file."""
    return REFERENCE_RESIDUALS if model.resolve() == REFERENCE.resolve() else model.with_name(RESIDUALS)


def residuals_of(compared: Sequence[Compared], model: ServiceModel) -> dict[str, Any]:
    """The document: every anchor, live and simulated, in microseconds; the model's costs and provenance."""
    return {
        "close": CLOSE,
        "anchors": [_row_of(one) for one in compared],
        "model": {name: value for name, value in model.to_json().items() if name.endswith("_us")},
        "memory": asdict(model.memory),
        "measured": dict(model.measured),
    }


def _row_of(one: Compared) -> dict[str, Any]:
    return {**asdict(one), "off": one.off, "is_close": one.is_close}


def write_page(path: Path, residuals: Mapping[str, Any]) -> None:
    """The Markdown at ``path`` and the chart next to it, under the same name."""
    picture = path.with_suffix(".svg")
    rows = [_row_of(compared_again(row)) for row in residuals["anchors"]]
    anchors = [row for row in rows if not row.get("question")]
    picture.write_text(chart(anchors), encoding="utf-8")
    text = render(
        "calibration/page.md",
        measured=residuals["measured"],
        picture=picture.name,
        anchors=anchors,
        questions=list(_questions(rows)),
        all=rows,
        wrong=[row for row in rows if not row["is_close"]],
        close=residuals["close"],
        written=written_by_hand(path),
        costs=list(_costs(residuals["model"])),
        below_nothing=residuals["measured"].get("below_nothing"),
        memory=residuals["memory"],
        legs=list(LEGS.values()),
        stages=list(_stages(residuals["measured"]["stages"])),
    )
    path.write_text(text, encoding="utf-8")


def _questions(rows: Sequence[Row]) -> Iterator[tuple[str, str, list[Row]]]:
    """Anchors that answer a question of their own: the question, what it is about, and they."""
    for asked in dict.fromkeys(row["question"] for row in rows if row.get("question")):
        question, _, about = asked.partition("? ")
        yield question, about, [row for row in rows if row["question"] == asked]


def _costs(model: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for code, name in CODES.items():
        yield f"read and handle: {name}", f"{model['received_us'][code]:.2f}"
    for name, text in COSTS.items():
        yield text, f"{model[name]:.2f}"
    for name, text in SCANS.items():
        curve = model[name]
        cold = [f"{us:.2f} after {1000 * slept_s:g} ms of sleep" for slept_s, us in zip(*curve.values(), strict=True)]
        yield text, ", ".join([f"{curve['values'][0]:.2f}", *cold[1:]])


def _stages(stages: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    found = {(one["pace"], one["leg"]): one for one in stages}
    for pace in dict.fromkeys(one["pace"] for one in stages):
        yield [pace, *(_stage(found.get((pace, leg))) for leg in LEGS)]


def _stage(one: Mapping[str, Any] | None) -> str:
    return f"{one['us']:.0f} ({one['low']:.0f}–{one['high']:.0f}; {one['n']})" if one else ""


def chart(anchors: Sequence[Row]) -> str:
    """An SVG of the medians with their intervals, on a logarithmic axis, and the band that counts as right."""
    known = [one[kind]["p50"][end] for one in anchors for kind in (LIVE, SIMULATED) for end in ("value", "low", "high")]
    low, high = min(filter(None, known)) / 1.5, max(filter(None, known)) * 1.5
    height = TOP + ROW * len(anchors) + BOTTOM

    def x(us: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (log10(us) - log10(low)) / (log10(high) - log10(low)), 1)

    return render(
        "calibration/chart.svg",
        anchors=anchors,
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
