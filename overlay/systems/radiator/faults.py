"""The faults of Radiator, in addition to those of every system. Servers and clients carry them out.

Counterpart: ``fault_words`` has the words of the contract for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from overlay.core.errors import InvalidSetting
from overlay.core.settings import check, setting
from overlay.faults.kinds import FaultKind

SERVER, CLIENT = ("server",), ("client",)
EVERY = "all"
LINKS = (EVERY, "server", "peers")
_LINKS = "all: every link of these clients; server: those to the server; peers: those between clients."


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


@dataclass(frozen=True, slots=True)
class LossyLinks:
    links: str = setting(EVERY, choices=LINKS, help=f"Which links lose datagrams. {_LINKS}")
    loss: float = setting(0.05, unit="fraction", low=0, high=1, help="Share of datagrams lost, each way.")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class SlowLinks:
    links: str = setting(EVERY, choices=LINKS, help=f"Which links are slow. {_LINKS}")
    delay_ms: float = setting(100.0, unit="ms", low=0, high=60_000, help="Further delay of each datagram, each way.")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class Islands:
    islands: str = setting(
        "server | 0",
        help="Groups that hear only themselves, separated by |: numbers of clients, or server. Others hear everyone.",
    )

    def __post_init__(self) -> None:
        check(self)
        islands_of(self.islands)


@lru_cache(maxsize=64)  # all clients have the same
def islands_of(text: str) -> dict[int | str, int]:
    """The island of each member. Raises ``InvalidSetting``."""
    found: dict[int | str, int] = {}
    islands = [island.split() for island in text.split("|")]
    for number, island in enumerate(islands):
        for word in island:
            if word != "server" and not (word.isascii() and word.isdigit()):
                raise InvalidSetting("islands", f"{word!r:.60} is neither server nor the number of a client")
            member = word if word == "server" else int(word)
            if member in found:
                raise InvalidSetting("islands", f"has {word:.60} twice")
            found[member] = number
    if len(islands) < 2 or not all(islands):
        raise InvalidSetting("islands", "must be two or more groups, separated by |")
    return found


FAULTS = {
    "cut": FaultKind("Uplink cut", servers=SERVER),
    "crash": FaultKind("Crashed", clients=CLIENT),
    "restart_client": FaultKind("Restarted", clients=CLIENT, lasts=False),
    "crash_at_push": FaultKind("Crashes between acknowledging and forwarding", clients=CLIENT),
    "silent": FaultKind("Silent", clients=CLIENT),
    "late": FaultKind("Late", clients=CLIENT, Fields=Late),
    "loss": FaultKind("Loses datagrams", clients=CLIENT, Fields=Loss),
    "lossy_links": FaultKind("Lossy links", clients=CLIENT, Fields=LossyLinks),
    "slow_links": FaultKind("Slow links", clients=CLIENT, Fields=SlowLinks),
    "separated": FaultKind("Separated", clients=CLIENT, Fields=Islands),
}
"""By name. Those of clients also end: a crashed client returns as a new instance, with its number and address."""
