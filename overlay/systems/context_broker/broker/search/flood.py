"""Floods: everybody is asked, or as many as the least connected broker could ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.search.strategy import Ask, Move, Strategy, View

if TYPE_CHECKING:
    from overlay.systems.context_broker.broker.config import BrokerConfig


class Flood(Strategy):
    """To every neighbour but the sender, ``flood_ttl`` hops far (Gnutella's search, as Lv et al. 2002 measure it).

    A broker that saw the query refuses it at once, so that refusals run together on the way back and a flood that was
    not cut short by its TTL proves that nobody has the data. A copy that came by more hops but sooner has fewer hops to
    spare: one that comes later with more goes on, so that all within ``flood_ttl`` hops are asked however slow the
    links are. Each link carries two messages at most for each number of hops to spare.
    """

    __slots__ = ()

    name = "flood"
    summary = "a flood to all neighbours"
    uses: ClassVar[tuple[str, ...]] = ("flood_ttl",)
    remembers = True

    def __init__(self, config: BrokerConfig) -> None:
        self.ttl = config.flood_ttl

    def reach(self, hops: int) -> int:
        return self.ttl - hops

    def decide(self, view: View) -> Move | None:
        if view.moves:
            return None
        others = [neighbour for neighbour in view.neighbours if neighbour != view.path[-1]]
        return Ask(self.choose(others, view))

    def choose(self, others: Sequence[Address], view: View) -> Sequence[Address]:
        return others

    def brokers_asked(self, brokers: int, links: int, having: float) -> float:
        return 2.0 * links


class NormalizedFlood(Flood):
    """To ``flood_degree`` neighbours, drawn at random, where there are more (Gkantsidis et al. 2005).

    Brokers with many neighbours, which a plain flood makes send most of its messages, send no more than others.
    """

    __slots__ = ("_degree",)

    name = "normalized-flood"
    summary = "a flood to a few neighbours"
    uses = (*Flood.uses, "flood_degree")

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self._degree = config.flood_degree

    def choose(self, others: Sequence[Address], view: View) -> Sequence[Address]:
        return others if len(others) <= self._degree else view.chance.sample(others, self._degree)
