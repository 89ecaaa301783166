"""Series of charts whose x is the configurations of a report. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overlay.core.engines import SIMULATED
from telemetry.charts.charts import Series, estimate, series

Row = Mapping[str, Any]


def role(row: Row) -> str:
    """``simulated``, ``shaped`` or ``measured``."""
    if row["engine"] == SIMULATED:
        return "simulated"
    return "shaped" if row["topology"]["shaped"] else "measured"


def of_engine(
    rows: Sequence[Row], engine: str, word: str, part: str, name: str, *, scale: float = 1.0, metric: str = ""
) -> Series:
    """The interval ``name`` in a ``part`` of the configurations of one engine, as far as they have it.

    What is modelled is another series than what was measured.
    """
    of_it = [(x, row) for x, row in enumerate(rows) if part in row and row["engine"] == engine]
    points = [estimate(x, row[part][name], scale) for x, row in of_it]
    kind = "shaped" if any(row["topology"]["shaped"] for _, row in of_it) else "measured"
    if engine == SIMULATED:
        kind, word = SIMULATED, f"{word}, simulated"
    return series(word, kind, "", [one for one in points if one["y"] is not None], line=False, metric=metric)
