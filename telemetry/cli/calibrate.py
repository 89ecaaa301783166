"""``python -m telemetry calibrate``: measures systems on this machine, and compares simulated with live runs."""

from __future__ import annotations

import signal
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from overlay.core.calibration import Calibration
from overlay.core.errors import InvalidSetting
from overlay.runtime.calibrated import FILE, read_calibration
from overlay.systems.contract import System
from telemetry.calibration.anchors import Reading
from telemetry.calibration.measuring import FULL, QUICK, assess, measure, origin_of
from telemetry.calibration.page import write_page
from telemetry.calibration.plan import Plan
from telemetry.calibration.residuals import Part, part_of, read_residuals, residuals_path, row_of, write_residuals
from telemetry.collect import collect
from telemetry.errors import TelemetryError
from telemetry.lake.runs import Lake
from telemetry.lake.storage import write_json
from telemetry.systems.registry import all_telemetry, measures_of


def add_flags(command: ArgumentParser) -> None:
    """Add the flags of ``python -m telemetry calibrate``."""
    command.add_argument(
        "--system", choices=list(plans()), help="measure this system only (default: every system with a calibration)"
    )
    command.add_argument("--quick", action="store_true", help="a third of the time, for wider intervals")
    compared = command.add_mutually_exclusive_group()
    compared.add_argument("--no-anchors", action="store_true", help="only measure; skip the comparison with live runs")
    compared.add_argument(
        "--growth", action="store_true", help="also run the configurations that answer a question of their own"
    )
    compared.add_argument(
        "--only-growth", action="store_true", help="run only these, with the costs that are known, and measure none"
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


def reading_of(plan: Plan, system: System) -> Reading:
    """How the runs of the anchors of ``plan`` are read: as those of the web."""
    known = measures_of(system.name)
    measures = [known[one] for one in plan.measures]
    return Reading(plan, system, lambda files: collect(files, Lake(files.directory / "lake")), measures)


def make(given: Namespace, say: Callable[[str], None], now: datetime) -> Path:
    """Measure, fit, compare and write; returns the model's file. Raises ``WaxwingError`` and leaves the old file."""
    chosen = {name: plan for name, plan in plans().items() if given.system in (None, name)}
    if given.page and len(chosen) != 1:
        raise InvalidSetting("--page", f"is of one system; choose it with --system: {', '.join(chosen)}")
    if given.only_growth:
        chosen = {name: plan for name, plan in chosen.items() if plan.more_anchors}
    if not chosen:
        raise InvalidSetting("--only-growth", f"{given.system} has no configurations of this kind")
    if given.page and given.no_anchors:
        raise InvalidSetting("--page", "shows the comparison with live runs, which --no-anchors leaves out")
    if given.page and not given.page.absolute().parent.is_dir():
        raise InvalidSetting("--page", f"is in no directory: {given.page.absolute().parent} does not exist")
    path: Path = given.model or given.var / FILE
    with _ending():
        for name, plan in chosen.items():
            (_assess if given.only_growth else _calibrate)(name, plan, path, given, say, now)
    return path


@contextmanager
def _ending() -> Iterator[None]:
    """Ctrl-C and SIGTERM end what was started and remove what was written meanwhile; the files of before stay. Ctrl-C
    counts even where a shell lets commands in the background ignore it. Raises ``TelemetryError`` then."""

    def end(number: int, _: Any) -> None:
        for one in before:
            signal.signal(one, signal.SIG_IGN)  # a second one would interrupt the removal
        raise KeyboardInterrupt

    before = {one: signal.signal(one, end) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt:
        raise TelemetryError("Interrupted. Nothing was changed for the system that was being measured.") from None
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _calibrate(name: str, plan: Plan, path: Path, given: Namespace, say: Callable[[str], None], now: datetime) -> None:
    known, residuals = _read(path)
    effort = QUICK if given.quick else FULL
    anchors = () if given.no_anchors else (*plan.anchors, *(plan.more_anchors if given.growth else ()))
    reading = _reading(name, plan)
    found, compared = measure(reading, known, anchors, effort, origin_of(given.name, effort, now), say)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, found.to_json())
    if compared:
        _write(residuals, name, part_of(compared, found.systems[name], reading), path, given)


def _assess(name: str, plan: Plan, path: Path, given: Namespace, say: Callable[[str], None], now: datetime) -> None:
    """Those that were compared before are replaced, and all others stay."""
    known, residuals = _read(path)
    if name not in known.systems or name not in residuals:
        raise InvalidSetting("--only-growth", f"needs the costs of {name}, which are not in {path}: calibrate it first")
    part, effort = residuals[name], QUICK if given.quick else FULL
    origin = origin_of(given.name, effort, now)
    compared = assess(_reading(name, plan), known, plan.more_anchors, effort, origin, say)
    again = {one.anchor for one in compared}
    before = [row for row in part["anchors"] if row["anchor"] not in again]
    _write(residuals, name, {**part, "anchors": [*before, *map(row_of, compared)]}, path, given)


def _reading(name: str, plan: Plan) -> Reading:
    return reading_of(plan, next(one.system for one in all_telemetry() if one.system.name == name))


def _read(path: Path) -> tuple[Calibration, dict[str, Part]]:
    """What was measured and compared before, read before anything is measured: it may be damaged."""
    known = read_calibration(path) if path.exists() else Calibration({})
    return known, read_residuals(residuals_path(path))


def _write(residuals: dict[str, Part], name: str, part: Part, path: Path, given: Namespace) -> None:
    write_residuals(residuals_path(path), {**residuals, name: part})
    if given.page:
        write_page(given.page, part)
