"""Finds the service-time model of this machine: its own calibration, or the reference calibration.

Counterparts: ``overlay.core.service_times`` is the model, ``telemetry.calibration`` measures it and writes the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overlay.core.engines import CALIBRATED
from overlay.core.errors import InvalidSetting
from overlay.core.service_times import ServiceModel

REFERENCE = Path(__file__).parent.parent / "reference_calibration.json"
FILE = "calibration.json"
"""In the data directory."""


def services_of(configuration: Mapping[str, Any], var: Path) -> ServiceModel | None:
    """The service-time model for a configuration; ``None`` if it uses none. Raises ``InvalidSetting`` for a damaged
    calibration.
    """
    wanted = configuration["simulation"]["service_times"]
    return stored_services(var) if wanted == CALIBRATED else None


def data_directory() -> Path:
    """The default data directory: ``WAXWING_VAR``, or ``var`` in the current directory."""
    return Path(os.environ.get("WAXWING_VAR", "var"))


def stored_services(var: Path) -> ServiceModel:
    """The model to use; its ``measured`` names the machine. Raises ``InvalidSetting`` if it is damaged."""
    own = var / FILE
    return read_model(own if own.exists() else REFERENCE)


def read_model(path: Path) -> ServiceModel:
    """The model in a file. Raises ``InvalidSetting`` if it cannot be read."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InvalidSetting("calibration", f"{path} cannot be read: {error}") from None
    return ServiceModel.from_json(document)
