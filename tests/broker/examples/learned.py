"""A walk that goes to each neighbour as often as it has had what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.search.strategy import Outcome, View
from overlay.systems.context_broker.broker.search.walk import Walk

if TYPE_CHECKING:  # the configuration names the strategies
    from overlay.systems.context_broker.broker.config import BrokerConfig


class Learned(Walk):
    name = "learned"
    summary = "one walk, to neighbours as often as they had the data"

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self._rates: dict[Address, float] = {}

    def choose(self, candidates: Sequence[Address], view: View) -> Address | None:
        fresh = [neighbour for neighbour in candidates if neighbour not in view.path]
        left = view.chance.random() * sum(self._rates.get(neighbour, 0.5) for neighbour in fresh)
        for neighbour in fresh:
            left -= self._rates.get(neighbour, 0.5)
            if left < 0:
                return neighbour
        return fresh[-1] if fresh else None

    def note_success(self, outcome: Outcome) -> None:
        self._note(outcome.neighbour, 1.0)

    def note_failure(self, outcome: Outcome) -> None:
        self._note(outcome.neighbour, 0.02)

    def _note(self, neighbour: Address, value: float) -> None:
        self._rates[neighbour] = 0.8 * self._rates.get(neighbour, 0.5) + 0.2 * value
        while len(self._rates) > 1000:  # of neighbours that there are no more
            del self._rates[next(iter(self._rates))]
