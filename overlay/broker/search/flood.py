"""Floods: everybody is asked, or as many as the least connected broker could ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from overlay.addresses import Address
from overlay.broker.search.strategy import Ask, Move, Strategy, View

if TYPE_CHECKING:
    from overlay.broker.config import BrokerConfig


class Flood(Strategy):
    """To every neighbour but the sender, ``flood_ttl`` hops far (Gnutella's search, as Lv et al. 2002 measure it).

    A broker that saw the query refuses it at once, so that refusals run together on the way back and a flood that was
    not cut short by its TTL proves that nobody has the data.
    """

    remembers = True

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self.ttl = config.flood_ttl

    def decide(self, view: View) -> Move | None:
        if view.moves:
            return None
        others = [neighbour for neighbour in view.neighbours if neighbour != view.path[-1]]
        return Ask(self.choose(others, view))

    def choose(self, others: Sequence[Address], view: View) -> Sequence[Address]:
        return others


class NormalizedFlood(Flood):
    """To ``flood_degree`` neighbours, drawn at random, where there are more (Gkantsidis et al. 2005).

    Brokers with many neighbours, which a plain flood makes send most of its messages, send no more than others.
    """

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self._degree = config.flood_degree

    def choose(self, others: Sequence[Address], view: View) -> Sequence[Address]:
        return others if len(others) <= self._degree else view.chance.sample(others, self._degree)
