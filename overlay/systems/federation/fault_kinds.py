"""The faults of a federation, in addition to those of every system. Brokers and clients carry them out.

Counterpart: ``fault_words`` has the words of the contract for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.settings import check, setting
from overlay.faults.kinds import FaultKind
from overlay.systems.federation.names import BROKER, CONSUMER, PROVIDER

MOVE, OFFLINE, VANISH = "move", "offline", "vanish"
PROPER, IMPROPER = "proper", "improper"


@dataclass(frozen=True, slots=True)
class Vanishing:
    way: str = setting(
        IMPROPER,
        choices=(PROPER, IMPROPER),
        help="proper: unregisters first; improper: silent at once, so that only missing keep-alives show it. At the "
        "end it registers again.",
    )
    spread_s: float = setting(
        0.0,
        unit="s",
        low=0,
        high=3_600,
        help="It begins, and ends, later by up to this, drawn for each run: at another phase of keep-alives.",
    )

    def __post_init__(self) -> None:
        check(self)


FAULTS = {
    MOVE: FaultKind("Moves to a new port", servers=(BROKER,), lasts=False, moves=True),
    OFFLINE: FaultKind("Offline", servers=(BROKER,)),
    VANISH: FaultKind("Vanishes", servers=(BROKER,), clients=(PROVIDER, CONSUMER), Fields=Vanishing),
}
"""By name. An offline broker still serves its clients."""
