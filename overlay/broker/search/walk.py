"""Walks: one request on its way, or several that start together at the consumer's broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlay.addresses import Address
from overlay.broker.search.strategy import Ask, Move, Strategy, View
from overlay.broker.walks import POLICIES

if TYPE_CHECKING:
    from overlay.broker.config import BrokerConfig


class Walk(Strategy):
    """The random walk of seed 000: one neighbour, chosen by the walk policy.

    Under an exhaustive policy (``backtrack``) a refusal leads to the next neighbour, otherwise it ends the walk.
    """

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self._policy = POLICIES[config.walk_policy]
        self.remembers = self._policy.is_exhaustive

    def decide(self, view: View) -> Move | None:
        if view.moves and not self._policy.is_exhaustive:
            return None
        return self.step(view)

    def step(self, view: View, tried: frozenset[Address] = frozenset()) -> Ask | None:
        """One step of a walk, to a neighbour that was not asked before; to one that may be dead only if need be."""
        tried = view.tried | tried if view.tried else tried
        untried = [neighbour for neighbour in view.neighbours if neighbour not in tried] if tried else view.neighbours
        neighbour = None
        if view.suspects:
            living = [neighbour for neighbour in untried if neighbour not in view.suspects]
            neighbour = self._policy.choose(living, view.path, view.chance)
        if neighbour is None:
            neighbour = self._policy.choose(untried, view.path, view.chance)
        return None if neighbour is None else Ask((neighbour,))


class KWalkers(Walk):
    """Several walks from the consumer's broker, each as ``Walk`` (Lv et al. 2002: 16 to 64 in networks of 10,000).

    They share the delay and multiply the messages; a walk that ends does not call the others back, which run on until
    they find the data, too, or their TTL.
    """

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
