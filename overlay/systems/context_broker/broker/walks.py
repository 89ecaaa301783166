"""Which neighbour a request goes to next. A policy is a class with one method; copy one, and name it in ``POLICIES``.

``path`` is the hops as they will be sent: the consumer first, the sender (whom we got the request from) last. ``None``
ends the walk, and NACK 202 goes back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import ClassVar

from overlay.core.addresses import Address
from overlay.core.chance import Chance

MANY = 16
"""Candidates from which on to draw and look is cheaper than to list those that may be drawn."""


STEPS = 0.6
"""Steps until a walk meets the one of n brokers that has the data, over n, as seen among 100 of mean degree 4."""

FEW = 8
"""Brokers on a path that are looked through as quickly as a set of them is made."""


class WalkPolicy(ABC):
    """Keeps nothing: one object serves all brokers of a process. What learns is a strategy (``search``)."""

    summary: ClassVar[str]
    """What it chooses, in a few words for forms and the documentation."""
    steps = STEPS
    """As ``STEPS`` for this policy; walks that end at dead ends make fewer."""
    is_exhaustive = False
    """Whether a refusal leads to the next neighbour, so that a not-found is proved; else it ends the walk."""

    @abstractmethod
    def choose(self, neighbours: Sequence[Address], path: Sequence[Address], chance: Chance) -> Address | None: ...


def pick(candidates: Sequence[Address], chance: Chance) -> Address | None:
    """One of them uniformly; ``None`` of none."""
    return candidates[int(chance.random() * len(candidates))] if candidates else None


def pick_other(candidates: Sequence[Address], but: Collection[Address], chance: Chance) -> Address | None:
    """One uniformly of those that are not in ``but``; ``None`` where there is none.

    Of many, it is drawn until one fits, which takes two draws at most on average however many there are.
    """
    count = len(candidates)
    if count < MANY or count < 2 * len(but):
        fit = [candidate for candidate in candidates if candidate not in but]
        return fit[int(chance.random() * len(fit))] if fit else None
    while (candidate := candidates[int(chance.random() * count)]) in but:
        pass
    return candidate


class Avoid(WalkPolicy):
    """One not yet on the path; where there is none, any but the sender; where there is none of those, the walk ends.

    So it ends at a broker whose only neighbour is the sender, and reports data as absent that exist: more than half of
    the queries for one holder among ten brokers of mean degree 2 (``docs/results/search-strategies.md``).
    """

    summary = "one not yet on the path"

    def choose(self, neighbours: Sequence[Address], path: Sequence[Address], chance: Chance) -> Address | None:
        fresh = pick_other(neighbours, path if len(path) < FEW else frozenset(path), chance)
        return pick_other(neighbours, path[-1:], chance) if fresh is None else fresh


class Uniform(WalkPolicy):
    """Any neighbour, the sender too, as the prototype of seed 000."""

    summary = "any, as in the prototype"
    steps = 3.5

    def choose(self, neighbours: Sequence[Address], path: Sequence[Address], chance: Chance) -> Address | None:
        return pick(neighbours, chance)


class NoBack(WalkPolicy):
    """Any but the sender."""

    summary = "any but the sender"

    def choose(self, neighbours: Sequence[Address], path: Sequence[Address], chance: Chance) -> Address | None:
        return pick_other(neighbours, path[-1:], chance)


class Backtrack(WalkPolicy):
    """One not yet on the path, and after its refusal the next: depth first, so that a not-found is proved.

    Brokers remember a query for a while and refuse it when it comes again, so that no link carries it more than twice.
    """

    summary = "one after the other until all were asked, so not found means that no broker has the data"
    is_exhaustive = True

    def choose(self, neighbours: Sequence[Address], path: Sequence[Address], chance: Chance) -> Address | None:
        return pick_other(neighbours, path if len(path) < FEW else frozenset(path), chance)


POLICIES: dict[str, WalkPolicy] = {
    "avoid": Avoid(),
    "uniform": Uniform(),
    "noback": NoBack(),
    "backtrack": Backtrack(),
}
