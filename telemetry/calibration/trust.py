"""How far simulated response times may be believed with the model that is in use: what ``page`` wrote, read again.

Counterparts: ``command`` measures and writes; ``overlay.runtime.calibrated`` says which model is in use, a machine's
own or the reference that comes with the code. Each has its residuals: those of the reference are beside this file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from overlay.runtime.calibrated import FILE, REFERENCE, stored_services
from telemetry.calibration.anchors import CLOSE, compared_again
from telemetry.calibration.page import LIVE, SIMULATED, residuals_path
from telemetry.charts.charts import Chart, axis, chart, estimate, series
from telemetry.errors import TelemetryError
from telemetry.statistics.intervals import interval

_SAME = ("date", "rounds", "machine", "code")
"""What tells one calibration from another."""
_MACHINE = ("processor", "usable_cores")
"""What makes a machine another one."""

Interval = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Compared:
    """One configuration, live and simulated: median and 95th percentile as intervals over runs, microseconds."""

    name: str
    question: str
    live: Mapping[str, Interval]
    simulated: Mapping[str, Interval]
    off: Interval
    """By which share the simulated median is away from the live one; its interval is over runs, paired by seed."""
    is_close: bool


@dataclass(frozen=True, slots=True)
class Trust:
    """The calibration in use, and what is known of how far it goes."""

    is_own: bool
    """Whether it was measured by ``make calibrate`` here, and is not the reference."""
    measured: Mapping[str, Any]
    """When, where and by what code: ``date name rounds machine code``."""
    close: float
    """The share of the live median within which a simulated one counts as right."""
    anchors: Sequence[Compared]
    """Empty where this calibration was held against nothing."""
    growth: Sequence[Compared]
    """Of a central broker, with a linear table and an indexed one."""

    @property
    def rows(self) -> list[Compared]:
        """All configurations that were held against live runs."""
        return [*self.anchors, *self.growth]

    @property
    def near(self) -> list[Compared]:
        return [one for one in self.rows if one.is_close]

    @property
    def wrong(self) -> list[Compared]:
        """Those that are not close."""
        return [one for one in self.rows if not one.is_close]

    def age_days(self, today: date) -> int:
        """Since it was measured."""
        return max(0, (today - date.fromisoformat(str(self.measured["date"])[:10])).days)

    def differs_from(self, machine: Mapping[str, Any]) -> bool:
        """Whether it was measured on another machine than ``machine``, as ``telemetry.lake.manifest`` tells of one."""
        measured = self.measured["machine"]
        return any(measured.get(name) != machine.get(name) for name in _MACHINE if name in measured)


def trust(var: Path) -> Trust:
    """Of the model that simulated runs use now. Raises ``InvalidSetting`` or ``TelemetryError`` for what is damaged."""
    model = stored_services(var)
    is_own = (var / FILE).exists()
    document = _document(residuals_path(var / FILE if is_own else REFERENCE))
    known = document.get("measured") or {}
    if any(known.get(name) != model.measured.get(name) for name in _SAME):
        document = {}  # of an earlier calibration: it says nothing of this one
    rows = [_compared(row) for row in document.get("anchors", ())]
    return Trust(
        is_own,
        model.measured,
        document.get("close", CLOSE),
        [row for row in rows if not row.question],
        [row for row in rows if row.question],
    )


def chart_of(rows: Sequence[Compared]) -> Chart:
    """Medians with their intervals, in the shape of all charts."""

    def points(which: str) -> list[dict[str, Any]]:
        return [estimate(at, getattr(row, which)["p50"]) for at, row in enumerate(rows)]

    made = chart(
        "calibration",
        "Median response time, live and simulated, by configuration",
        axis("Configuration", categories=[row.name for row in rows]),
        axis("Median response time", "µs", log=True),
        [
            series("live", "measured", "", points(LIVE), line=False),
            series("simulated", "simulated", "", points(SIMULATED), line=False),
        ],
    )
    return {**made, "told": True}  # names under the axis that have no room stand aslant


def _compared(row: Mapping[str, Any]) -> Compared:
    one = compared_again(row)
    pairs = zip(one.live["p50"]["replicates"], one.simulated["p50"]["replicates"], strict=False)
    ratios = interval([simulated / live for live, simulated in pairs])
    bounds = {name: None if ratios[name] is None else ratios[name] - 1 for name in ("low", "high")}
    return Compared(
        one.anchor, one.question, one.live, one.simulated, {**ratios, "value": one.off, **bounds}, one.is_close
    )


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TelemetryError(f"{path} cannot be read: {error}. Calibrate again, or remove it.") from None
    if not isinstance(document, dict):
        raise TelemetryError(f"{path} is not a JSON object. Calibrate again, or remove it.")
    return document
