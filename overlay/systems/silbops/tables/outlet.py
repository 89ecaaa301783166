"""What one neighbour is to know, and what it was told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from overlay.systems.silbops.tables.announced import Announced
from overlay.systems.silbops.tables.contexts import Contexts
from overlay.systems.silbops.tables.forwarded import Forwarded
from overlay.systems.silbops.tables.pruning import NEVER, Pruning
from overlay.systems.silbops.tables.publishers import Publishers
from overlay.systems.silbops.tables.rows import Advertisement, Context, Key, Link, Owner, Subscription


@dataclass(frozen=True, slots=True)
class Difference:
    """To be told to a neighbour, in the order of the fields.

    So a context precedes the subscription that needs it, and a broader subscription replaces what it covers without a
    gap.
    """

    advertised: tuple[Advertisement, ...] = ()
    unadvertised: tuple[Key, ...] = ()
    publishers: tuple[tuple[Owner, Context], ...] = ()
    """Their contexts, if they are forwarded to all neighbours."""
    contexts: tuple[tuple[Owner, Context], ...] = ()
    subscribed: tuple[Subscription, ...] = ()
    unsubscribed: tuple[Key, ...] = ()
    forgotten: tuple[Owner, ...] = ()

    def __bool__(self) -> bool:
        return any(
            (
                *(self.advertised, self.unadvertised, self.publishers, self.contexts),
                *(self.subscribed, self.unsubscribed, self.forgotten),
            )
        )


@dataclass(slots=True)
class _Told:
    advertisements: dict[Key, Advertisement] = field(default_factory=dict)
    subscriptions: dict[Key, Subscription] = field(default_factory=dict)
    versions: dict[Owner, int] = field(default_factory=dict)
    """Of the contexts."""
    publishers: dict[Owner, Context] = field(default_factory=dict)
    """Contexts of publishers, as they were told last."""


class Outlet:
    """``offer_*`` and ``touch_context`` are called with what may have changed; ``difference`` gives what has, once."""

    def __init__(
        self,
        link: Link,
        contexts: Contexts,
        announced: Announced,
        *,
        is_covering: bool,
        has_publisher_scope: bool,
        prune: str,
    ) -> None:
        self.publishers = Publishers()
        """Behind the neighbour."""
        self._link, self._contexts, self._announced = link, contexts, announced
        self._has_publisher_scope = has_publisher_scope
        self._pruning = None
        if prune != NEVER:
            self._pruning = Pruning(prune, self.publishers, lambda owner: announced.get(link, owner), contexts)
        self._advertised: dict[Key, Advertisement] = {}
        self._forwarded = Forwarded(is_covering=is_covering, is_by_owner=has_publisher_scope)
        self._readers: Counter[Owner] = Counter()
        """How many forwarded subscriptions each has whose functions, or whose publishers', read its context."""
        self._reading: set[Key] = set()
        """Those that are counted."""
        self._told = _Told()
        self._changed: tuple[dict[Key, None], dict[Key, None], dict[Owner, None], dict[Owner, None]] = _nothing()
        """Advertisements, subscriptions, contexts, contexts of publishers."""

    @property
    def forwarded(self) -> int:
        """Subscriptions that the neighbour is to know."""
        return len(self._forwarded)

    def offer_advertisement(self, key: Key, one: Advertisement | None) -> None:
        """What it is to know under this key; None if nothing."""
        if one is None:
            self._advertised.pop(key, None)
        else:
            self._advertised[key] = one
        self._changed[0][key] = None

    def offer_subscription(self, key: Key, one: Subscription | None) -> None:
        """The newest one that came by another link; None if none did."""
        if self._pruning is not None:
            self._pruning.offer(key, one)
        is_called = one is not None and self._calls_for(one)
        if not is_called and not self._forwarded.is_known(key):
            return
        changed = self._forwarded.put(one) if one is not None and is_called else self._forwarded.drop(key)
        for changed_key in changed:
            self._changed[1][changed_key] = None
            self._count_reader(changed_key)

    def put_publisher(self, one: Advertisement) -> bool:
        """As ``Publishers.put``."""
        is_changed = self.publishers.put(one)
        self._offer_again(self._pruning.of_advertisements() if self._pruning else ())
        return is_changed

    def drop_publisher(self, key: Key) -> bool:
        """As ``Publishers.drop``."""
        is_changed = self.publishers.drop(key)
        self._offer_again(self._pruning.of_advertisements() if self._pruning else ())
        return is_changed

    def touch_publisher(self, owner: Owner) -> None:
        """Another link has told another context of it."""
        if self._pruning is not None:
            self._changed[3][owner] = None

    def weigh_publishers(self) -> None:
        """The neighbour has told another context of one."""
        self._offer_again(self._pruning.of_publisher() if self._pruning else ())

    def must_announce(self, owner: Owner, context: Context) -> bool:
        """Whether the context of a publisher is to be told before its publication. It then is."""
        if self._told.publishers.get(owner) == context:
            return False
        self._told.publishers[owner] = context
        return True

    def newly_idle(self) -> list[Key]:
        """Since the last call."""
        if self._pruning is None:
            return []
        found, self._pruning.new = self._pruning.new, []
        return found

    def ripen(self, key: Key) -> None:
        """As ``Pruning.ripen``."""
        one = None if self._pruning is None else self._pruning.ripen(key)
        self._offer_again(() if one is None else (one,))

    def state(self, key: Key) -> str:
        """Of a subscription that came by another link: ``told``, ``covered`` by another one, ``pruned``, or ``not
        called for`` by the advertisements of a publisher there."""
        if key in self._told.subscriptions:
            return "told"
        if self._forwarded.is_known(key):
            return "covered"
        return "pruned" if self._pruning is not None and self._pruning.is_pruned(key) else "not called for"

    def touch_context(self, owner: Owner) -> None:
        """It is new, newer or gone."""
        self._offer_again(self._pruning.of_subscriber(owner) if self._pruning else ())
        if self._readers[owner] or owner in self._told.versions:
            self._changed[2][owner] = None

    def heard_context(self, owner: Owner, version: int) -> None:
        """From the neighbour itself, which need not be told it again if it was told one before."""
        if owner in self._told.versions:
            self._told.versions[owner] = max(version, self._told.versions[owner])

    def difference(self) -> Difference:
        if not any(self._changed):
            return _NOTHING
        advertisements, subscriptions, owners, publishers = self._changed
        self._changed = _nothing()
        told = self._told
        advertised, unadvertised = _bring(told.advertisements, self._advertised.get, advertisements)
        subscribed, unsubscribed = _bring(told.subscriptions, self._forwarded.get, subscriptions)
        for owner in {key.owner for key in unadvertised} if told.publishers else ():
            if not any(key.owner == owner for key in told.advertisements):
                told.publishers.pop(owner, None)
        announced = tuple(self._announcements(publishers))
        contexts, forgotten = self._context_changes(owners)
        return Difference(advertised, unadvertised, announced, contexts, subscribed, unsubscribed, forgotten)

    def _announcements(self, owners: Iterable[Owner]) -> Iterator[tuple[Owner, Context]]:
        for owner in sorted(owners):
            context = self._announced.of_others(self._link, owner)
            is_advertised = any(key.owner == owner for key in self._told.advertisements)
            if context is not None and is_advertised and self.must_announce(owner, context):
                yield owner, context

    def _calls_for(self, one: Subscription) -> bool:
        is_pruned = self._pruning is not None and self._pruning.is_pruned(one.key)
        return not is_pruned and self.publishers.call_for(one)

    def _offer_again(self, several: Iterable[Subscription]) -> None:
        for one in sorted(several, key=lambda one: one.key):
            self.offer_subscription(one.key, one)

    def _is_reader(self, one: Subscription) -> bool:
        is_read = self._has_publisher_scope and self.publishers.read_context_of(one)
        return one.scope is not None or is_read

    def _context_changes(
        self, owners: dict[Owner, None]
    ) -> tuple[tuple[tuple[Owner, Context], ...], tuple[Owner, ...]]:
        contexts, forgotten, versions = [], [], self._told.versions
        for owner in sorted(owners):
            context = self._contexts.get(owner) if self._readers[owner] else None
            if context is None:
                if versions.pop(owner, None) is not None:
                    forgotten.append(owner)
            elif versions.get(owner) != context.version:
                versions[owner] = context.version
                contexts.append((owner, context))
        return tuple(contexts), tuple(forgotten)

    def _count_reader(self, key: Key) -> None:
        one = self._forwarded.get(key)
        is_reader = one is not None and self._is_reader(one)
        if is_reader != (key in self._reading):
            (self._reading.add if is_reader else self._reading.remove)(key)
            self._readers[key.owner] += 1 if is_reader else -1
            if not self._readers[key.owner]:
                del self._readers[key.owner]
            self._changed[2][key.owner] = None

    def check_invariants(self, advertised: dict[Key, Advertisement], offered: dict[Key, Subscription]) -> None:
        """That what was told is what the tables say: ``advertised`` and ``offered`` came by other links.

        Raises ``AssertionError``.
        """
        assert not any(self._changed), "not told"
        assert self._told.advertisements == self._advertised == advertised
        self._forwarded.check_invariants()
        if self._pruning is not None:
            self._pruning.check_invariants()
        called = {key: one for key, one in offered.items() if self._calls_for(one)}
        told = self._told.subscriptions
        for key, one in called.items():
            assert told.get(key) == one if self._forwarded.get(key) else self._forwarded.is_known(key), key
        assert all(called.get(key) == one and self._forwarded.get(key) == one for key, one in told.items())
        readers = {one.owner for one in told.values() if self._is_reader(one)}
        assert self._told.versions.keys() == {owner for owner in readers if self._contexts.get(owner)}


def _nothing() -> tuple[dict[Key, None], dict[Key, None], dict[Owner, None], dict[Owner, None]]:
    return {}, {}, {}, {}


_NOTHING = Difference()
_One = TypeVar("_One")


def _bring(
    told: dict[Key, _One], wanted: Callable[[Key], _One | None], keys: Iterable[Key]
) -> tuple[tuple[_One, ...], tuple[Key, ...]]:
    """Make ``told`` what ``wanted`` says of these keys; returns what is new or other, and the keys of what is gone."""
    added, removed = [], []
    for key in sorted(keys):
        one = wanted(key)
        if one is None:
            if told.pop(key, None) is not None:
                removed.append(key)
        elif told.get(key) != one:
            told[key] = one
            added.append(one)
    return tuple(added), tuple(removed)
