"""The duration of measuring, and when its phases were. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from overlay.deployment.phases import DRAINING, FAILED, MEASURING, STOPPED, STOPPING
from overlay.journal.facts import Event

AFTER_MEASURING = (DRAINING, STOPPING, STOPPED, FAILED)
"""Phases that end measuring."""


def measured_us(manifest: Mapping[str, Any], events: Iterable[Event] = ()) -> int | None:
    """The duration of measuring: that of the workload, or until the run was stopped; ``None`` if unknown.

    Rates are divided by it. The wait for the last answers is not included. For a collected run it is in the
    manifest.
    """
    if (collected := (manifest.get("summary") or {}).get("measured_us")) is not None:
        return int(collected)
    planned = manifest.get("schedule") or manifest.get("workload") or {}  # early manifests have no schedule
    planned_us = None if planned.get("duration_s") is None else round(planned["duration_s"] * 1e6)
    told = _phases(events)
    began_us = began(events, MEASURING)
    end = next((event for event in told if event.detail.get("phase") in AFTER_MEASURING), None)
    if began_us is None or end is None or (end.detail["phase"] == DRAINING and planned_us is not None):
        return planned_us
    until_us = max(0, end.at_us - began_us)
    return until_us if planned_us is None else min(planned_us, until_us)


def measuring_phase(events: Iterable[Event]) -> tuple[int, int]:
    """The start and the end of measuring, or the last reported phase, microseconds; (0, 0) if unknown."""
    told = _phases(events)
    begin_us = began(told, MEASURING)
    if begin_us is None:
        return 0, 0
    ends = [event.at_us for event in told if event.detail.get("phase") in AFTER_MEASURING and event.at_us >= begin_us]
    return begin_us, min(ends, default=told[-1].at_us)


def began(events: Iterable[Event], phase: str) -> int | None:
    """When a phase began, microseconds; ``None`` if no event says so."""
    return next((event.at_us for event in _phases(events) if event.detail.get("phase") == phase), None)


def _phases(events: Iterable[Event]) -> list[Event]:
    return sorted((event for event in events if event.name == "phase"), key=lambda event: event.at_us)
