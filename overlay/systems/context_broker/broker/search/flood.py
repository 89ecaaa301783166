"""Floods: each broker forwards the request to all neighbours, or to a fixed number of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.search.strategy import Ask, Move, Strategy, View

if TYPE_CHECKING:
    from overlay.systems.context_broker.broker.config import BrokerConfig


class Flood(Strategy):
    """To every neighbour but the sender, ``flood_ttl`` hops far (Gnutella's search, as Lv et al. 2002 measure it).

    A broker that has seen the query refuses it immediately. Refusals are combined on the way back, so a flood that was
    not limited by its TTL proves that no broker has the data. A copy on a longer path may arrive first and have fewer
    hops left. A later copy with more hops left is forwarded again, so that all brokers within ``flood_ttl`` hops are
    asked, independent of link delays. Each link carries at most two messages per number of hops left.
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
    """To at most ``flood_degree`` neighbours, drawn at random (Gkantsidis et al. 2005).

    In a plain flood, brokers with many neighbours send most of the messages; here they send no more than others.
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
