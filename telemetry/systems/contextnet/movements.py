"""Where the nodes of a run drove, and the messages to their regions, in a window of time: what a map shows.

All is as clients reported it: a node is where its last context says until the next one, and a message to a region goes
to the nodes that received it. Nothing is interpolated. Times are µs since the zero of the deployment, places km.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from overlay.systems.contextnet.names import NODE
from overlay.systems.contextnet.system import SYSTEM
from telemetry.lake.records import own_table
from telemetry.lake.runs import Lake

MOST_NODES = 100
"""The first so many are shown."""
WINDOW_S = 60
MOST_PLACES, MOST_CASTS = 10_000, 1_000
"""In a window; later ones are left out."""
SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Place:
    at_us: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Track:
    """A node and its places, the first from before the window."""

    node: int
    places: Sequence[Place]


@dataclass(frozen=True, slots=True)
class Receipt:
    node: int
    received_us: int


@dataclass(frozen=True, slots=True)
class RegionCast:
    """A message to a region."""

    id: str
    region: int
    due_us: int
    received: Sequence[Receipt]
    """By the nodes that are shown, chronological."""


@dataclass(frozen=True, slots=True)
class Movements:
    begin_us: int
    """Of measuring; ``end_us``: its end."""
    end_us: int
    from_us: int
    """The window."""
    until_us: int
    nodes: Sequence[Track]
    casts: Sequence[RegionCast]
    left_out: int
    """Places and messages beyond the limits."""


def movements(lake: Lake, run: str, from_s: float = 0.0) -> Movements | None:
    """``from_s``: where the window begins, after the start of measuring. ``None`` before the run is collected, and
    without its places."""
    places_path = lake.part(own_table(SYSTEM.name, "places"), run)
    if not lake.holds(run) or not places_path.is_file():
        return None
    phases = [
        (json.loads(one["detail"])["phase"], one["at_us"]) for one in _rows(lake, run, "events", "name", "=", "phase")
    ]
    begin_us = min((at for phase, at in phases if phase == "measuring"), default=0)
    end_us = min((at for phase, at in phases if phase != "measuring" and at > begin_us), default=begin_us)
    from_us = min(begin_us + round(from_s * SECOND), max(begin_us, end_us - 1))
    until_us = min(from_us + WINDOW_S * SECOND, end_us)
    tracks, places_left = _tracks(_own(lake, run, "places", "set_us", "<", until_us), from_us)
    casts, casts_left = _casts(lake, run, from_us, until_us)
    return Movements(begin_us, end_us, from_us, until_us, tracks, casts, places_left + casts_left)


def _tracks(rows: Sequence[dict[str, Any]], from_us: int) -> tuple[list[Track], int]:
    found: dict[int, list[Place]] = defaultdict(list)
    kept = left_out = 0
    for row in sorted(rows, key=lambda row: row["set_us"]):
        if row["node"] >= MOST_NODES:
            continue
        known = found[row["node"]]
        if known and row["set_us"] <= from_us:
            known.clear()
        elif kept >= MOST_PLACES:
            left_out += 1
            continue
        kept += row["set_us"] > from_us
        known.append(Place(row["set_us"], row["x"], row["y"]))
    return [Track(node, found[node]) for node in sorted(found)], left_out


def _casts(lake: Lake, run: str, from_us: int, until_us: int) -> tuple[list[RegionCast], int]:
    rows = [
        row
        for row in _own(lake, run, "casts", "due_us", ">=", from_us)
        if row["due_us"] < until_us and not row["definer"]
    ]
    rows.sort(key=lambda row: row["due_us"])
    shown = rows[:MOST_CASTS]
    received: dict[str, list[Receipt]] = defaultdict(list)
    for one in _rows(lake, run, "deliveries", "publication", "in", [row["id"] for row in shown]) if shown else []:
        if one["role"] == NODE and one["client"] < MOST_NODES and one["copy"] == 1:
            received[one["publication"]].append(Receipt(one["client"], one["received_us"]))
    return [
        RegionCast(row["id"], row["group"], row["due_us"], sorted(received[row["id"]], key=lambda one: one.received_us))
        for row in shown
    ], len(rows) - len(shown)


def _own(lake: Lake, run: str, table: str, *condition: Any) -> list[dict[str, Any]]:
    return _rows(lake, run, own_table(SYSTEM.name, table), *condition)


def _rows(lake: Lake, run: str, table: str, *condition: Any) -> list[dict[str, Any]]:
    path = lake.part(table, run)
    return list(pq.read_table(path, partitioning=None, filters=[condition]).to_pylist()) if path.is_file() else []
