"""The content of a calibration file: costs of the roles of one or more systems, and the deliveries of a machine. Pure.

Counterparts: ``overlay.runtime.calibrated`` reads the file; ``telemetry.calibration`` writes it. The document::

    {"format": 3, "ranks": […], "deliveries": {…}, "systems": {SYSTEM: {"roles": {ROLE: costs}, "measured": {…}}}}
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from overlay.core.curves import RANKS
from overlay.core.errors import InvalidSetting, within
from overlay.core.service_times import (
    Costs,
    Deliveries,
    ServiceModel,
    read_costs,
    read_deliveries,
    to_lists,
    unmeasured,
)

FORMAT = 3
"""Version of the JSON document."""


@dataclass(frozen=True)
class Measured:
    """The measurements of one system."""

    roles: Mapping[str, Costs]
    """By role of servers and of clients, as in ``ServiceModel``."""
    measured: Mapping[str, Any] = field(default_factory=dict)
    """Provenance."""


@dataclass(frozen=True)
class Calibration:
    """The measurements of a machine."""

    systems: Mapping[str, Measured]
    deliveries: Deliveries | None = None
    """``None`` if they were not measured."""

    def over(self, other: Calibration) -> Calibration:
        """This calibration, and what only ``other`` has."""
        return Calibration({**other.systems, **self.systems}, self.deliveries or other.deliveries)

    def model(self, system: str, roles: Collection[str], units: Mapping[str, Sequence[str]]) -> ServiceModel:
        """The model for a system with these roles and units of work, by role."""
        assert self.deliveries is not None, "the reference has deliveries"
        known = self.systems.get(system, Measured({}))
        return ServiceModel(known.roles, self.deliveries, tuple(unmeasured(known.roles, roles, units)), known.measured)

    def with_system(self, name: str, measured: Measured) -> Calibration:
        """The same with other measurements of one system."""
        return replace(self, systems={**self.systems, name: measured})

    def to_json(self) -> dict[str, Any]:
        """The JSON document; ``from_json`` of it is equal."""
        systems = {name: asdict(one) for name, one in self.systems.items()}
        deliveries = {} if self.deliveries is None else {"deliveries": asdict(self.deliveries)}
        return {"format": FORMAT, "ranks": list(RANKS), **to_lists({**deliveries, "systems": systems})}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Calibration:
        """Raises ``InvalidSetting`` with the name of the first field that is invalid, missing or unknown."""
        if document.get("format") != FORMAT or document.get("ranks") != list(RANKS):
            raise InvalidSetting("format", f"must be {FORMAT}, with the ranks of this version; calibrate again")
        for name in document.keys() - {"format", "ranks", "deliveries", "systems"}:
            raise InvalidSetting(name[:60], "is unknown")
        if not isinstance(document.get("systems"), Mapping):
            raise InvalidSetting("systems", "must be an object")
        deliveries = document.get("deliveries")
        return cls(
            {name: _measured(name, one) for name, one in document["systems"].items()},
            None if deliveries is None else read_deliveries(deliveries),
        )


def _measured(name: str, value: Any) -> Measured:
    parts = {"roles", "measured"}
    if (
        not isinstance(value, Mapping)
        or value.keys() != parts
        or not all(isinstance(value[one], Mapping) for one in parts)
    ):
        raise InvalidSetting(name[:60], "must have the objects roles and measured, and nothing else")
    roles = {}
    for role, costs in value["roles"].items():
        with within(f"{name}.{role}"):
            roles[role] = read_costs(costs)
    return Measured(roles, value["measured"])
