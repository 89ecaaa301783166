"""The draws of each place, summed up by topology, and live runs compared with virtual time."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from telemetry.statistics.intervals import COUNT, SHARE, between, interval
from telemetry.systems.context_broker.lab.draws import Draw
from telemetry.systems.context_broker.search_table.draws import LIVE, VIRTUAL, Place, Row

SUCCESS = "success"
METRICS: dict[str, tuple[str, Callable[[Draw], float | None]]] = {
    SUCCESS: ("answered, % of queries", lambda draw: 100 * draw.answered / draw.queries),
    "messages": ("requests and lookaheads between brokers per query", lambda draw: draw.messages / draw.queries),
    "datagrams": ("all datagrams between brokers per query", lambda draw: draw.datagrams / draw.queries),
    "hops": (
        "hops from the broker asked to the data, of answered queries",
        lambda draw: draw.hops / draw.answered if draw.answered else None,
    ),
    "latency": (
        "ms to the answer, of answered queries",
        lambda draw: draw.latency_ms / draw.answered if draw.answered else None,
    ),
}
"""By name: what it is, and its value for one draw; ``None`` where it has none."""

Summary = dict[Place, dict[str, dict[str, Any]]]
_ROUNDING = 1e-9
COUNTS = ("seeds", "queries", "answered", "not_found", "lost", "most_messages", "longest")


def summarise(rows: Sequence[Row]) -> Summary:
    """Of each place, each metric's mean over the draws with its interval; and ``counts``, sums over them."""
    return {place: _summary(list(draws.values())) for place, draws in _by_place(rows).items()}


def _by_place(rows: Sequence[Row]) -> dict[Place, dict[int, Draw]]:
    """The draws of each place by their seeds, in order."""
    draws: dict[Place, dict[int, Draw]] = {}
    for row in sorted(rows, key=lambda row: row.task.seed):
        draws.setdefault(row.task.place(row.holders), {})[row.task.seed] = row.draw
    return draws


def _summary(draws: Sequence[Draw]) -> dict[str, dict[str, Any]]:
    found = {name: _interval(name, draws) for name in METRICS}
    counts = {name: sum(getattr(draw, name) for draw in draws) for name in ("queries", "answered", "not_found", "lost")}
    most = {name: max(getattr(draw, name) for draw in draws) for name in ("most_messages", "longest")}
    return {**found, "counts": {"seeds": len(draws), **counts, **most}}


def _interval(name: str, draws: Sequence[Draw]) -> dict[str, Any]:
    """Costs add up over queries, so it is their mean that counts, and not the geometric one."""
    values = [METRICS[name][1](draw) for draw in draws]
    if name != SUCCESS:
        return interval(values, COUNT)
    return interval(values, SHARE, requests=[draw.queries for draw in draws], most=100)


def figure(found: Mapping[str, Any]) -> str:
    """A mean and half the width of its interval, to the precision that the latter allows."""
    if found["value"] is None:
        return "–"
    if found["low"] is None:
        return f"{found['value']:.3g}"
    half = (found["high"] - found["low"]) / 2
    digits = 0 if half >= 2 or found["value"] >= 1000 else 1 if half >= 0.1 or found["value"] >= 10 else 2
    return f"{found['value']:.{digits}f} ± {half:.{digits}f}" if half else f"{found['value']:.{digits}f}"


def write_csv(summary: Summary, path: Path) -> None:
    """Every figure with both ends of its interval."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        ends = [f"{name}{end}" for name in METRICS for end in ("", "_low", "_high")]
        writer.writerow(["brokers", "holders", "topology", "strategy", "engine", *ends, *COUNTS])
        for place, found in summary.items():
            figures = [_plain(found[name][end]) for name in METRICS for end in ("value", "low", "high")]
            writer.writerow([*asdict(place).values(), *figures, *(found["counts"][name] for name in COUNTS)])


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


# ---- live compared with virtual time


@dataclass(frozen=True, slots=True)
class Difference:
    """Of one metric in one place: live minus virtual, paired by the seed, which is the topology and who asks whom."""

    place: Place
    metric: str
    virtual: float
    live: float
    found: dict[str, Any]
    """The interval of the mean difference."""

    @property
    def agrees(self) -> bool:
        """Whether the interval has 0 in it, which one in twenty has not by chance alone; of one topology, its value."""
        low, high = (self.found[end] if self.found["n"] > 1 else self.found["value"] for end in ("low", "high"))
        return bool(low <= _ROUNDING and high >= -_ROUNDING)


def differences(rows: Sequence[Row]) -> Iterator[Difference]:
    """Of every place that both engines have measured, each metric that both have a value of."""
    draws = _by_place(rows)
    for place in draws:
        twin = replace(place, engine=VIRTUAL)
        if place.engine != LIVE or twin not in draws:
            continue
        pairs = [(draws[twin][seed], draws[place][seed]) for seed in draws[place] if seed in draws[twin]]
        for name, (_, value) in METRICS.items():
            both = [pair for pair in pairs if value(pair[0]) is not None and value(pair[1]) is not None]
            if both:
                yield _difference(place, name, both)


def _difference(place: Place, name: str, pairs: Sequence[tuple[Draw, Draw]]) -> Difference:
    value = METRICS[name][1]
    virtual, live = ([value(draw) or 0.0 for draw in draws] for draws in zip(*pairs, strict=True))
    if name == SUCCESS:
        virtual_made, live_made = ([draw.queries for draw in draws] for draws in zip(*pairs, strict=True))
        found = between(live, virtual, SHARE, is_paired=True, requests=(live_made, virtual_made), most=100)
    else:
        found = between(live, virtual, COUNT, is_paired=True)
    return Difference(place, name, fmean(virtual), fmean(live), found._asdict())
