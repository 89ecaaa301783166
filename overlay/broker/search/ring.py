"""Expanding ring: shallow floods, each wider than the last, until one finds the data (Lv et al. 2002)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlay.broker.search.strategy import Look, Move, View
from overlay.broker.search.walk import Walk

if TYPE_CHECKING:
    from overlay.broker.config import BrokerConfig


class ExpandingRing(Walk):
    """The consumer's broker floods 1, 2, ... ``flood_ttl`` hops far, and waits each time for what comes back.

    Data nearby cost few messages; data far away cost those of every ring, and the waiting. A request that another
    broker sends on, whose strategy must be another one, walks.
    """

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self._widest = config.flood_ttl
        self._wait_ms = config.lookahead_wait_ms

    def decide(self, view: View) -> Move | None:
        if not view.is_origin:
            return super().decide(view)
        ttl = view.moves + 1
        return Look(ttl, ttl * self._wait_ms) if ttl <= self._widest else None
