"""The gateways of a run, for its pages and for REST."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from telemetry.lake.runs import Lake
from telemetry.systems.contextnet.gateways import Gateways, Round, gateways


def found(run: Run) -> Gateways | None:
    return gateways(Lake(settings.LAKE), run.pk)


def rows(one: Gateways) -> list[dict[str, Any]]:
    """A row for each gateway: nodes at the end of measuring, its share in the last round, and what it gave and took."""
    last = one.rounds[-1] if one.rounds else None
    return [_row(one, gateway, last) for gateway in one.moments]


def _row(one: Gateways, gateway: int, last: Round | None) -> dict[str, Any]:
    measured = [moment for moment in one.moments[gateway] if one.begin_us <= moment.at_us <= one.end_us]
    seats = [seat for round_ in one.rounds for seat in round_.seats if seat.gateway == gateway]
    is_there = last is not None and any(seat is seats[-1] for seat in last.seats) if seats else False
    return {
        "gateway": gateway,
        "nodes": measured[-1].connections if measured else None,
        "most_nodes": max((moment.connections for moment in measured), default=None),
        "wanted": seats[-1].wanted if is_there else None,
        "score": seats[-1].score if is_there else None,
        "given": sum(seat.given for seat in seats),
        "taken": sum(seat.taken for seat in seats),
        "most_lag_ms": max((moment.log_lag_ms for moment in measured), default=None),
        "busy": sum(moment.is_busy for moment in measured) / len(measured) if measured else None,
    }


def body(one: Gateways) -> dict[str, Any]:
    """As JSON."""
    return {
        "begin_us": one.begin_us,
        "end_us": one.end_us,
        "gateways": [{**row, "moments": one.thinned(row["gateway"])} for row in rows(one)],
        "rounds": one.rounds,
    }


def newest(rounds: Sequence[Round], most: int, *, only_moves: bool) -> list[Round]:
    """The last rounds, the newest first."""
    chosen = [one for one in rounds if one.moves] if only_moves else rounds
    return list(reversed(chosen[-most:]))
