"""What a configuration can be run by: real processes over UDP, or the same objects in virtual time. Pure.

Counterparts: ``overlay.runtime`` is the one, ``overlay.sim`` the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.errors import InvalidSetting
from overlay.core.settings import check, setting

LIVE, SIMULATED = "live", "simulated"
CALIBRATED, NO_SERVICE = "calibrated", "none"


@dataclass(frozen=True, slots=True)
class Engine:
    """How large an overlay may be for it."""

    name: str
    brokers: int
    links: int

    def check_size(self, field: str, brokers: int, links: int) -> None:
        """Raise ``InvalidSetting`` of ``field`` for an overlay that is too large."""
        for number, most, things in ((brokers, self.brokers, "brokers"), (links, self.links, "links")):
            if number > most:
                raise InvalidSetting(
                    field, f"has {number:,} {things}; the engine “{self.name}” takes at most {most:,}{self._other()}"
                )

    def _other(self) -> str:
        return f" (“{SIMULATED}” takes more)" if self.name == LIVE else ""


ENGINES = {
    LIVE: Engine(LIVE, brokers=1_000, links=20_000),
    SIMULATED: Engine(SIMULATED, brokers=100_000, links=500_000),
}
"""Live, as many brokers as one host launches within ``overlay.deployment.phases.LAUNCH_LIMIT_S``; simulated, as 2 GiB
hold."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """Settings of a run in virtual time."""

    service_times: str = setting(
        CALIBRATED,
        choices=(CALIBRATED, NO_SERVICE),
        help="Processor time that a broker spends on each message: as measured on this machine (without a "
        "calibration, on the machine of the reference calibration), so that requests queue for it; or none, so that "
        "only links take time. Without service times, runs are faster and show the protocol alone.",
    )

    def __post_init__(self) -> None:
        check(self)
