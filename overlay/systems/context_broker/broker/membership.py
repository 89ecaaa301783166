"""Whom a broker prefers among those that it could have as neighbours. Copy a class, and name it in ``MEMBERSHIPS``.

Counterpart: ``neighbour_search`` pings the candidates three times each and joins them in the order given here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from overlay.core.addresses import Address
from overlay.core.chance import Chance


class Preference(ABC):
    @abstractmethod
    def rank(self, round_trips: Mapping[Address, float], chance: Chance) -> Sequence[Address]:
        """All of them, the most wanted first; ``round_trips`` are means in nanoseconds."""


class Greedy(Preference):
    """The nearest first (Wang and Vanninen 2006, as seed 000 quotes them).

    Each hop is then short. What lies far from everybody else may form a cluster that nobody outside prefers.
    """

    def rank(self, round_trips: Mapping[Address, float], chance: Chance) -> Sequence[Address]:
        return sorted(round_trips, key=lambda address: (round_trips[address], address))


class RandomNeighbours(Preference):
    """Any that answered: the contrast. Hops are as long as chance has it, and there are hardly any clusters."""

    def rank(self, round_trips: Mapping[Address, float], chance: Chance) -> Sequence[Address]:
        return chance.sample(list(round_trips), len(round_trips))


GIVEN = "given"

MEMBERSHIPS: dict[str, Preference | None] = {
    GIVEN: None,
    "greedy": Greedy(),
    "random": RandomNeighbours(),
}
"""``None`` where whoever orders a join says whom to join, as the prototype's controller did."""
