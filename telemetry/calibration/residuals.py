"""The accuracy of simulated runs as a JSON document next to the model: each system's anchors, live and simulated.

Counterparts: ``telemetry.cli.calibrate`` writes it, ``trust`` reads it for the web, ``page`` makes a page of it. The
document::

    {"systems": {SYSTEM: {"close": 0.2, "anchors": […], "roles": {ROLE: costs}, "measured": {…}, "labels": {…},
                          "system", "compared", "compared_from", "further": [{"name", "title", "unit"}, …]}}}

The last line is missing in documents of earlier versions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from overlay.core.calibration import Measured
from overlay.core.service_times import to_lists
from overlay.runtime.calibrated import REFERENCE
from overlay.runtime.old_calibration import old_roles
from overlay.systems.registry import FIRST
from telemetry.calibration.anchors import CLOSE, Compared, Reading
from telemetry.errors import TelemetryError
from telemetry.lake.storage import write_json

RESIDUALS = "calibration-residuals.json"
REFERENCE_RESIDUALS = Path(__file__).with_name("reference_residuals.json")
"""Of the model that comes with the code."""

Part = Mapping[str, Any]
"""The residuals of one system."""


def residuals_path(model: Path) -> Path:
    """The path of the residuals for the model in this file."""
    return REFERENCE_RESIDUALS if model.resolve() == REFERENCE.resolve() else model.with_name(RESIDUALS)


def part_of(compared: Sequence[Compared], measured: Measured, reading: Reading) -> dict[str, Any]:
    """Every anchor of a system, live and simulated, in microseconds; its costs, their provenance, and words."""
    return {
        "close": CLOSE,
        "anchors": [row_of(one) for one in compared],
        **to_lists(asdict(measured)),
        "labels": dict(reading.plan.labels),
        "system": reading.system.name,
        "compared": reading.plan.compared,
        "compared_from": reading.plan.compared_from,
        "further": [asdict(one) for one in reading.further],
    }


def row_of(one: Compared) -> dict[str, Any]:
    return {**asdict(one), "off": one.off, "is_close": one.is_close}


def write_residuals(path: Path, parts: Mapping[str, Part]) -> None:
    write_json(path, {"systems": dict(parts)})


def read_residuals(path: Path) -> dict[str, Part]:
    """The residuals by system; empty without a file. Raises ``TelemetryError`` if it cannot be read."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TelemetryError(f"{path} cannot be read: {error}. Calibrate again, or remove it.") from None
    if not isinstance(document, dict):
        raise TelemetryError(f"{path} is not a JSON object. Calibrate again, or remove it.")
    try:
        return dict(document["systems"]) if "systems" in document else {FIRST: _converted(document)}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise TelemetryError(f"{path} is not a document of residuals. Calibrate again, or remove it.") from None


def _converted(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document of versions that calibrated one system."""
    roles = old_roles({**document["model"], "memory": document["memory"]})
    return {
        "close": document["close"],
        "anchors": document["anchors"],
        "roles": roles,
        "measured": document["measured"],
        "labels": {},
    }
