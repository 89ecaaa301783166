"""The subscriptions of a link that no other covers, kept up to date as subscriptions come and go.

Each covered one is noted at one that is kept and covers it. When that goes, what it covered is decided again. Only
those of the same entity, or of none, are compared, as in the index of subscriptions, and at most ``MOST_COMPARED`` of
them: else one client that wants many different ranges would make each further subscription cost its broker more.
What is left out by that bound is only told without need.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from overlay.systems.federation.covering.covers import Coverable
from overlay.systems.federation.wire.values import Subscription, SubscriptionId

Changed = dict[SubscriptionId, None]
"""An ordered set."""
MOST_COMPARED = 32
"""Others that one is compared with to find what covers it, and to find what it covers; the oldest first."""


class Kept:
    """Which of two equal ones is kept depends on their history."""

    def __init__(self) -> None:
        self._kept: dict[SubscriptionId, Coverable] = {}
        self._places: dict[str, dict[str | None, dict[SubscriptionId, Coverable]]] = {}
        """Those that are kept, by scope, and by the entity that they fix, None if they fix none."""
        self._covered: dict[SubscriptionId, dict[SubscriptionId, Coverable]] = {}
        """By the one that is noted as covering them; none is empty."""
        self._was_large = False
        """Whether some were not compared, so that one that is kept may be covered."""
        self._coverer: dict[SubscriptionId, SubscriptionId] = {}

    def get(self, sid: SubscriptionId) -> Subscription | None:
        """If it is kept."""
        found = self._kept.get(sid)
        return None if found is None else found.subscription

    def put(self, subscription: Subscription) -> Changed:
        """Add it, or replace the one with its id. Returns the ids for which ``get`` may have changed."""
        changed = self.drop(subscription.id)
        self._place(Coverable.of(subscription), changed)
        return changed

    def drop(self, sid: SubscriptionId) -> Changed:
        """As ``put``. Nothing changes if it is not there."""
        changed: Changed = {sid: None}
        if sid in self._coverer:
            self._uncover(sid)
        elif sid in self._kept:
            for one in self._unkeep(sid):
                self._place(one, changed)
        return changed

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert all(self._covered.values())
        assert set(self._covered) <= set(self._kept)
        for sid, covered in self._covered.items():
            assert all(self._kept[sid].covers(one) for one in covered.values())
            assert all(self._coverer[one] == sid for one in covered)
        assert len(self._coverer) == sum(map(len, self._covered.values()))
        for one in self._kept.values():
            entity = one.conjunction.entity
            assert all(self._places[scope][entity][one.subscription.id] is one for scope in one.scopes)
            assert self._was_large or not any(other.covers(one) for other in self._above(one) if other is not one)

    def _place(self, one: Coverable, changed: Changed) -> None:
        sid = one.subscription.id
        changed[sid] = None
        self._was_large = self._was_large or len(self._kept) > MOST_COMPARED
        above = islice(self._above(one), MOST_COMPARED)
        coverer = next((other.subscription.id for other in above if other.covers(one)), None)
        if coverer is not None:
            self._covered.setdefault(coverer, {})[sid] = one
            self._coverer[sid] = coverer
            return
        below = {other.subscription.id: other for other in islice(self._below(one), MOST_COMPARED)}
        needless = [other for other in below.values() if one.covers(other)]
        self._kept[sid] = one
        for scope in one.scopes:
            self._places.setdefault(scope, {}).setdefault(one.conjunction.entity, {})[sid] = one
        for other in needless:
            inner = self._unkeep(other.subscription.id)
            for again in (other, *inner):
                self._place(again, changed)

    def _above(self, one: Coverable) -> Iterator[Coverable]:
        """Those that may cover it: they have all its scopes, and fix its entity or none."""
        places = self._places.get(one.subscription.scopes[0], {})
        for entity in dict.fromkeys((one.conjunction.entity, None)):
            yield from places.get(entity, {}).values()

    def _below(self, one: Coverable) -> Iterator[Coverable]:
        """Those that it may cover; one with several scopes may come more than once."""
        for scope in one.subscription.scopes:
            places, entity = self._places.get(scope, {}), one.conjunction.entity
            for rows in places.values() if entity is None else (places.get(entity, {}),):
                yield from rows.values()

    def _unkeep(self, sid: SubscriptionId) -> list[Coverable]:
        """Returns what it covered, which is then nowhere."""
        one = self._kept.pop(sid)
        for scope in one.scopes:
            places, entity = self._places[scope], one.conjunction.entity
            del places[entity][sid]
            if not places[entity]:
                del places[entity]
                if not places:
                    del self._places[scope]
        covered = list(self._covered.pop(sid, {}).values())
        for other in covered:
            del self._coverer[other.subscription.id]
        return covered

    def _uncover(self, sid: SubscriptionId) -> None:
        coverer = self._coverer.pop(sid)
        del self._covered[coverer][sid]
        if not self._covered[coverer]:
            del self._covered[coverer]
