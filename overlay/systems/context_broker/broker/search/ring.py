"""Expanding ring: floods of growing depth until one finds the data (Lv et al. 2002)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.search.flood import Flood
from overlay.systems.context_broker.broker.search.strategy import Look, Move, View

if TYPE_CHECKING:
    from overlay.systems.context_broker.broker.config import BrokerConfig


class ExpandingRing(Flood):
    """The consumer's broker sends lookaheads of 1, 2, ... hops, waits for replies to each, and finally floods.

    Nearby data costs few messages. Distant data costs the messages and the waiting time of every ring. A Lookahead that
    finds nothing gets no reply, so the broker must guess how long to wait: it can measure its own links, not those
    beyond. The wait is based on the slowest own link, if pings have measured it. Too short a wait costs only messages:
    the last ring is a flood that ends when all brokers have refused, however long that takes.
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
