"""What a run's row has of a summary that a story tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.systems.registry import FIRST
from telemetry.measures import figures_in
from telemetry.systems.registry import measures_of


def summed_up(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of ``Run``, as collecting writes them."""
    return {"summary": dict(summary), "figures": figures_in(summary, measures_of(FIRST).values())}
