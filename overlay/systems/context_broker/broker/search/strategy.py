"""The interface between a strategy and its broker: the information it gets, and the moves it can make.

::

    request arrives ──> decide ──> Ask(neighbours) ──> all of them refused ──> decide ──> ...
                             ├───> Look(ttl, wait) ──> no reply in time ─────> decide ──> ...
                             └───> None ──> NACK 202 to the sender of the request

The first Response wins and ends the query here. Later ones are only counted (``late_answers``).
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

if TYPE_CHECKING:  # the configuration imports the strategies
    from overlay.systems.context_broker.broker.config import BrokerConfig
    from overlay.systems.context_broker.broker.standings import Standing


@dataclass(slots=True)
class View:
    """The information for a decision. A strategy must neither change nor keep it."""

    address: Address
    """The broker's own address."""
    key: RawKey
    """The key that is requested: ``type|id|scope``."""
    neighbours: Sequence[Address]
    path: Sequence[Address]
    """The hops as they will be sent: the consumer first, the sender of the request last."""
    tried: frozenset[Address]
    """Neighbours already asked for this request."""
    moves: int
    """The number of moves made for it here: 0 when it arrives."""
    chance: Chance
    suspects: Collection[Address]
    """Neighbours that may be dead."""
    round_trip_ns: int
    """The longest round trip of the last round of pings to neighbours; 0 if none was measured."""
    standings: Mapping[Address, Standing]
    """The degree and load that neighbours reported, if the strategy ``watches`` them."""

    @property
    def is_origin(self) -> bool:
        """Whether the request came from its consumer."""
        return len(self.path) == 1

    def degree(self, neighbour: Address) -> int | None:
        """The degree that the neighbour reported; ``None`` before its first report."""
        standing = self.standings.get(neighbour)
        return None if standing is None else standing.degree

    def load(self, neighbour: Address) -> float | None:
        """Messages that it received per second between its last two reports; ``None`` before the second."""
        standing = self.standings.get(neighbour)
        return None if standing is None else standing.load


@dataclass(slots=True)
class Ask:
    """Forward the request to these neighbours, each at most once, and wait until one answers or all refuse."""

    neighbours: Sequence[Address]


@dataclass(slots=True)
class Look:
    """Flood a Lookahead over ``ttl`` hops, and decide again after ``wait_ms``. Later answers still count."""

    ttl: int
    wait_ms: int


Move = Ask | Look


@dataclass(slots=True)
class Outcome:
    """The result of asking a neighbour or sending it a Lookahead."""

    key: RawKey
    """What was asked for: ``type|id|scope``."""
    path: Sequence[Address]
    """The hops as they were sent. An answer does not contain the distance of the data beyond them."""
    neighbour: Address
    elapsed_ns: int
    """The time since it was asked."""

    @property
    def hops(self) -> int:
        """The number of links up to this broker, including the consumer's, when the request was forwarded."""
        return len(self.path)


class Strategy(ABC):
    """One object per broker serves all its queries. It may keep what it learns, in bounded memory.

    Decisions may depend only on its arguments, so that a run can be repeated: no clock, no other source of randomness,
    and no iteration order of sets or hashes.
    """

    __slots__ = ("ttl",)

    name: ClassVar[str]
    """The name in settings. A class that defines no name is not offered."""
    summary: ClassVar[str]
    """A short description for forms and the documentation."""
    uses: ClassVar[tuple[str, ...]] = ("walk_ttl",)
    """The settings that it reads. Forms hide settings that no selected strategy uses."""
    watches: ClassVar[bool] = False
    """Whether neighbours are asked for their degree and load (code 20), once every few ping intervals."""
    remembers = False
    """Whether a query that arrives again on another path is refused. Must be true if every broker asks several."""

    def __init__(self, config: BrokerConfig) -> None:
        self.ttl = config.ttl
        """A request with this number of hops is not forwarded."""

    @abstractmethod
    def decide(self, view: View) -> Move | None:
        """The next move, or ``None`` to end the query here."""

    def note_success(self, outcome: Outcome) -> None:  # noqa: B027 (most do not learn)
        """The neighbour returned the first answer."""

    def note_failure(self, outcome: Outcome) -> None:  # noqa: B027
        """The neighbour refused, is gone, or did not reply while the query waited. Not called for a Lookahead."""

    def reach(self, hops: int) -> int:
        """The number of hops that a request with ``hops`` hops has left, if that limits the search.

        A request that was here before is not refused if it has more hops left now.
        """
        return 0

    def brokers_asked(self, brokers: int, links: int, having: float) -> float:
        """The estimated number of brokers that a search asks, of ``brokers``, if ``having`` of them have the data.

        Used to estimate the duration of a simulation.
        """
        return min(STEPS * brokers / having, self.ttl)
