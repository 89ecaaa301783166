"""The runs of seed 004's studies by what the presets vary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from telemetry.studies.criteria import Intervals, Shown, in_each
from telemetry.studies.study import Row, Rows, where

DEFINITIONS = Path(__file__).parent / "definitions"
EACH = "; judged by each run since 2026-11-30, when values of runs were known"
"""Before, the interval of their mean decided, although the criterion said otherwise."""
WRITTEN = "2026-11-29, from the paper's words and numbers; a prototype's figures were known, no run of this study"
SIMULATED = (
    "Simulated without service times: links of 2 ms and appends of 0.3 ms take all of the time. Response times are not "
    "the paper's, which are those of its machines."
)


def only(rows: Rows, **wanted: Any) -> Mapping[str, float]:
    """The measures of the run with these fields. Raises ``KeyError``."""
    found: list[Row] = where(rows, **wanted)
    if len(found) != 1:
        raise KeyError(f"{len(found)} runs")
    return found[0].measures


def of_workload(row: Row, *names: str) -> tuple[Any, ...]:
    """Fields of the workload; ``Row.get`` has servers as brokers."""
    return tuple(row.workload[name] for name in names)


def one_at_most_in_each(figures: Intervals) -> tuple[Shown, Shown]:
    """Whether every quantity is at most 1 in each run."""
    found = all(in_each(one, lambda value: value <= 1) for one in figures.values())
    return found, found


def none_in_each(figures: Intervals) -> tuple[Shown, Shown]:
    """Whether every quantity is 0 in each run."""
    found = all(in_each(one, lambda value: value == 0) for one in figures.values())
    return found, found
