"""Walks: one request, or several that start together at the consumer's broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.search.strategy import Ask, Move, Strategy, View
from overlay.systems.context_broker.broker.walks import POLICIES

if TYPE_CHECKING:
    from overlay.systems.context_broker.broker.config import BrokerConfig


class Walk(Strategy):
    """The random walk of seed 000: one neighbour, chosen by the walk policy.

    With an exhaustive policy (``backtrack``) a refused walk tries the next neighbour; otherwise it ends.
    """

    __slots__ = ("policy", "remembers")

    name = "walk"
    summary = "one walk"
    uses: ClassVar[tuple[str, ...]] = ("walk_policy", "walk_ttl")

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self.policy = POLICIES[config.walk_policy]
        self.remembers = self.policy.is_exhaustive

    def decide(self, view: View) -> Move | None:
        if view.moves and not self.policy.is_exhaustive:
            return None
        return self.step(view)

    def step(self, view: View, tried: frozenset[Address] = frozenset()) -> Ask | None:
        """One step, to a neighbour that was not asked before. Suspected neighbours are a last resort."""
        tried = view.tried | tried if view.tried else tried
        untried = [neighbour for neighbour in view.neighbours if neighbour not in tried] if tried else view.neighbours
        neighbour = None
        if view.suspects:
            neighbour = self.choose([neighbour for neighbour in untried if neighbour not in view.suspects], view)
        if neighbour is None:
            neighbour = self.choose(untried, view)
        return None if neighbour is None else Ask((neighbour,))

    def choose(self, candidates: Sequence[Address], view: View) -> Address | None:
        """One of ``candidates``; ``None`` if the walk ends."""
        return self.policy.choose(candidates, view.path, view.chance)

    def brokers_asked(self, brokers: int, links: int, having: float) -> float:
        return min(self.policy.steps * brokers / having, self.ttl)


class KWalkers(Walk):
    """Several walks from the consumer's broker, each like ``Walk`` (Lv et al. 2002: 16 to 64 in networks of 10,000).

    Each starts at a different neighbour, so their number is at most the number of neighbours. They reduce the delay
    and multiply the messages. When one finds the data, the others are not cancelled: they continue until they find it
    or reach their TTL.
    """

    __slots__ = ("_walkers",)

    name = "k-walkers"
    summary = "several walks at once, at most one per neighbour of the consumer's broker"
    uses = (*Walk.uses, "walkers")

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self._walkers = config.walkers

    def decide(self, view: View) -> Move | None:
        if not view.is_origin or view.moves:
            return super().decide(view)
        chosen: list[Address] = []
        while len(chosen) < self._walkers and (step := self.step(view, frozenset(chosen))) is not None:
            chosen += step.neighbours
        return Ask(tuple(chosen)) if chosen else None

    def brokers_asked(self, brokers: int, links: int, having: float) -> float:
        return self._walkers * super().brokers_asked(brokers, links, having)
