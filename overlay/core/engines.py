"""The engines: live, with real processes over UDP, and simulated, with the same objects in virtual time. Pure.

Counterparts: ``overlay.runtime`` and ``overlay.sim``.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.errors import InvalidSetting
from overlay.core.settings import check, setting

LIVE, SIMULATED = "live", "simulated"
CALIBRATED, OF_SERVERS, NO_SERVICE = "calibrated", "servers", "none"


@dataclass(frozen=True, slots=True)
class Engine:
    """The largest overlay of an engine."""

    name: str
    brokers: int
    links: int

    def check_size(self, field: str, brokers: int, links: int) -> None:
        """Raise ``InvalidSetting`` for ``field`` if an overlay is too large."""
        for number, most, things in ((brokers, self.brokers, "brokers"), (links, self.links, "links")):
            if number > most:
                raise InvalidSetting(
                    field, f"has {number:,} {things}; the engine “{self.name}” allows at most {most:,}{self._other()}"
                )

    def _other(self) -> str:
        return f" (“{SIMULATED}” allows more)" if self.name == LIVE else ""


ENGINES = {
    LIVE: Engine(LIVE, brokers=1_000, links=20_000),
    SIMULATED: Engine(SIMULATED, brokers=100_000, links=500_000),
}
"""Live: the brokers that one host can launch within ``overlay.deployment.phases.LAUNCH_LIMIT_S``. Simulated: the
brokers that fit into 2 GiB."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """Settings of a run in virtual time."""

    service_times: str = setting(
        CALIBRATED,
        choices=(CALIBRATED, OF_SERVERS, NO_SERVICE),
        help="Processor time that servers and clients spend on each message: as measured on this machine (without a "
        "calibration, on the machine of the reference calibration), so that messages queue for it; servers, so that "
        "clients, all of which share one process otherwise, take no time and cannot be what limits a run; or none, so "
        "that only links take time. Without service times, runs are faster and show the protocol alone.",
    )

    def __post_init__(self) -> None:
        check(self)
