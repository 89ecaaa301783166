"""Subscriptions that a neighbour need not know for now: their function is false for all its publishers that call for
them (seed 002, section 7, future work 3).

Such a one is *idle*. When it is *pruned* is a setting: at once, after a time, or when next an advertisement of the
neighbour changes. Once it is no longer idle, it is back at once. A publisher whose context is not known makes none
idle, and neither is one that asks whether a variable of the publisher exists: an advertisement may leave that out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from overlay.systems.silbops.scope.compiling import compiled
from overlay.systems.silbops.scope.evaluation import ScopeError
from overlay.systems.silbops.scope.tree import PUBLISHER, names
from overlay.systems.silbops.tables.contexts import Contexts
from overlay.systems.silbops.tables.publishers import Publishers
from overlay.systems.silbops.tables.rows import Context, Key, Owner, Subscription

NEVER, EACH_CHANGE, TIMED, ADVERTISEMENT = "never", "each-change", "timed", "advertisement"


class Pruning:
    def __init__(
        self, mode: str, publishers: Publishers, announced: Callable[[Owner], Context | None], contexts: Contexts
    ) -> None:
        """``publishers`` are behind the neighbour, ``announced`` is what it told of them."""
        self._mode, self._publishers, self._announced, self._contexts = mode, publishers, announced, contexts
        self._offered: dict[Owner, dict[Key, Subscription]] = {}
        """All that may become idle, by owner."""
        self._idle: dict[Key, None] = {}
        self._pruned: set[Key] = set()
        self.new: list[Key] = []
        """Those that have become idle since it was cleared, if they are pruned after a time."""

    def is_pruned(self, key: Key) -> bool:
        return key in self._pruned

    def offer(self, key: Key, one: Subscription | None) -> None:
        """Add it, or replace the one with its key; ``None``: it is gone."""
        if one is not None and one.scope is not None and names(one.scope, PUBLISHER) <= one.wanted:
            self._offered.setdefault(key.owner, {})[key] = one
            self._weigh(one)
            return
        of_owner = self._offered.get(key.owner, {})
        if of_owner.pop(key, None) is not None and not of_owner:
            del self._offered[key.owner]
        self._wake(key)

    def of_subscriber(self, owner: Owner) -> list[Subscription]:
        """Its context has changed: those of which it has changed whether they are pruned."""
        return self._changed(self._offered.get(owner, {}).values())

    def of_publisher(self) -> list[Subscription]:
        """As ``of_subscriber``, after a change of a publisher's context."""
        return self._changed(one for several in self._offered.values() for one in several.values())

    def of_advertisements(self) -> list[Subscription]:
        """As ``of_subscriber``, after a change of advertisements."""
        changed = self.of_publisher()
        if self._mode != ADVERTISEMENT:
            return changed
        idle = [self._offered[key.owner][key] for key in self._idle if key not in self._pruned]
        self._pruned.update(one.key for one in idle)
        return changed + idle

    def ripen(self, key: Key) -> Subscription | None:
        """It was idle for long enough, or is no longer. Returns it if it is pruned since."""
        if key not in self._idle or key in self._pruned:
            return None
        self._pruned.add(key)
        return self._offered[key.owner][key]

    def _changed(self, several: Iterable[Subscription]) -> list[Subscription]:
        found = []
        for one in several:
            before = one.key in self._pruned
            self._weigh(one)
            if before != (one.key in self._pruned):
                found.append(one)
        return found

    def _weigh(self, one: Subscription) -> None:
        if not self._is_idle(one):
            self._wake(one.key)
        elif one.key not in self._idle:
            self._idle[one.key] = None
            if self._mode == TIMED:
                self.new.append(one.key)
            elif self._mode == EACH_CHANGE:
                self._pruned.add(one.key)

    def _wake(self, key: Key) -> None:
        self._idle.pop(key, None)
        self._pruned.discard(key)

    def _is_idle(self, one: Subscription) -> bool:
        assert one.scope is not None
        own, test = self._contexts.get(one.owner), compiled(one.scope)
        for owner in self._publishers.calling(one):
            context = self._announced(owner)
            if context is None:
                return False
            try:
                if own is not None and test(context.values, own.values):
                    return False
            except ScopeError:
                continue
        return True

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        offered = {key: one for several in self._offered.values() for key, one in several.items()}
        assert all(self._offered.values())
        assert self._idle.keys() == {key for key, one in offered.items() if self._is_idle(one)}
        assert self._pruned <= self._idle.keys()
        assert self._mode != EACH_CHANGE or self._pruned == self._idle.keys()
