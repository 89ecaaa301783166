"""Random walk with lookahead: what seed 000 designed (its section 3.4.3) and its prototype left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlay.systems.context_broker.broker.search.strategy import Look, Move, View
from overlay.systems.context_broker.broker.search.walk import Walk

if TYPE_CHECKING:
    from overlay.systems.context_broker.broker.config import BrokerConfig


class WalkWithLookahead(Walk):
    """A shallow flood around each step, then the step (Gkantsidis et al. 2005).

    The step waits for the flood, for otherwise nearly every walk would be a step too long; a longer wait saves
    messages and costs time at each step.
    """

    __slots__ = ("_look",)

    name = "lookahead"
    summary = "a walk with a shallow flood at each step"
    uses = (*Walk.uses, "lookahead_ttl", "lookahead_wait_ms")

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self._look = Look(config.lookahead_ttl, config.lookahead_ttl * config.lookahead_wait_ms)

    def decide(self, view: View) -> Move | None:
        return super().decide(replace(view, moves=view.moves - 1)) if view.moves else self._look
