"""The accuracy of simulated response times with the current model, read from the document that ``page`` writes.

Counterparts: ``command`` measures and writes; ``overlay.runtime.calibrated`` selects the model, either this machine's
or the reference model in the repository. Each has residuals; those of the reference are next to this file.
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
"""The fields that identify a calibration."""
_MACHINE = ("processor", "usable_cores")
"""The fields that identify a machine."""

Interval = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Compared:
    """One configuration, live and simulated: median and 95th percentile as intervals over runs, microseconds."""

    name: str
    question: str
    live: Mapping[str, Interval]
    simulated: Mapping[str, Interval]
    off: Interval
    """The difference of the simulated median as a share of the live one; the interval is over runs, paired by seed."""
    is_close: bool


@dataclass(frozen=True, slots=True)
class Trust:
    """The current calibration and its accuracy."""

    is_own: bool
    """Whether it was measured by ``make calibrate`` here; otherwise it is the reference."""
    measured: Mapping[str, Any]
    """Its provenance: ``date name rounds machine code``."""
    close: float
    """A simulated median within this share of the live one counts as close."""
    anchors: Sequence[Compared]
    """Empty if this calibration was not compared with live runs."""
    growth: Sequence[Compared]
    """For a central broker, with a linear table and with an indexed one."""

    @property
    def rows(self) -> list[Compared]:
        """All configurations that were compared with live runs."""
        return [*self.anchors, *self.growth]

    @property
    def near(self) -> list[Compared]:
        return [one for one in self.rows if one.is_close]

    @property
    def wrong(self) -> list[Compared]:
        """Those that are not close."""
        return [one for one in self.rows if not one.is_close]

    def age_days(self, today: date) -> int:
        """The time since it was measured."""
        return max(0, (today - date.fromisoformat(str(self.measured["date"])[:10])).days)

    def differs_from(self, machine: Mapping[str, Any]) -> bool:
        """Whether it was measured on another machine than ``machine``, given as in ``telemetry.lake.manifest``."""
        measured = self.measured["machine"]
        return any(measured.get(name) != machine.get(name) for name in _MACHINE if name in measured)


def trust(var: Path) -> Trust:
    """The accuracy of the current model. Raises ``InvalidSetting`` or ``TelemetryError`` if a file is damaged."""
    model = stored_services(var)
    is_own = (var / FILE).exists()
    document = _document(residuals_path(var / FILE if is_own else REFERENCE))
    known = document.get("measured") or {}
    if any(known.get(name) != model.measured.get(name) for name in _SAME):
        document = {}  # residuals of another calibration
    rows = [_compared(row) for row in document.get("anchors", ())]
    return Trust(
        is_own,
        model.measured,
        document.get("close", CLOSE),
        [row for row in rows if not row.question],
        [row for row in rows if row.question],
    )


def chart_of(rows: Sequence[Compared]) -> Chart:
    """A chart of the medians with their intervals."""

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
    return {**made, "told": True}  # labels under the axis are slanted if they do not fit


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
