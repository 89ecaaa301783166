"""The gateways of a run over time, from their ticks, and the rounds of its PoA manager. Times are µs since the zero of
the deployment."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from overlay.core.processes import role_of
from overlay.systems.contextnet.names import GATEWAY
from overlay.systems.contextnet.system import SYSTEM
from telemetry.lake.records import own_table
from telemetry.lake.runs import Lake

MOST_POINTS = 600
"""Of a gateway."""
SHOWN = ("connections", "pool_used", "parked", "log_lag_ms", "is_busy", "is_draining")
"""Gauges of a gateway."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A gateway at a tick."""

    at_us: int
    connections: int
    pool_used: int
    parked: int
    log_lag_ms: int
    is_busy: int
    is_draining: int


@dataclass(frozen=True, slots=True)
class Seat:
    """A gateway in a round: as ``overlay.systems.contextnet.rows.Round``."""

    gateway: int
    nodes: int
    wanted: int | None
    score: float
    given: int
    taken: int
    is_draining: bool


@dataclass(frozen=True, slots=True)
class Round:
    number: int
    at_us: int
    manager: str
    budget: int
    seats: Sequence[Seat]

    @property
    def moves(self) -> int:
        return sum(one.given for one in self.seats)


@dataclass(frozen=True, slots=True)
class Gateways:
    begin_us: int
    """Of measuring; ``end_us``: its end."""
    end_us: int
    moments: Mapping[int, Sequence[Moment]]
    """By the index of the gateway, all, chronological."""
    rounds: Sequence[Round]

    def thinned(self, gateway: int) -> Sequence[Moment]:
        """At most ``MOST_POINTS``, each with the most of those that it stands for, but for its time and nodes."""
        found = self.moments[gateway]
        step = -(-len(found) // MOST_POINTS)
        return found if step <= 1 else [_most(found[at : at + step]) for at in range(0, len(found), step)]


def gateways(lake: Lake, run: str) -> Gateways | None:
    """``None`` before the run is collected."""
    if not lake.holds(run):
        return None
    phases = _rows(lake, run, "events", [("name", "=", "phase")])
    begin_us, end_us = _measuring((json.loads(one["detail"])["phase"], one["at_us"]) for one in phases)
    moments: dict[int, list[Moment]] = defaultdict(list)
    for row in sorted(_rows(lake, run, "ticks", []), key=lambda row: row["at_us"]):
        if role_of(row["process"]) == GATEWAY:
            known = dict(row["counters"])
            moments[_index(row["process"])].append(Moment(row["at_us"], *(known.get(name, 0) for name in SHOWN)))
    rounds = _rounds(_rows(lake, run, own_table(SYSTEM.name, "rounds"), []))
    return Gateways(begin_us, end_us, dict(sorted(moments.items())), rounds)


def _measuring(phases: Iterable[tuple[str, int]]) -> tuple[int, int]:
    found = list(phases)
    begin = min((at for phase, at in found if phase == "measuring"), default=0)
    return begin, min((at for phase, at in found if phase != "measuring" and at > begin), default=begin)


def _rounds(rows: Sequence[Mapping[str, Any]]) -> list[Round]:
    """Chronological. Another manager counts rounds from 1 again."""
    by_round: dict[tuple[int, str, int], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_round[row["at_us"], row["process"], row["number"]].append(row)
    return [
        Round(number, at_us, manager, found[0]["budget"], sorted(map(_seat, found), key=lambda one: one.gateway))
        for (at_us, manager, number), found in sorted(by_round.items())
    ]


def _seat(row: Mapping[str, Any]) -> Seat:
    return Seat(*(row[name] for name in Seat.__dataclass_fields__))


def _most(several: Sequence[Moment]) -> Moment:
    last = several[-1]
    greatest = (max(getattr(one, name) for one in several) for name in SHOWN[1:])
    return Moment(last.at_us, last.connections, *greatest)


def _index(process: str) -> int:
    return int(process.rpartition("-")[2])


def _rows(lake: Lake, run: str, table: str, filters: list[Any]) -> list[dict[str, Any]]:
    path = lake.part(table, run)
    return list(pq.read_table(path, partitioning=None, filters=filters or None).to_pylist()) if path.is_file() else []
