"""A run next to the one that differs in its arm alone: measures in two columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brokerweb.experiments.models import Run
from brokerweb.systems.silbops.pairs import other_arm
from overlay.systems.silbops.names import SIENA, SILBOPS
from overlay.systems.silbops.system import SYSTEM
from telemetry.measures import Measure
from telemetry.systems.registry import measures_of

SHOWN = (
    *("publications", "due", "deliveries", "lost", "lost_fault", "lost_kept", "spurious", "duplicates", "repeats"),
    *("latency_mean", "latency_p95", "context_changes", "messages_per_change", "change_effective_mean"),
    *("change_core", "notification_core", "rows", "rows_forwarded", "candidates_per_publication"),
)
"""Measures, in the order of what happens: publications, changes, and what they cost."""
NAMES = {SILBOPS: "SilboPS", SIENA: "SIENA"}


def shown(run: Run) -> Mapping[str, Any]:
    """``{arm, other_arm, other, rows}``; ``rows``: ``{measure, value, other}``, values in words."""
    other = other_arm(run) if run.figures else None
    arm = _arm(run)
    known = measures_of(SYSTEM.name)
    return {
        "arm": NAMES[arm],
        "other_arm": NAMES[SIENA if arm == SILBOPS else SILBOPS],
        "other": other,
        "rows": [_row(known[name], run, other) for name in SHOWN] if run.figures else (),
    }


def _row(measure: Measure, run: Run, other: Run | None) -> dict[str, Any]:
    return {
        "measure": measure,
        "value": measure.text(run.figures.get(measure.key)),
        "other": "" if other is None else measure.text(other.figures.get(measure.key)),
    }


def _arm(run: Run) -> str:
    return str(SYSTEM.whole(run.configuration["settings"])["arm"])
