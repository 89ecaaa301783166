"""The accuracy of simulated response times of one system with the current model, read from its residuals.

Counterparts: ``residuals`` reads the document; ``overlay.runtime.calibrated`` selects the model, either this machine's
or the reference model in the repository. Each has residuals; those of the reference are next to this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from overlay.core.service_times import ServiceModel
from overlay.runtime.calibrated import FILE, REFERENCE, own_calibration, stored_services
from overlay.systems.contract import System
from telemetry.calibration.anchors import CLOSE, compared_again
from telemetry.calibration.page import LIVE, SIMULATED
from telemetry.calibration.residuals import Part, read_residuals, residuals_path
from telemetry.charts.charts import Chart, axis, chart, estimate, series
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
    """The current calibration of a system and its accuracy."""

    system: str
    is_own: bool
    """Whether it was measured by ``make calibrate`` here; otherwise it is the reference."""
    model: ServiceModel
    close: float
    """A simulated median within this share of the live one counts as close."""
    anchors: Sequence[Compared]
    """Empty if this calibration was not compared with live runs."""
    growth: Sequence[Compared]
    """For a central broker, with a linear table and with an indexed one."""

    @property
    def measured(self) -> Mapping[str, Any]:
        """Its provenance: ``date name rounds machine code``; empty if nothing was measured."""
        return self.model.measured

    @property
    def unmeasured(self) -> Sequence[str]:
        """The roles and units of work that have no measured costs."""
        return self.model.unmeasured

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

    def age_days(self, today: date) -> int | None:
        """The time since it was measured; ``None`` if nothing was."""
        if not self.measured:
            return None
        return max(0, (today - date.fromisoformat(str(self.measured["date"])[:10])).days)

    def differs_from(self, machine: Mapping[str, Any]) -> bool:
        """Whether it was measured on another machine than ``machine``, given as in ``telemetry.lake.manifest``."""
        measured = self.measured.get("machine", {})
        return any(measured.get(name) != machine.get(name) for name in _MACHINE if name in measured)


def trust(var: Path, system: System) -> Trust:
    """The accuracy of the current model of ``system``. Raises ``InvalidSetting`` or ``TelemetryError`` if a file is
    damaged.
    """
    model = stored_services(var, system)
    is_own = system.name in own_calibration(var).systems
    part: Part = read_residuals(residuals_path(var / FILE if is_own else REFERENCE)).get(system.name, {})
    known = part.get("measured") or {}
    if any(known.get(name) != model.measured.get(name) for name in _SAME):
        part = {}  # residuals of another calibration
    rows = [_compared(row) for row in part.get("anchors", ())]
    return Trust(
        system.name,
        is_own,
        model,
        part.get("close", CLOSE),
        [row for row in rows if not row.question],
        [row for row in rows if row.question],
    )


def chart_of(rows: Sequence[Compared], compared: str) -> Chart:
    """A chart of the medians with their intervals; ``compared`` as ``Plan.compared``."""

    def points(which: str) -> list[dict[str, Any]]:
        return [estimate(at, getattr(row, which)["p50"]) for at, row in enumerate(rows)]

    made = chart(
        "calibration",
        f"Median {compared}, live and simulated, by configuration",
        axis("Configuration", categories=[row.name for row in rows]),
        axis(f"Median {compared}", "µs", log=True),
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
