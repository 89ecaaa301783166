"""Which gateways give nodes away, and how many: scores, ideal numbers, and the damping of moves (contract, section 5).

The paper leaves damping open (seed, 5.2). Here a score is smoothed, an excess must last, moves have a budget, and a
node that was moved is left alone (``Seats``).
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple

from overlay.systems.contextnet.poa.settings import PoaSettings
from overlay.systems.contextnet.poa.shares import Counts, ideal, targets


class Plan(NamedTuple):
    """Of a round."""

    wanted: Counts
    """In(X)."""
    budget: int
    moves: Mapping[str, list[str]]
    """The targets of the nodes that each gateway gives away."""


class Balancer:
    def __init__(self, settings: PoaSettings) -> None:
        self._settings = settings
        self.scores: dict[str, float] = {}
        """Smoothed."""
        self._above: dict[str, int] = {}
        """For how many rounds a gateway has had too many nodes."""

    def score(self, fresh: Mapping[str, float]) -> None:
        """The scores of a round, of all gateways that are active."""
        share = self._settings.smoothing
        self.scores = {
            gateway: share * score + (1 - share) * self.scores.get(gateway, score) for gateway, score in fresh.items()
        }
        self._above = {gateway: rounds for gateway, rounds in self._above.items() if gateway in fresh}

    def plan(self, counts: Counts, movable: Counts, draining: Set[str]) -> Plan | None:
        """``counts`` and ``movable``: nodes of each gateway with a score, and those of them that may move. ``None``:
        there is no gateway to move to."""
        weights = {gateway: 0.0 if gateway in draining else score for gateway, score in self.scores.items()}
        if not any(weights.values()):
            return None
        nodes = sum(counts.values())
        wanted = ideal(nodes, weights)
        share = self._settings.budget
        budget = max(1, int(share * nodes)) if share and nodes else 0
        giving = {
            gateway: min(movable[gateway], surplus)
            for gateway in counts
            if (surplus := self._surplus(gateway, counts[gateway], wanted[gateway], gateway in draining))
        }
        return Plan(wanted, budget, targets(counts, wanted, giving, budget))

    def _surplus(self, gateway: str, count: int, wanted: int, is_draining: bool) -> int:
        """What it is to give away: nothing before it has had too many for some rounds; then down to half the band."""
        settings = self._settings
        if is_draining:
            return count
        rounds = self._above.get(gateway, 0)
        band = settings.band / 2 if rounds >= settings.persistence else settings.band
        if count <= (1 + band) * wanted:
            self._above.pop(gateway, None)
            return 0
        self._above[gateway] = rounds = min(rounds + 1, settings.persistence)
        return 0 if rounds < settings.persistence else int(count - (1 + settings.band / 2) * wanted)
