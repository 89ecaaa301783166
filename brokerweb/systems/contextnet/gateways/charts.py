"""The charts of gateways over time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from telemetry.charts.charts import Chart, Series, axis, chart, point, series
from telemetry.systems.contextnet.gateways import Gateways, Moment, Seat

X = axis("Since the start of measuring", "s")
SECOND = 1_000_000


def drawn(one: Gateways, role: str) -> list[Chart]:
    """``role``: ``measured`` or ``simulated``, as in ``telemetry.charts.charts``."""
    charts = [
        _over_time(one, role, "nodes", "Nodes by gateway", axis("Nodes", zero=True), lambda at: at.connections),
        _of_rounds(one, role, "wanted", "Ideal number of nodes, by round", axis("Nodes", zero=True), _wanted),
        _of_rounds(one, role, "scores", "Score by round: higher is lighter", axis("Score", zero=True), _score),
        _of_rounds(one, role, "moves", "Nodes told to move away, by round", axis("Nodes", zero=True), _given),
        _over_time(one, role, "under-way", "Records under way, by gateway", axis("Records", zero=True), _under_way),
        _over_time(
            one, role, "lag", "Lag of the log, by gateway", axis("Lag", "ms", zero=True), lambda at: at.log_lag_ms
        ),
    ]
    return [found for found in charts if found["series"]]


def _over_time(one: Gateways, role: str, name: str, title: str, y: Any, value: Callable[[Moment], float]) -> Chart:
    return chart(name, title, X, y, [_line(one, role, gateway, one.thinned(gateway), value) for gateway in one.moments])


def _line(
    one: Gateways, role: str, gateway: int, moments: Sequence[Moment], value: Callable[[Moment], float]
) -> Series:
    return _series(role, gateway, [point((at.at_us - one.begin_us) / SECOND, value(at)) for at in moments])


def _of_rounds(one: Gateways, role: str, name: str, title: str, y: Any, value: Callable[[Seat], float | None]) -> Chart:
    points: dict[int, list[dict[str, Any]]] = {gateway: [] for gateway in one.moments}
    for round_ in one.rounds:
        for seat in round_.seats:
            found = point((round_.at_us - one.begin_us) / SECOND, value(seat))
            points.setdefault(seat.gateway, []).append(found)
    known = {gateway: some for gateway, some in points.items() if any(at["y"] is not None for at in some)}
    return chart(name, title, X, y, [_series(role, gateway, some) for gateway, some in known.items()])


def _series(role: str, gateway: int, points: Sequence[dict[str, Any]]) -> Series:
    return series(f"gateway {gateway}", role, "", points)


def _wanted(seat: Seat) -> float | None:
    return seat.wanted


def _score(seat: Seat) -> float:
    return seat.score


def _given(seat: Seat) -> float:
    return seat.given


def _under_way(at: Moment) -> float:
    return at.pool_used + at.parked
