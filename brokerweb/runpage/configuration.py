"""A run's configuration for its page: non-default values first, each with its unit. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from overlay.core.settings import SettingInfo
from overlay.systems.contract import PROFILE
from overlay.systems.registry import SYSTEMS

MOST_WRITTEN = 1e6
"""Above this, six significant digits are too few."""


@dataclass(frozen=True, slots=True)
class Line:
    """A field with its value."""

    name: str
    value: Any
    unit: str
    default: Any
    """The default value; for settings, that of the profile."""
    help: str

    @property
    def differs(self) -> bool:
        return bool(self.value != self.default)

    @property
    def written(self) -> str:
        return _written(self.value, self.unit)

    @property
    def default_written(self) -> str:
        return _written(self.default, self.unit)


@dataclass(frozen=True, slots=True)
class Description:
    """A configuration in full."""

    workload: list[Line]
    settings: list[Line]
    servers: str
    """Name of its servers: "Brokers"."""

    @property
    def differing(self) -> list[Line]:
        return [line for line in (*self.workload, *self.settings) if line.differs]

    @property
    def at_default(self) -> list[tuple[str, list[Line]]]:
        """Default values by group."""
        groups = (("Workload", self.workload), (self.servers, self.settings))
        kept = ((name, [line for line in lines if not line.differs]) for name, lines in groups)
        return [(name, lines) for name, lines in kept if lines]


def describe(configuration: Mapping[str, Any]) -> Description:
    """Describes a run's complete configuration."""
    system = SYSTEMS[configuration["system"]]
    settings = configuration["settings"]
    by_profile = system.of_profile(settings)
    workload = list(_lines(system.workload, configuration["workload"], {}))
    return Description(workload, list(_lines(system.settings, settings, by_profile)), system.server_title.many)


def _lines(infos: Iterable[SettingInfo], values: Mapping[str, Any], instead: Mapping[str, Any]) -> Iterable[Line]:
    """Missing values have their defaults; unknown fields are shown as stored."""
    known = set()
    for info in infos:
        known.add(info.name)
        default = instead.get(info.name, info.default) if info.name != PROFILE else info.default
        yield Line(info.name, values.get(info.name, default), info.unit, default, info.help)
    for name in values.keys() - known:
        yield Line(name, values[name], "", None, "")


def _written(value: Any, unit: str) -> str:
    """Readable text: 30 instead of 30.0, yes instead of True, numbers with unit."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | dict):
        return json.dumps(value)
    text = f"{value:g}" if isinstance(value, float) and abs(value) < MOST_WRITTEN else str(value)
    return f"{text} {unit}".strip()
