"""Walk policies: they choose the next neighbour of a request. To add one, copy a class and name it in ``POLICIES``.

``path`` has the hops as they will be sent: the consumer first, and last the sender from which the request arrived. If
a policy returns ``None``, the walk ends and NACK 202 goes back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import ClassVar

from overlay.core.addresses import Address
from overlay.core.chance import Chance

MANY = 16
"""From this number of candidates, drawing until one fits is cheaper than listing those that fit."""


STEPS = 0.6
"""Mean steps until a walk reaches the only holder among n brokers, divided by n; measured at n = 100, mean degree 4."""

FEW = 8
"""Up to this path length, searching the path is as fast as building a set."""


class WalkPolicy(ABC):
    """Stateless: one object serves all brokers of a process. For a search that learns, write a strategy
    (``search``)."""

    summary: ClassVar[str]
    """A short description for forms and the documentation."""
    steps = STEPS
    """``STEPS`` for this policy. Walks that stop at dead ends take fewer steps."""
    is_exhaustive = False
    """Whether the walk tries the next neighbour after a refusal, so that not-found is proved; otherwise it ends."""

    @abstractmethod
    def choose(self, neighbours: Sequence[Address], path: Sequence[Address], chance: Chance) -> Address | None: ...


def pick(candidates: Sequence[Address], chance: Chance) -> Address | None:
    """A uniformly random candidate; ``None`` if there are none."""
    return candidates[int(chance.random() * len(candidates))] if candidates else None


def pick_other(candidates: Sequence[Address], but: Collection[Address], chance: Chance) -> Address | None:
    """A uniformly random candidate that is not in ``but``; ``None`` if there is none.

    With many candidates it draws until one fits, which takes at most two draws on average.
    """
    count = len(candidates)
    if count < MANY or count < 2 * len(but):
        fit = [candidate for candidate in candidates if candidate not in but]
        return fit[int(chance.random() * len(fit))] if fit else None
    while (candidate := candidates[int(chance.random() * count)]) in but:
        pass
    return candidate


class Avoid(WalkPolicy):
    """A neighbour not on the path; if there is none, any but the sender; if there is none either, the walk ends.

    So a walk ends at a broker whose only neighbour is the sender, and may report existing data as not found. With one
    holder among ten brokers of mean degree 2, that happens to more than half of the queries
    (``docs/results/search-strategies.md``).
    """

    summary = "one not yet on the path"

    def choose(self, neighbours: Sequence[Address], path: Sequence[Address], chance: Chance) -> Address | None:
        fresh = pick_other(neighbours, path if len(path) < FEW else frozenset(path), chance)
        return pick_other(neighbours, path[-1:], chance) if fresh is None else fresh


class Uniform(WalkPolicy):
    """Any neighbour including the sender, as in the prototype of seed 000."""

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
    """Depth-first search: a neighbour not on the path, and after its refusal the next. Not-found is proved.

    Brokers remember a query for some time and refuse it if it arrives again, so no link carries it more than twice.
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
