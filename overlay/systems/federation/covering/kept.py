"""The subscriptions of a link that no other covers, kept up to date as subscriptions come and go.

Each covered one is noted at one that is kept and covers it. When that goes, what it covered is decided again.
"""

from __future__ import annotations

from overlay.systems.federation.covering.covers import Coverable
from overlay.systems.federation.wire.values import Subscription, SubscriptionId

Changed = dict[SubscriptionId, None]
"""An ordered set."""


class Kept:
    """Which of two equal ones is kept depends on their history."""

    def __init__(self) -> None:
        self._kept: dict[SubscriptionId, Coverable] = {}
        self._by_scope: dict[str, dict[SubscriptionId, Coverable]] = {}
        """Those that are kept."""
        self._covered: dict[SubscriptionId, dict[SubscriptionId, Coverable]] = {}
        """By the one that is noted as covering them; none is empty."""
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
            assert all(self._by_scope[scope][one.subscription.id] is one for scope in one.scopes)
            assert not any(other.covers(one) for other in self._kept.values() if other is not one)

    def _place(self, one: Coverable, changed: Changed) -> None:
        sid = one.subscription.id
        changed[sid] = None
        coverer = self._find_coverer(one)
        if coverer is not None:
            self._covered.setdefault(coverer, {})[sid] = one
            self._coverer[sid] = coverer
            return
        needless = [other for other in self._near(one) if one.covers(other)]
        self._kept[sid] = one
        for scope in one.subscription.scopes:
            self._by_scope.setdefault(scope, {})[sid] = one
        for other in needless:
            inner = self._unkeep(other.subscription.id)
            for again in (other, *inner):
                self._place(again, changed)

    def _find_coverer(self, one: Coverable) -> SubscriptionId | None:
        """It has all scopes of ``one``, so also the one with the fewest."""
        groups = [self._by_scope.get(scope, {}) for scope in one.subscription.scopes]
        return next((sid for sid, other in min(groups, key=len).items() if other.covers(one)), None)

    def _near(self, one: Coverable) -> list[Coverable]:
        """Those that are kept and share a scope."""
        found = {
            sid: other for scope in one.subscription.scopes for sid, other in self._by_scope.get(scope, {}).items()
        }
        return list(found.values())

    def _unkeep(self, sid: SubscriptionId) -> list[Coverable]:
        """Returns what it covered, which is then nowhere."""
        one = self._kept.pop(sid)
        for scope in one.scopes:
            del self._by_scope[scope][sid]
            if not self._by_scope[scope]:
                del self._by_scope[scope]
        covered = list(self._covered.pop(sid, {}).values())
        for other in covered:
            del self._coverer[other.subscription.id]
        return covered

    def _uncover(self, sid: SubscriptionId) -> None:
        coverer = self._coverer.pop(sid)
        del self._covered[coverer][sid]
        if not self._covered[coverer]:
            del self._covered[coverer]
