"""``python -m telemetry calibrate``: measures systems on this machine, and compares simulated with live runs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from overlay.core.calibration import Calibration
from overlay.core.errors import InvalidSetting
from overlay.runtime.calibrated import FILE, read_calibration
from telemetry.calibration.measuring import FULL, QUICK, measure, origin_of
from telemetry.calibration.page import write_page
from telemetry.calibration.plan import Plan
from telemetry.calibration.residuals import part_of, read_residuals, residuals_path, write_residuals
from telemetry.lake.storage import write_json
from telemetry.systems.registry import all_telemetry


def add_flags(command: ArgumentParser) -> None:
    """Add the flags of ``python -m telemetry calibrate``."""
    command.add_argument(
        "--system", choices=list(plans()), help="measure this system only (default: every system with a calibration)"
    )
    command.add_argument("--quick", action="store_true", help="a third of the time, for wider intervals")
    command.add_argument("--no-anchors", action="store_true", help="only measure; skip the comparison with live runs")
    command.add_argument(
        "--growth", action="store_true", help="also run the configurations that answer a question of their own"
    )
    command.add_argument("--name", default="this machine", help="name of the machine in the output")
    command.add_argument("--model", type=Path, help="the model's file (default: calibration.json in --var)")
    command.add_argument(
        "--page", type=Path, help="write the residuals' page and chart of one system here, as Markdown and SVG"
    )


def plans() -> dict[str, Plan]:
    """The plans of all systems that can be calibrated, by name."""
    found = {telemetry.system.name: telemetry.calibration() for telemetry in all_telemetry()}
    return {name: plan for name, plan in found.items() if plan is not None}


def make(given: Namespace, say: Callable[[str], None], now: datetime) -> Path:
    """Measure, fit, compare and write; returns the model's file. Raises ``WaxwingError`` and leaves the old file."""
    chosen = {name: plan for name, plan in plans().items() if given.system in (None, name)}
    if given.page and len(chosen) != 1:
        raise InvalidSetting("--page", f"is of one system; choose it with --system: {', '.join(chosen)}")
    path: Path = given.model or given.var / FILE
    for name, plan in chosen.items():
        _calibrate(name, plan, path, given, say, now)
    return path


def _calibrate(name: str, plan: Plan, path: Path, given: Namespace, say: Callable[[str], None], now: datetime) -> None:
    systems = {telemetry.system.name: telemetry.system for telemetry in all_telemetry()}
    known = read_calibration(path) if path.exists() else Calibration({})
    residuals = read_residuals(residuals_path(path))
    effort = QUICK if given.quick else FULL
    anchors = () if given.no_anchors else (*plan.anchors, *(plan.more_anchors if given.growth else ()))
    found, compared = measure(systems[name], plan, known, anchors, effort, origin_of(given.name, effort, now), say)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, found.to_json())
    if compared:
        part = part_of(compared, found.systems[name], plan.labels)
        write_residuals(residuals_path(path), {**residuals, name: part})
        if given.page:
            write_page(given.page, part)
