"""The faults of Radiator, in addition to those of every system. Servers and clients carry them out."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.settings import check, setting
from overlay.faults.kinds import FaultKind

SERVER, CLIENT = ("server",), ("client",)


@dataclass(frozen=True, slots=True)
class Late:
    by_ms: float = setting(
        500.0,
        unit="ms",
        low=0,
        high=600_000,
        help="Time after which a client handles what arrives. Short delays only "
        "slow down its chains; above the time of all repeats, it is taken for silent.",
    )

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class Loss:
    share: float = setting(0.05, unit="fraction", low=0, high=1, help="Share of datagrams lost, both ways.")

    def __post_init__(self) -> None:
        check(self)


FAULTS = {
    "cut": FaultKind("Uplink cut", servers=SERVER),
    "crash": FaultKind("Crashed", clients=CLIENT),
    "crash_at_push": FaultKind("Crashes between acknowledging and forwarding", clients=CLIENT),
    "silent": FaultKind("Silent", clients=CLIENT),
    "late": FaultKind("Late", clients=CLIENT, Fields=Late),
    "loss": FaultKind("Loses datagrams", clients=CLIENT, Fields=Loss),
}
"""By name. Those of clients also end: a crashed client returns as a new instance, with its number and address."""
