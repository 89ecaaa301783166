"""Finds the service-time model of this machine: its own calibration, and the reference for what it lacks.

Counterparts: ``overlay.core.service_times`` is the model, ``telemetry.calibration`` measures it and writes the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overlay.core.calibration import Calibration
from overlay.core.engines import NO_SERVICE, OF_SERVERS
from overlay.core.errors import InvalidSetting
from overlay.core.service_times import ServiceModel
from overlay.runtime.old_calibration import OLD_FORMAT, converted
from overlay.systems.contract import System
from overlay.systems.registry import system_of

REFERENCE = Path(__file__).parent.parent / "reference_calibration.json"
FILE = "calibration.json"
"""In the data directory."""


def services_of(configuration: Mapping[str, Any], var: Path) -> ServiceModel | None:
    """The service-time model for a configuration; ``None`` if it uses none. Raises ``InvalidSetting`` for a damaged
    calibration.
    """
    wanted = configuration["simulation"]["service_times"]
    if wanted == NO_SERVICE:
        return None
    system = system_of(configuration["system"])
    services = stored_services(var, system)
    if wanted == OF_SERVERS:
        return services.with_idle([role.processes for role in system.client_roles.values()])
    return services


def data_directory() -> Path:
    """The default data directory: ``WAXWING_VAR``, or ``var`` in the current directory."""
    return Path(os.environ.get("WAXWING_VAR", "var"))


def stored_services(var: Path, system: System) -> ServiceModel:
    """The model to use for ``system``. Raises ``InvalidSetting`` if the file of this machine is damaged."""
    return model_of(own_calibration(var).over(reference()), system)


def model_of(calibration: Calibration, system: System) -> ServiceModel:
    """The model for ``system``, with the names of its roles that have no measured costs."""
    return calibration.model(system.name, system.timed_roles, system.work_units)


def as_written_now(document: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The service times in the manifest of a run of any version, as this version writes them."""
    if document is None or document.get("format") != OLD_FORMAT:
        return document
    return model_of(Calibration.from_json(converted(document)), system_of("")).to_json()


def reference() -> Calibration:
    """The calibration in the repository, of the machine named in it."""
    return read_calibration(REFERENCE)


def own_calibration(var: Path) -> Calibration:
    """What was measured on this machine. Raises ``InvalidSetting`` if the file is damaged."""
    path = var / FILE
    return read_calibration(path) if path.exists() else Calibration({})


def read_calibration(path: Path) -> Calibration:
    """The calibration in a file of any version since format 2. Raises ``InvalidSetting`` if it cannot be read."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InvalidSetting("calibration", f"{path} cannot be read: {error}") from None
    if not isinstance(document, dict):
        raise InvalidSetting("calibration", f"{path} must be a JSON object")
    return Calibration.from_json(converted(document) if document.get("format") == OLD_FORMAT else document)
