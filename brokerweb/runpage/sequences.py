"""Sequence diagrams on pages: what ``templates/parts/sequence.html`` and ``static/js/sequence.js`` take."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from telemetry.charts.sequences import Sequence

STEP_PX, LEAST_PX, AROUND_PX = 20, 80, 60
"""Height of the diagram, reserved so that the page does not jump."""


def drawn(sequence: Sequence, *, since: str, file: str) -> dict[str, Any]:
    """``since``: the zero of its times in words. ``file``: the name of a saved picture."""
    return {
        "sequence": {**asdict(sequence), "since": since, "file": file},
        "sequence_px": max(STEP_PX * sequence.steps, LEAST_PX) + AROUND_PX,
        "left_out": sequence.left_out,
    }
