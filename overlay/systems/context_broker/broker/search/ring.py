"""Expanding ring: shallow floods, each wider than the last, until one finds the data (Lv et al. 2002)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.search.flood import Flood
from overlay.systems.context_broker.broker.search.strategy import Look, Move, View

if TYPE_CHECKING:
    from overlay.systems.context_broker.broker.config import BrokerConfig


class ExpandingRing(Flood):
    """The consumer's broker looks 1, 2, ... hops far, waits each time for what comes back, and at last floods.

    Data nearby cost few messages; data far away cost those of every ring, and the waiting. A Lookahead that finds
    nothing is answered by silence, and how long to wait for that nobody can know: a broker can time its own links, not
    those beyond. So a ring waits by the slowest of its own, where pings have timed them, and one that gives up too soon
    costs messages only: the widest ring is a flood that ends when all have refused, however long that takes.
    """

    __slots__ = ("_narrower", "_wait_ms")

    name = "expanding-ring"
    summary = "a series of ever wider floods"
    uses = (*Flood.uses, "lookahead_wait_ms")

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self._narrower = config.flood_ttl - 1
        self._wait_ms = config.lookahead_wait_ms

    def decide(self, view: View) -> Move | None:
        if not view.is_origin:
            return super().decide(view)
        if view.moves >= self._narrower:
            return super().decide(replace(view, moves=view.moves - self._narrower))
        ttl = view.moves + 1
        return Look(ttl, ttl * max(self._wait_ms, -(-view.round_trip_ns // MILLISECOND)))
