"""Table B.1 of the thesis: 243 configurations of ten brokers, three of four, five of one. Each was measured once.

``reference/thesis_table_b1.csv`` was checked twice against the scan; a row whose ``note`` is not empty is damaged or
incomplete there. Such a row is shown, and left out of every mean.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import log
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent / "reference" / "thesis_table_b1.csv"

OUR_NAME = {"ring": "ring", "full-mesh": "full-mesh", "moderate": "waxman", "centralized": "central"}
"""The thesis' topologies under the names of ``overlay.topologies``."""

FACTORS = ("providers", "consumers", "update_interval_s", "request_interval_s")


@dataclass(frozen=True, slots=True)
class Published:
    """One row. Values that the scan lost are ``None``.

    The thesis does not say what its kB is; it is read as 1000 bytes, like every kB here. If it copied them from
    ``top``, which writes 1024 bytes so, the published brokers were 2.4 % larger than they are shown.
    """

    config: int
    topology: str
    brokers: int
    providers: int
    consumers: int
    update_interval_s: float
    request_interval_s: float
    response_us: float | None
    memory_kb: float | None
    note: str

    @property
    def is_whole(self) -> bool:
        return not self.note

    def measures(self) -> dict[str, float]:
        """By the names of ``telemetry.measures``, in their units; nothing of a row that is not whole."""
        memory = None if self.memory_kb is None else self.memory_kb * 1000.0
        found = {"mean": self.response_us, "rss": memory, "uss": memory} if self.is_whole else {}
        return {name: value for name, value in found.items() if value is not None}


@cache
def table_b1() -> tuple[Published, ...]:
    """The table as printed."""
    with TABLE.open(newline="") as file:
        return tuple(_row(row) for row in csv.DictReader(file))


def _row(row: Mapping[str, str]) -> Published:
    return Published(
        config=int(row["config"]),
        topology=OUR_NAME[row["topology"]],
        brokers=int(row["brokers"]),
        providers=int(row["providers"]),
        consumers=int(row["consumers"]),
        update_interval_s=float(row["update_interval_s"]),
        request_interval_s=float(row["request_interval_s"]),
        response_us=float(row["avg_response_us"]) if row["avg_response_us"] else None,
        memory_kb=float(row["avg_memory_kb"]) if row["avg_memory_kb"] else None,
        note=row["note"],
    )


@cache
def _by_factors() -> dict[tuple[Any, ...], Published]:
    return {(row.topology, row.brokers, *(getattr(row, name) for name in FACTORS)): row for row in table_b1()}


def same(kind: str, brokers: int, workload: Mapping[str, Any]) -> Published | None:
    """The row of this very configuration, if the thesis has one."""
    return _by_factors().get((kind, brokers, *(workload.get(name) for name in FACTORS)))


def nearest(kind: str, brokers: int, workload: Mapping[str, Any]) -> tuple[Published, list[str]] | None:
    """The row of the same topology and number of brokers whose workload is nearest, and the factors that differ.

    Near is the sum of the factors' ratios on a log scale: 50 to 100 consumers is as far as 500 to 1000. ``None`` where
    the thesis has no such topology.
    """
    rows = [row for row in table_b1() if (row.topology, row.brokers) == (kind, brokers) and row.response_us]
    if not rows:
        return None
    row = min(rows, key=lambda row: (sum(_distance(row, workload, factor) for factor in FACTORS), row.config))
    return row, [factor for factor in FACTORS if _distance(row, workload, factor) > 0]


def _distance(row: Published, workload: Mapping[str, Any], factor: str) -> float:
    ours = workload.get(factor) or 0
    return abs(log(ours / getattr(row, factor))) if ours > 0 else float(log(1e6))
