"""The accuracy of the simulator on this machine, as a JSON document, a Markdown page and a chart.

Counterparts: ``anchors`` makes the comparisons; ``command`` writes the document next to the model, where ``trust``
reads it for the web.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from math import log10
from pathlib import Path
from typing import Any

from overlay.core.service_times import ServiceModel
from overlay.runtime.calibrated import REFERENCE
from telemetry.calibration.anchors import CLOSE, Compared, compared_again

Row = Mapping[str, Any]
"""An anchor in the document."""

RESIDUALS = "calibration-residuals.json"
REFERENCE_RESIDUALS = Path(__file__).with_name("reference_residuals.json")
"""Residuals of the model in the repository."""
READING = "<!-- written by hand -->"
"""Encloses text written by hand, which is kept when the page is generated again."""

LIVE, SIMULATED = "live", "simulated"
WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 860, 56, 330, 40, 40, 46


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
    """Write the Markdown to ``path`` and the chart next to it, under the same name."""
    picture = path.with_suffix(".svg")
    rows = [_row_of(compared_again(row)) for row in residuals["anchors"]]
    anchors, others = _parted(rows)
    picture.write_text(chart(anchors), encoding="utf-8")
    parts = [
        "# Calibration: simulated and live response times",
        _how(residuals["measured"]),
        f"![Median response times, live and simulated, with 95 % intervals]({picture.name})",
        "## Anchors",
        _compared(anchors),
        *_questions(others),
        *_believed(rows, residuals["close"]),
        f"{READING}\n\n{_written(path)}\n\n{READING}",
        *_costs(residuals),
        *_stages(residuals["measured"]),
        "## Repeating the measurement\n\n`make calibrate` writes the model and the residuals of the machine to `var/`. "
        'Simulated runs use the model from then on. With `CALIBRATE_ARGS="--page docs/results/calibration.md"` it '
        "writes this page, too.",
    ]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _how(measured: Mapping[str, Any]) -> str:
    machine, code = measured["machine"], measured["code"]
    commit = f"commit `{str(code['commit'])[:7]}`" if code.get("commit") else f"version {code['version']}"
    load = ", ".join(f"{one:.2f}" for one in machine["load_average"])
    rounds = f"{measured['rounds']} round{'s' if measured['rounds'] > 1 else ''}"
    return (
        f"Measured {measured['date']} on {measured['name']}: {machine['processor']}, {machine['usable_cores']} cores, "
        f"{machine['kernel']}, datagrams {machine['datagrams']}; {commit}; load average at the end {load}. "
        f"{rounds[0].upper()}{rounds[1:]}, each of which measured everything once, so calibration and anchors had the "
        "same conditions. No parameter was fitted to an anchor or to the published table."
    )


def _parted(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """The anchors, and the configurations that answer a separate question."""
    return [one for one in rows if not one.get("question")], [one for one in rows if one.get("question")]


def _questions(rows: Sequence[Row]) -> Iterator[str]:
    for asked in dict.fromkeys(row["question"] for row in rows):
        question, _, about = asked.partition("? ")
        yield f"## {question}?\n\n{about}"
        yield _compared([row for row in rows if row["question"] == asked])


def _compared(rows: Sequence[Row]) -> str:
    return _table(
        ("configuration", "live p50 (µs)", "simulated p50 (µs)", "difference", "live p95 (µs)", "simulated p95 (µs)"),
        (
            (
                one["anchor"],
                _interval(one[LIVE]["p50"]),
                _interval(one[SIMULATED]["p50"]),
                f"{100 * one['off']:+.0f} %",
                _interval(one[LIVE]["p95"]),
                _interval(one[SIMULATED]["p95"]),
            )
            for one in rows
        ),
    )


def _believed(rows: Sequence[Row], close: float) -> Iterator[str]:
    """The share of close medians over all configurations, those of separate questions included."""
    yield "## Accuracy"
    wrong = [f"{one['anchor']} ({100 * one['off']:+.0f} %)" for one in rows if not one["is_close"]]
    bound = f"{100 * close:.0f} %"
    if wrong:
        yield (
            f"{len(rows) - len(wrong)} of {len(rows)} simulated medians are within {bound} of the live ones. "
            f"**Not within {bound}: {'; '.join(wrong)}.** Expect errors of this size in simulated response times of "
            "similar configurations."
        )
    else:
        yield f"All {len(rows)} simulated medians are within {bound} of the live ones."
    yield (
        f"Response times are measured from the intended sending. n = {rows[0][LIVE]['p50']['n']} runs each, with the "
        "same seeds live and simulated. Values are geometric means over runs, with their 95 % interval in brackets "
        "(Student's t on the logarithm)."
    )


def _costs(residuals: Mapping[str, Any]) -> Iterator[str]:
    model, codes = residuals["model"], {"1": "ping", "2": "update", "3": "request", "4": "answer"}
    yield "## Costs\n\nMicroseconds of one processor with warm caches."
    rows = [(f"read and handle: {name}", f"{model['received_us'][code]:.2f}") for code, name in codes.items()]
    scans = {"scanned_us": "each entry compared", "matched_us": "in addition, each matching entry"}
    words = {
        "batch_us": "wake, receive and sleep again",
        "sent_us": "create and send a datagram",
        "forwarded_us": "in addition, forward a request",
        "kilobyte_us": "copy 1,000 bytes",
        "scan_us": "search a linear table",
        "client_sends_us": "client: a request",
        "client_receives_us": "client: a datagram",
    }
    rows += [(text, f"{model[name]:.2f}") for name, text in words.items()]
    for name, text in scans.items():
        curve = model[name]
        cold = [f"{us:.2f} after {1000 * slept_s:g} ms of sleep" for slept_s, us in zip(*curve.values(), strict=True)]
        rows.append((text, ", ".join([f"{curve['values'][0]:.2f}", *cold[1:]])))
    yield _table(("", "µs"), rows)
    if below := residuals["measured"].get("below_nothing"):
        yield (
            f"Estimated below zero and set to zero: {', '.join(f'`{name}`' for name in below)}. Costs are computed "
            "from differences, so other costs have errors of the same size."
        )
    memory = residuals["memory"]
    yield (
        f"An idle forked broker has {memory['idle_pss'] / 1e6:.2f} MB (PSS; USS {memory['idle_uss'] / 1e6:.2f}, RSS "
        f"{memory['idle_rss'] / 1e6:.1f}); an entry takes {memory['per_entry']:.0f} bytes in addition to its answer, a "
        f"pending request {memory['per_pending']:.0f}."
    )


def _stages(measured: Mapping[str, Any]) -> Iterator[str]:
    yield "## Stages of a request\n\nMedians in microseconds, with 95 % intervals; n is the number of requests."
    legs = {
        "timer": "delay at the client",
        "first": "client to broker",
        "last": "answer, broker to client",
        "hop": "forwarded to the next broker",
        "back": "answer, to the previous broker",
        "relayed": "answer passed on to the client",
    }
    found = {(one["pace"], one["leg"]): one for one in measured["stages"]}
    paces = list(dict.fromkeys(one["pace"] for one in measured["stages"]))
    yield _table(
        ("requests", *legs.values()),
        ((pace, *(_stage(found.get((pace, leg))) for leg in legs)) for pace in paces),
    )


def _stage(one: Mapping[str, Any] | None) -> str:
    return f"{one['us']:.0f} ({one['low']:.0f}–{one['high']:.0f}; {one['n']})" if one else ""


def _interval(one: Mapping[str, Any]) -> str:
    if one["low"] is None:
        return f"{one['value']:.0f}"
    return f"{one['value']:.0f} ({one['low']:.0f}–{one['high']:.0f})"


def _table(head: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _written(path: Path) -> str:
    """The text written by hand on the existing page."""
    pieces = path.read_text(encoding="utf-8").split(READING) if path.exists() else []
    return pieces[1].strip() if len(pieces) == 3 else ""


# ---- the chart


def chart(anchors: Sequence[Mapping[str, Any]]) -> str:
    """An SVG of the medians with their intervals on a logarithmic axis, and the band that counts as close."""
    values = [
        bound
        for one in anchors
        for kind in (LIVE, SIMULATED)
        for bound in (one[kind]["p50"]["value"], one[kind]["p50"]["low"], one[kind]["p50"]["high"])
        if bound
    ]
    low, high = min(values) / 1.5, max(values) * 1.5
    height = TOP + ROW * len(anchors) + BOTTOM

    def x(us: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (log10(us) - log10(low)) / (log10(high) - log10(low))

    ticks = [step * 10**power for power in range(1, 6) for step in (1, 2, 5) if low <= step * 10**power <= high]
    floor = height - BOTTOM
    lines = [
        f'<line x1="{x(us):.1f}" x2="{x(us):.1f}" y1="{TOP}" y2="{floor}" stroke="#ddd"/>'
        f'<text x="{x(us):.1f}" y="{floor + 18}" text-anchor="middle">{us:,}</text>'
        for us in ticks
    ]
    rows = [part for row, one in enumerate(anchors) for part in _row(one, TOP + ROW * row + ROW / 2, x)]
    middle = (LEFT + WIDTH - RIGHT) / 2
    legend = (
        f'<circle cx="{LEFT + 8}" cy="18" r="5" fill="#1b6ca8"/><text x="{LEFT + 20}" y="22">live</text>'
        f'<circle cx="{LEFT + 78}" cy="18" r="5" fill="#fff" stroke="#c8501e" stroke-width="2"/>'
        f'<text x="{LEFT + 90}" y="22">simulated</text>'
        f'<rect x="{LEFT + 170}" y="10" width="22" height="16" fill="#1b6ca8" opacity="0.12"/>'
        f'<text x="{LEFT + 200}" y="22">live median ± {100 * CLOSE:.0f} %</text>'
    )
    axis = f'<text x="{middle}" y="{height - 8}" text-anchor="middle">median response time, µs (logarithmic)</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="#fff"/>'
        f"{legend}{''.join(lines)}{''.join(rows)}{axis}</svg>\n"
    )


def _row(one: Mapping[str, Any], y: float, x: Any) -> Iterator[str]:
    live = one[LIVE]["p50"]["value"]
    left, right = x(live * (1 - CLOSE)), x(live * (1 + CLOSE))
    yield f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(one["anchor"])}</text>'
    yield (f'<rect x="{left:.1f}" y="{y - 18}" width="{right - left:.1f}" height="36" fill="#1b6ca8" opacity="0.12"/>')
    for kind, place, fill, stroke in ((LIVE, y - 7, "#1b6ca8", "#1b6ca8"), (SIMULATED, y + 7, "#fff", "#c8501e")):
        found = one[kind]["p50"]
        if found["low"] is not None:
            yield (
                f'<line x1="{x(found["low"]):.1f}" x2="{x(found["high"]):.1f}" y1="{place}" y2="{place}" '
                f'stroke="{stroke}" stroke-width="2"/>'
            )
        at = x(found["value"])
        yield f'<circle cx="{at:.1f}" cy="{place}" r="5" fill="{fill}" stroke="{stroke}" stroke-width="2"/>'
