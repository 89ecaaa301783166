"""Random walk with lookahead: designed by seed 000 (section 3.4.3) but not implemented in its prototype."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlay.systems.context_broker.broker.search.strategy import Look, Move, View
from overlay.systems.context_broker.broker.search.walk import Walk

if TYPE_CHECKING:
    from overlay.systems.context_broker.broker.config import BrokerConfig


class WalkWithLookahead(Walk):
    """A shallow flood before each step (Gkantsidis et al. 2005).

    The step waits for the flood; otherwise nearly every walk would be one step too long. A longer wait saves messages
    and costs time at each step.
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
