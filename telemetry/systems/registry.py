"""The telemetry of each system, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from overlay.core.errors import InvalidSetting
from overlay.systems.contract import System
from overlay.systems.registry import SYSTEMS, system_of
from telemetry.systems.context_broker.system import ContextBrokerTelemetry
from telemetry.systems.contract import Telemetry

TELEMETRY: dict[str, type[Telemetry]] = {ContextBrokerTelemetry.name: ContextBrokerTelemetry}
"""Of systems that add something; the others have what every system has."""


def telemetry_of(manifest: Mapping[str, Any]) -> Telemetry:
    """Of a run with this manifest. One that names no known system is read as of the first."""
    try:
        system = system_of(str(manifest.get("system") or ""))
    except InvalidSetting:
        system = system_of("")
    return _class_of(system)(system)


def all_telemetry() -> list[Telemetry]:
    """Of every system, in the order of the registry."""
    return [_class_of(system)(system) for system in SYSTEMS.values()]


@cache
def _class_of(system: System) -> type[Telemetry]:
    if not system.telemetry:
        return TELEMETRY.get(system.name, Telemetry)
    module, _, name = system.telemetry.partition(":")
    found: type[Telemetry] = getattr(import_module(module), name)
    return found
