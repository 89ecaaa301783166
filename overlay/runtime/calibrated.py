"""Which service-time model holds on this machine: its own calibration, or else the reference of a named machine.

Counterparts: ``overlay.core.service_times`` is the model, ``telemetry.calibration`` measures one and writes it here.
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
"""Below the directory for data."""


def services_of(configuration: Mapping[str, Any], var: Path) -> ServiceModel | None:
    """What a configuration's brokers and clients take; ``None`` where it wants that they take nothing. Raises
    ``InvalidSetting`` for a calibration that is damaged.
    """
    wanted = configuration["simulation"]["service_times"]
    return stored_services(var) if wanted == CALIBRATED else None


def data_directory() -> Path:
    """Where data lie where no flag says: ``WAXWING_VAR``, or ``var`` in the current directory."""
    return Path(os.environ.get("WAXWING_VAR", "var"))


def stored_services(var: Path) -> ServiceModel:
    """The model to use; its ``measured`` says of which machine. Raises ``InvalidSetting`` for one that is damaged."""
    own = var / FILE
    return read_model(own if own.exists() else REFERENCE)


def read_model(path: Path) -> ServiceModel:
    """The model in a file. Raises ``InvalidSetting`` for one that cannot be read as such."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InvalidSetting("calibration", f"{path} cannot be read: {error}") from None
    return ServiceModel.from_json(document)
