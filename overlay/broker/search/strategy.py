"""The seam between a strategy and the broker that follows it: what it sees, and the moves it can make.

::

    request arrives ──> decide ──> Ask(neighbours) ──> all of them refused ──> decide ──> ...
                             ├───> Look(ttl, wait) ──> nothing came in time ──> decide ──> ...
                             └───> None ──> NACK 202 to whom we got the request from

The first Response to come back wins; it ends the query here, and later ones are counted (``late_answers``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlay.addresses import Address
from overlay.chance import Chance

if TYPE_CHECKING:  # the configuration names the strategies
    from overlay.broker.config import BrokerConfig


@dataclass(slots=True)
class View:
    """What a strategy knows when it decides; not to be changed."""

    neighbours: Sequence[Address]
    path: Sequence[Address]
    """The hops as they will be sent: the consumer first, whom we got the request from last."""
    tried: frozenset[Address]
    """Neighbours that were asked already for this request."""
    moves: int
    """How many moves were made for it here: 0 when it arrives."""
    chance: Chance
    suspects: Collection[Address] = ()
    """Neighbours that may be dead."""

    @property
    def is_origin(self) -> bool:
        """Whether the request came from its consumer."""
        return len(self.path) == 1


@dataclass(slots=True)
class Ask:
    """Send the request on to these, each at most once for one request, and wait until one answers or all refuse."""

    neighbours: Sequence[Address]


@dataclass(slots=True)
class Look:
    """Flood a Lookahead ``ttl`` hops far, and decide again after ``wait_ms``. What comes later still counts."""

    ttl: int
    wait_ms: int


Move = Ask | Look


class Strategy(ABC):
    """One object serves all queries of a broker, so it keeps nothing of any of them."""

    remembers = False
    """Whether a query that was here before, on another path, is refused at once: must be, where all ask several."""

    def __init__(self, config: BrokerConfig) -> None:
        self.ttl = config.ttl
        """A request that holds so many hops is not sent on."""

    @abstractmethod
    def decide(self, view: View) -> Move | None:
        """The next move; ``None`` when there is none left, and the query ends here."""
