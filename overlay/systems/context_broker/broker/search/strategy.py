"""The seam between a strategy and the broker that follows it: what it sees, and the moves it can make.

::

    request arrives ──> decide ──> Ask(neighbours) ──> all of them refused ──> decide ──> ...
                             ├───> Look(ttl, wait) ──> nothing came in time ──> decide ──> ...
                             └───> None ──> NACK 202 to whom we got the request from

The first Response to come back wins; it ends the query here, and later ones are counted (``late_answers``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.context_broker.broker.walks import STEPS
from overlay.systems.context_broker.wire.messages import RawKey

if TYPE_CHECKING:  # the configuration names the strategies
    from overlay.systems.context_broker.broker.config import BrokerConfig
    from overlay.systems.context_broker.broker.standings import Standing


@dataclass(slots=True)
class View:
    """What a strategy knows when it decides; not to be changed, and not to be kept."""

    address: Address
    """The broker's own."""
    key: RawKey
    """What is asked for: ``type|id|scope``."""
    neighbours: Sequence[Address]
    path: Sequence[Address]
    """The hops as they will be sent: the consumer first, whom we got the request from last."""
    tried: frozenset[Address]
    """Neighbours that were asked already for this request."""
    moves: int
    """How many moves were made for it here: 0 when it arrives."""
    chance: Chance
    suspects: Collection[Address]
    """Neighbours that may be dead."""
    round_trip_ns: int
    """To the neighbour that took longest to answer the last round of pings and back; 0 where none was timed."""
    standings: Mapping[Address, Standing]
    """What neighbours said of themselves, where the strategy ``watches`` them."""

    @property
    def is_origin(self) -> bool:
        """Whether the request came from its consumer."""
        return len(self.path) == 1

    def degree(self, neighbour: Address) -> int | None:
        """How many neighbours that neighbour has, by its own word; ``None`` while it has not said so."""
        standing = self.standings.get(neighbour)
        return None if standing is None else standing.degree

    def load(self, neighbour: Address) -> float | None:
        """Messages that it received a second, between the last two times it was asked; ``None`` before the second."""
        standing = self.standings.get(neighbour)
        return None if standing is None else standing.load


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


@dataclass(slots=True)
class Outcome:
    """What came of a neighbour that was asked, or sent a Lookahead."""

    key: RawKey
    """What was asked for: ``type|id|scope``."""
    path: Sequence[Address]
    """The hops as they were sent. How many more the data were away, an answer does not tell."""
    neighbour: Address
    elapsed_ns: int
    """Since it was asked."""

    @property
    def hops(self) -> int:
        """Links that the request had come over, the consumer's included, when it was sent on."""
        return len(self.path)


class Strategy(ABC):
    """One object for each broker, which serves all its queries: what it learns it keeps in itself, bounded.

    Only what it is handed may decide, so that a run can be repeated: no clock, no other randomness, and no order of a
    set or of anything that is hashed.
    """

    __slots__ = ("ttl",)

    name: ClassVar[str]
    """By which it is chosen; a class without one of its own is no choice."""
    summary: ClassVar[str]
    """What it does, in a few words for forms and the documentation."""
    uses: ClassVar[tuple[str, ...]] = ("walk_ttl",)
    """The settings that it reads; forms leave out those that no strategy chosen uses."""
    watches: ClassVar[bool] = False
    """Whether neighbours are asked for their degree and load (20), once a few intervals of pings."""
    remembers = False
    """Whether a query that was here before, on another path, is refused at once: must be, where all ask several."""

    def __init__(self, config: BrokerConfig) -> None:
        self.ttl = config.ttl
        """A request that holds so many hops is not sent on."""

    @abstractmethod
    def decide(self, view: View) -> Move | None:
        """The next move; ``None`` when there is none left, and the query ends here."""

    def note_success(self, outcome: Outcome) -> None:  # noqa: B027 (most learn nothing)
        """The neighbour has brought an answer, the first to come."""

    def note_failure(self, outcome: Outcome) -> None:  # noqa: B027
        """The neighbour refused, is gone, or said nothing while the query waited. A Lookahead cannot fail so."""

    def reach(self, hops: int) -> int:
        """How much farther a request that came over so many hops goes, where that decides what it finds.

        One that was here before is not refused if it goes farther now than it did then.
        """
        return 0

    def brokers_asked(self, brokers: int, links: int, having: float) -> float:
        """How many brokers a search asks, about, among so many of which ``having`` have the data.

        By this it is estimated how long a run takes to simulate.
        """
        return min(STEPS * brokers / having, self.ttl)
