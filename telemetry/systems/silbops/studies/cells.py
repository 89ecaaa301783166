"""The runs of seed 002's studies by what the presets vary. A cell is one configuration: a run of each seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from overlay.systems.silbops.names import SIENA, SILBOPS
from overlay.systems.silbops.profiles import IMPROVED, SEED
from telemetry.studies.study import Row, Rows

DEFINITIONS = Path(__file__).parent / "definitions"
WRITTEN = "2026-11-29, from the paper's words and numbers; a prototype's figures were known, no run of this study"
IN_PROCESS = (
    "All values are processor time of one broker's tables in one process, which gets decoded messages; of one machine, "
    "so that only ratios compare with the paper's."
)
ARMS = (SILBOPS, SIENA)
PROFILES: Mapping[str, str] = {SEED: "by counting, as published", IMPROVED: "by the rarest equality"}
"""Of the index that finds subscriptions."""
ANY = float("inf")
CHANGE, NOTIFICATION = "change_core", "notification_core"


def only(rows: Rows) -> Row:
    """Raises ``KeyError``."""
    if len(rows) != 1:
        raise KeyError(f"{len(rows)} runs")
    return rows[0]


def by(rows: Iterable[Row], name: str, measure: str) -> dict[Any, float]:
    """A measure by a field of which each run has another value, in its order. Raises ``KeyError``."""
    found = {row.get(name): row.measures[measure] for row in rows}
    if not found:
        raise KeyError(measure)
    return dict(sorted(found.items()))
