"""Which subscriptions one neighbour or provider should know, and which it was told."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from overlay.systems.federation.covering.kept import Kept
from overlay.systems.federation.covering.merged import Merged
from overlay.systems.federation.tables.destinations import Destination
from overlay.systems.federation.wire.values import Subscription, SubscriptionId

MOST_WITHDRAWN = 256
"""Withdrawn queries that are remembered for each neighbour and provider."""
_UNSURE = Subscription(SubscriptionId("", 0), (), 0, once=True)
"""Was told, and may be known or not."""


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

    def __init__(self, destination: Destination, *, wants_all: bool = False, kept: Kept | Merged | None = None) -> None:
        """``kept``: what decides which subscriptions it gets of those that it wants."""
        self.destination = destination
        self.wants_all = wants_all
        """Whether it wants subscriptions of all scopes."""
        self.wants_own = False
        """Whether it wants those of this broker's clients only."""
        self.is_held = False
        """Whether it cannot be told anything now."""
        self.served: Counter[str] = Counter()
        """How many providers behind it have each scope."""
        self._kept = kept
        self.merged = kept if isinstance(kept, Merged) else None
        self._desired: dict[SubscriptionId, Subscription] = {}
        """Without covering."""
        self._sent: dict[SubscriptionId, Subscription] = {}
        self._changed: dict[SubscriptionId, None] = {}
        self._retold: set[SubscriptionId] = set()
        """Queries that it was told more than once."""
        self._withdrawn: dict[SubscriptionId, None] = {}
        """The last queries that it was told to forget."""

    @property
    def is_settled(self) -> bool:
        """Whether there is no difference."""
        return not self._changed

    @property
    def sent(self) -> list[Subscription]:
        """What it was told and knows."""
        return [one for one in self._sent.values() if one is not _UNSURE]

    def wants(self, subscription: Subscription) -> bool:
        """Unions that the neighbour itself has made are no news to it."""
        if subscription.id.client == self.destination.id:
            return False
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

    def expire(self, now_ms: int) -> bool:
        """Unions with parts that soon expire change. Whether there were any."""
        changed = {} if self.merged is None else self.merged.expire(now_ms)
        for one in changed:
            self._compare(one)
        return bool(changed)

    def difference(self) -> Change:
        """To be told now."""
        added, removed, renewed = [], [], []
        for sid in self._changed:
            wanted = self.desired(sid)
            if wanted is None:
                if self._sent.pop(sid).once:
                    self._withdraw(sid)
                removed.append(sid)
            else:
                if sid in self._sent:
                    renewed.append(sid)
                if wanted.once and (sid in self._sent or sid in self._withdrawn):
                    self._retold.add(sid)
                self._sent[sid] = wanted
                added.append(wanted)
        self._changed.clear()
        return Change(self.destination, tuple(added), tuple(removed), frozenset(renewed))

    def take_off(self, sid: SubscriptionId) -> None:
        """It has dropped this one by itself, if it is a query: streams end by withdrawal only.

        If it was told so more than once, it may have dropped the first and have received the next after that. Then
        nothing is known of it, and it is told again, whatever it should know.
        """
        if sid in self._sent and self._sent[sid].once:
            if sid in self._retold:
                self._retold.discard(sid)
                self._sent[sid] = _UNSURE
            else:
                del self._sent[sid]
            self._compare(sid)

    def forget(self) -> None:
        """It has dropped all."""
        self._retold.clear()
        self._withdrawn.clear()
        sent, self._sent = self._sent, {}
        for sid in sent:
            self._compare(sid)

    def retell(self) -> None:
        """All that it was told is told again."""
        self._retold.update(sid for sid, one in self._sent.items() if one.once)

    def desired(self, sid: SubscriptionId) -> Subscription | None:
        return self._desired.get(sid) if self._kept is None else self._kept.get(sid)

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        if self._kept is not None:
            self._kept.check_invariants()
        assert all(count > 0 for count in self.served.values())
        assert len(self._withdrawn) <= MOST_WITHDRAWN
        assert self._retold <= self._sent.keys()
        for sid, one in self._sent.items():
            assert sid in self._changed or self.desired(sid) is one, f"{sid}: sent differs from desired"
        for sid in self._desired:
            assert sid in self._changed or sid in self._sent, f"{sid}: desired and never sent"

    def _withdraw(self, sid: SubscriptionId) -> None:
        self._retold.discard(sid)
        self._withdrawn[sid] = None
        if len(self._withdrawn) > MOST_WITHDRAWN:
            del self._withdrawn[next(iter(self._withdrawn))]

    def _compare(self, sid: SubscriptionId) -> None:
        if self.desired(sid) is self._sent.get(sid):
            self._changed.pop(sid, None)
        else:
            self._changed[sid] = None
