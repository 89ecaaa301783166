"""Preferences among candidates for neighbours. To add one, copy a class and add it to ``MEMBERSHIPS``.

Counterpart: ``neighbour_search`` pings the candidates three times each and joins them in this order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from overlay.core.addresses import Address
from overlay.core.chance import Chance


class Preference(ABC):
    @abstractmethod
    def rank(self, round_trips: Mapping[Address, float], chance: Chance) -> Sequence[Address]:
        """All candidates, the preferred ones first; ``round_trips`` are means in nanoseconds."""


class Greedy(Preference):
    """The nearest first (Wang and Vanninen 2006, as quoted in seed 000).

    Hops are short, but distant brokers may form a cluster that no other broker prefers.
    """

    def rank(self, round_trips: Mapping[Address, float], chance: Chance) -> Sequence[Address]:
        return sorted(round_trips, key=lambda address: (round_trips[address], address))


class RandomNeighbours(Preference):
    """A random order, for comparison. Hops have average length, and there are hardly any clusters."""

    def rank(self, round_trips: Mapping[Address, float], chance: Chance) -> Sequence[Address]:
        return chance.sample(list(round_trips), len(round_trips))


GIVEN = "given"

MEMBERSHIPS: dict[str, Preference | None] = {
    GIVEN: None,
    "greedy": Greedy(),
    "random": RandomNeighbours(),
}
"""``None``: the controller decides which brokers to join, as in the prototype."""
