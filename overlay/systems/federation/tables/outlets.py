"""Which subscriptions one neighbour or provider should know, and which it was told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from overlay.systems.federation.covering.kept import Kept
from overlay.systems.federation.tables.destinations import Destination
from overlay.systems.federation.wire.values import Subscription, SubscriptionId


@dataclass(frozen=True, slots=True)
class Change:
    """What ``destination`` must be told. ``added`` comes first, so what a removed one covered is never unwatched."""

    destination: Destination
    added: tuple[Subscription, ...]
    removed: tuple[SubscriptionId, ...]
    renewed: frozenset[SubscriptionId] = frozenset()
    """Those of ``added`` that it was told before, with another expiry."""


class Outlet:
    """``candidate`` is called with each id that may have changed; ``difference`` gives what has, once."""

    def __init__(self, destination: Destination, *, wants_all: bool = False, has_covering: bool = False) -> None:
        self.destination = destination
        self.wants_all = wants_all
        """Whether it wants subscriptions of all scopes."""
        self.is_held = False
        """Whether it cannot be told anything now."""
        self.served: Counter[str] = Counter()
        """How many providers behind it have each scope."""
        self._kept = Kept() if has_covering else None
        self._desired: dict[SubscriptionId, Subscription] = {}
        """Without covering."""
        self._sent: dict[SubscriptionId, Subscription] = {}
        self._changed: dict[SubscriptionId, None] = {}

    @property
    def is_settled(self) -> bool:
        """Whether there is no difference."""
        return not self._changed

    @property
    def sent(self) -> Iterable[Subscription]:
        return self._sent.values()

    def wants(self, subscription: Subscription) -> bool:
        return self.wants_all or any(self.served[scope] for scope in subscription.scopes)

    def candidate(self, sid: SubscriptionId, subscription: Subscription | None) -> None:
        """What it should know under this id; None if nothing."""
        if self._kept is not None:
            changed = self._kept.drop(sid) if subscription is None else self._kept.put(subscription)
        else:
            changed = {sid: None}
            if subscription is None:
                self._desired.pop(sid, None)
            else:
                self._desired[sid] = subscription
        for one in changed:
            self._compare(one)

    def difference(self) -> Change:
        """To be told now."""
        added, removed, renewed = [], [], []
        for sid in self._changed:
            wanted = self.desired(sid)
            if wanted is None:
                del self._sent[sid]
                removed.append(sid)
            else:
                if sid in self._sent:
                    renewed.append(sid)
                self._sent[sid] = wanted
                added.append(wanted)
        self._changed.clear()
        return Change(self.destination, tuple(added), tuple(removed), frozenset(renewed))

    def take_off(self, sid: SubscriptionId) -> None:
        """It has dropped this one by itself."""
        if self._sent.pop(sid, None) is not None:
            self._compare(sid)

    def desired(self, sid: SubscriptionId) -> Subscription | None:
        return self._desired.get(sid) if self._kept is None else self._kept.get(sid)

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        if self._kept is not None:
            self._kept.check_invariants()
        assert all(count > 0 for count in self.served.values())
        for sid, one in self._sent.items():
            assert sid in self._changed or self.desired(sid) is one, f"{sid}: sent differs from desired"
        for sid in self._desired:
            assert sid in self._changed or sid in self._sent, f"{sid}: desired and never sent"

    def _compare(self, sid: SubscriptionId) -> None:
        if self.desired(sid) is self._sent.get(sid):
            self._changed.pop(sid, None)
        else:
            self._changed[sid] = None
