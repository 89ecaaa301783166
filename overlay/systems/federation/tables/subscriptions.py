"""T: the subscriptions of a broker with their destinations, and what each neighbour and provider knows of them."""

from __future__ import annotations

from collections.abc import Iterable

from overlay.core.timers import earliest
from overlay.systems.federation.matching.index import Index, Row
from overlay.systems.federation.tables.destinations import Destination
from overlay.systems.federation.tables.outlets import Change, Outlet
from overlay.systems.federation.wire.values import Notification, Subscription, SubscriptionId


class SubscriptionTable:
    """Every change is carried to the outlets that it concerns; ``changes`` gives what they must be told."""

    def __init__(self) -> None:
        self._index: Index[Destination] = Index()
        self._from: dict[Destination, dict[SubscriptionId, None]] = {}
        """The ids by destination."""
        self._outlets: dict[Destination, Outlet] = {}
        self._serving: dict[str, dict[Destination, Outlet]] = {}
        """The outlets by scope, those that want all under the empty one."""
        self._silent: set[Destination] = set()
        """Destinations whose subscriptions are told to no one: over edges of an earlier tree."""
        self._merging: dict[Destination, Outlet] = {}
        """Outlets with unions."""
        self._unsettled: dict[Destination, Outlet] = {}
        """The outlets that may have to be told something."""

    def __len__(self) -> int:
        return len(self._index)

    # ---- subscriptions

    def add(self, subscription: Subscription, destination: Destination) -> None:
        """Also renews."""
        before = self._index.get(subscription.id)
        self._index.add(subscription, destination)
        self._from.setdefault(destination, {})[subscription.id] = None
        self._tell(subscription)
        if before is not None and before.subscription.scopes != subscription.scopes:
            self._tell(before.subscription)

    def remove(self, sid: SubscriptionId, destination: Destination) -> bool:
        """Whether it was there."""
        row = self._index.get(sid)
        if row is None or not self._index.remove(sid, destination):
            return False
        self._forget(sid, destination)
        self._tell(row.subscription)
        return True

    def remove_all(self, destination: Destination) -> None:
        """Of a client that left, or over an edge that is gone."""
        for sid in list(self._from.get(destination, ())):
            self.remove(sid, destination)
        self._silent.discard(destination)

    def expire(self, now_ms: int) -> bool:
        """Those that have expired are gone, with all their destinations. Whether anything may have changed."""
        if not self._merging and not self._index.is_due(now_ms):
            return False
        expired = self._index.expire(now_ms)
        for row in expired:
            for destination in row.destinations:
                self._forget(row.subscription.id, destination)
            self._tell(row.subscription)
        is_changed = bool(expired)
        for outlet in self._merging.values():
            if outlet.expire(now_ms):
                self._unsettled[outlet.destination] = outlet
                is_changed = True
        return is_changed

    def next_expiry(self) -> int | None:
        """When to call ``expire``, ms since 1970; None if never."""
        if not self._merging:
            return self._index.next_expiry()
        unions = [one.merged.next_expiry() for one in self._merging.values() if one.merged is not None]
        return earliest(self._index.next_expiry(), *unions)

    def silence(self, destination: Destination) -> None:
        """What came from it still gets notifications, but is told to no one."""
        self._silent.add(destination)
        for one in self.held_from(destination):
            self._tell(one)

    def get(self, sid: SubscriptionId) -> Row[Destination] | None:
        return self._index.get(sid)

    def held_from(self, destination: Destination) -> list[Subscription]:
        rows = map(self._index.get, self._from.get(destination, ()))
        return [row.subscription for row in rows if row is not None]

    def count(self, destination: Destination) -> int:
        """How many are held from it."""
        return len(self._from.get(destination, ()))

    def destinations(self) -> Iterable[Destination]:
        """Those from which any are held."""
        return self._from

    def match(self, notification: Notification) -> list[Row[Destination]]:
        return self._index.match(notification)

    # ---- outlets

    def outlet(self, destination: Destination) -> Outlet | None:
        return self._outlets.get(destination)

    def add_outlet(self, outlet: Outlet) -> None:
        self._outlets[outlet.destination] = outlet
        if outlet.merged is not None:
            self._merging[outlet.destination] = outlet
        if outlet.wants_all:
            self._serving.setdefault("", {})[outlet.destination] = outlet
            for row in self._index:
                self._tell_one(outlet, row.subscription)

    def remove_outlet(self, destination: Destination) -> None:
        outlet = self._outlets.pop(destination)
        self._unsettled.pop(destination, None)
        self._merging.pop(destination, None)
        for scope in ("", *outlet.served):
            self._stop_serving(scope, destination)

    def serve(self, destination: Destination, before: Iterable[str], after: Iterable[str]) -> None:
        """A provider at or behind an outlet serves other scopes than before."""
        outlet = self._outlets.get(destination)
        if outlet is None or outlet.wants_all:
            return
        touched = dict.fromkeys([*before, *after])
        was = {scope: bool(outlet.served[scope]) for scope in touched}
        for scope in dict.fromkeys(after):
            outlet.served[scope] += 1
        for scope in dict.fromkeys(before):
            outlet.served[scope] -= 1
        for scope in touched:
            if not outlet.served[scope]:  # one at a time: the others may be many
                del outlet.served[scope]
            if was[scope] != bool(outlet.served[scope]):
                self._start_or_stop(outlet, scope)

    def changes(self) -> list[Change]:
        """What is to be told now; each is given once."""
        if not self._unsettled:
            return []
        unsettled = [outlet for outlet in self._unsettled.values() if not (outlet.is_settled or outlet.is_held)]
        self._unsettled.clear()
        return [outlet.difference() for outlet in unsettled]

    def hold(self, destination: Destination) -> None:
        """Its changes wait until ``release``. Nothing changes without such an outlet."""
        outlet = self._outlets.get(destination)
        if outlet is not None:
            outlet.is_held = True

    def release(self, destination: Destination) -> None:
        outlet = self._outlets.get(destination)
        if outlet is not None and outlet.is_held:
            outlet.is_held = False
            self._unsettled[destination] = outlet

    def take_off(self, destination: Destination, sids: Iterable[SubscriptionId]) -> None:
        """An outlet has dropped these by itself. Nothing changes without such an outlet."""
        outlet = self._outlets.get(destination)
        if outlet is not None:
            self._unsettled[destination] = outlet
            for sid in sids:
                outlet.take_off(sid)

    def forget_sent(self, destination: Destination) -> None:
        """It has dropped all."""
        outlet = self._outlets.get(destination)
        if outlet is not None:
            outlet.forget()
            self._unsettled[destination] = outlet

    # ---- inner

    def _start_or_stop(self, outlet: Outlet, scope: str) -> None:
        if outlet.served[scope]:
            self._serving.setdefault(scope, {})[outlet.destination] = outlet
        else:
            self._stop_serving(scope, outlet.destination)
        for row in self._index.of_scope(scope):
            self._tell_one(outlet, row.subscription)

    def _stop_serving(self, scope: str, destination: Destination) -> None:
        serving = self._serving.get(scope)
        if serving is not None and destination in serving:
            del serving[destination]
            if not serving:
                del self._serving[scope]

    def _tell(self, subscription: Subscription) -> None:
        """All outlets that it concerns. It may have just gone."""
        for scope in dict.fromkeys(("", *subscription.scopes)):
            for outlet in self._serving.get(scope, {}).values():
                self._tell_one(outlet, subscription)

    def _tell_one(self, outlet: Outlet, subscription: Subscription) -> None:
        row = self._index.get(subscription.id)
        if row is not None and not (outlet.wants(row.subscription) and self._comes_from_others(row, outlet)):
            row = None
        outlet.candidate(subscription.id, None if row is None else row.subscription)
        self._unsettled[outlet.destination] = outlet

    def _comes_from_others(self, row: Row[Destination], outlet: Outlet) -> bool:
        own, silent = outlet.destination, self._silent
        if outlet.wants_own:
            return not all(where.is_neighbour for where in row.destinations)
        return any(where != own and where not in silent for where in row.destinations)

    def _forget(self, sid: SubscriptionId, destination: Destination) -> None:
        sids = self._from[destination]
        del sids[sid]
        if not sids:
            del self._from[destination]

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        self._index.check_invariants()
        held = {(sid, destination) for destination, sids in self._from.items() for sid in sids}
        assert held == {(row.subscription.id, where) for row in self._index for where in row.destinations}
        for outlet in self._outlets.values():
            outlet.check_invariants()
            assert outlet.is_settled or outlet.is_held or outlet.destination in self._unsettled
            for row in self._index:
                self._check_candidate(outlet, row)

    def _check_candidate(self, outlet: Outlet, row: Row[Destination]) -> None:
        if not (outlet.wants(row.subscription) and self._comes_from_others(row, outlet)):
            assert outlet.desired(row.subscription.id) is None, "desired, but not wanted"
