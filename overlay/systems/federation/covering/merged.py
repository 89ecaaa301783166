"""What a link gets instead of subscriptions: unions of them, kept up to date as they come, go and expire (seed 001,
section 5).

What ``Kept`` leaves is merged, each with those that differ from it in little. A union has an id of this broker, another
one for each content, and expires with the first of its parts. Shortly before, the rest is merged again, so that it is
known beyond the link in time; so are the remaining parts when one goes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from heapq import heapify, heappop, heappush

from overlay.systems.federation.covering.kept import Changed, Kept
from overlay.systems.federation.covering.merging import Mergeable, merged
from overlay.systems.federation.wire.values import Subscription, SubscriptionId

AHEAD_MS = 1_000
"""Before a union expires, the rest is merged again. What expires earlier is not merged."""
MOST_PARTS = 64
"""Of a union. Each is merged again when one of them goes."""
MOST_TRIED = 32
"""Others with which one is compared."""
_SLACK = 64
"""Deadlines that the heap may have in addition to two for each union."""


class Merged:
    """As ``Kept``. What it gets for ``get`` with the id of a part is None."""

    def __init__(self, draw_id: Callable[[], SubscriptionId], *, is_perfect: bool = True) -> None:
        """``draw_id``: a new id of this broker."""
        self._kept = Kept()
        self._draw_id, self._is_perfect = draw_id, is_perfect
        self._rows: dict[SubscriptionId, Mergeable] = {}
        """What the link gets: unions, and what is part of none."""
        self._parts: dict[SubscriptionId, dict[SubscriptionId, Subscription]] = {}
        """By union."""
        self._union_of: dict[SubscriptionId, SubscriptionId] = {}
        self._places: dict[Hashable, dict[SubscriptionId, None]] = {}
        """The rows by ``Mergeable.places``."""
        self._deadlines: list[tuple[int, SubscriptionId]] = []
        self._horizon_ms = 0

    def get(self, sid: SubscriptionId) -> Subscription | None:
        """If the link gets it."""
        row = self._rows.get(sid)
        return None if row is None else row.subscription

    def put(self, subscription: Subscription) -> Changed:
        """Add it, or replace the one with its id. Returns the ids for which ``get`` may have changed."""
        return self._follow(self._kept.put(subscription))

    def drop(self, sid: SubscriptionId) -> Changed:
        """As ``put``. Nothing changes if it is not there."""
        return self._follow(self._kept.drop(sid))

    def expire(self, now_ms: int) -> Changed:
        """As ``put``. Merges again what will soon expire as a part."""
        self._horizon_ms = now_ms + AHEAD_MS
        changed: Changed = {}
        while (expires := self._next_deadline()) is not None and expires <= self._horizon_ms:
            parts = self._take_out(self._deadlines[0][1], changed)
            self._place_all(parts, changed)
        return changed

    def next_expiry(self) -> int | None:
        """When to call ``expire``, ms since 1970; None if never."""
        expires = self._next_deadline()
        return None if expires is None else expires - AHEAD_MS

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        self._kept.check_invariants()
        for union, parts in self._parts.items():
            row = self._rows[union].subscription
            assert 1 < len(parts) <= MOST_PARTS
            assert row.expires == min(one.expires for one in parts.values()) > self._horizon_ms
            assert all(self._union_of[sid] == union and self._kept.get(sid) is one for sid, one in parts.items())
        assert len(self._union_of) == sum(map(len, self._parts.values()))
        assert all(self._kept.get(sid) is one.subscription for sid, one in self._rows.items() if sid not in self._parts)
        assert self._places.keys() == {key for one in self._rows.values() for key in one.places()}
        assert all(self._rows.keys() >= place.keys() for place in self._places.values())
        assert {sid for _, sid in self._deadlines} >= self._parts.keys(), "a union without a deadline"

    # ---- inner

    def _follow(self, kept: Changed) -> Changed:
        """What has changed there changes here."""
        changed = dict(kept)
        again: Changed = {}
        for sid in kept:
            if self._placed(sid) is not self._kept.get(sid):
                again[sid] = None
                again.update(self._take_out(self._union_of.get(sid, sid), changed))
        self._place_all(again, changed)
        return changed

    def _placed(self, sid: SubscriptionId) -> Subscription | None:
        union = self._union_of.get(sid)
        return self.get(sid) if union is None else self._parts[union][sid]

    def _take_out(self, sid: SubscriptionId, changed: Changed) -> Changed:
        """A row, if there is one. Returns the ids of its parts, which are then nowhere."""
        row = self._rows.pop(sid, None)
        if row is None:
            return {}
        changed[sid] = None
        for key in row.places():
            del self._places[key][sid]
            if not self._places[key]:
                del self._places[key]
        parts = dict.fromkeys(self._parts.pop(sid, (sid,)))
        for part in parts:
            self._union_of.pop(part, None)
        return parts

    def _place_all(self, sids: Iterable[SubscriptionId], changed: Changed) -> None:
        for sid in sids:
            one = self._kept.get(sid)
            if one is not None:
                self._place(one, changed)

    def _place(self, one: Subscription, changed: Changed) -> None:
        """With all others that can be merged with it, one after the other."""
        row, parts = Mergeable.of(one), {one.id: one}
        while (found := self._partner(row, len(parts))) is not None:
            other, row = found
            for sid in self._take_out(other, changed):
                parts[sid] = self._kept_one(sid)
        if len(parts) > 1:
            union = self._draw_id()
            row = replace(row, subscription=replace(row.subscription, id=union))
            self._parts[union] = parts
            self._union_of.update(dict.fromkeys(parts, union))
        changed.update(dict.fromkeys((*parts, row.subscription.id)))
        self._rows[row.subscription.id] = row
        if len(parts) > 1:
            self._set_deadline(row.subscription)
        for key in row.places():
            self._places.setdefault(key, {})[row.subscription.id] = None

    def _partner(self, row: Mergeable, size: int) -> tuple[SubscriptionId, Mergeable] | None:
        """The id of a row that can be merged with one of ``size`` parts, and both together."""
        if not row.may_be_merged or row.subscription.expires <= self._horizon_ms:
            return None
        tried = 0
        for key in row.places():
            for sid in self._places.get(key, ()):
                other = self._rows[sid]
                if other.subscription.expires <= self._horizon_ms:
                    continue
                if (tried := tried + 1) > MOST_TRIED:
                    return None
                if size + len(self._parts.get(sid, (sid,))) > MOST_PARTS:
                    continue
                union = merged(row, other, is_perfect=self._is_perfect)
                if union is not None and (both := Mergeable.of(union)).may_be_merged:
                    return sid, both
        return None

    def _kept_one(self, sid: SubscriptionId) -> Subscription:
        one = self._kept.get(sid)
        assert one is not None, "a part is not kept"
        return one

    def _next_deadline(self) -> int | None:
        while self._deadlines and self._deadlines[0][1] not in self._parts:
            heappop(self._deadlines)  # it was merged again before
        return self._deadlines[0][0] if self._deadlines else None

    def _set_deadline(self, union: Subscription) -> None:
        heappush(self._deadlines, (union.expires, union.id))
        if len(self._deadlines) > 2 * len(self._parts) + _SLACK:
            self._deadlines = [(self._rows[sid].subscription.expires, sid) for sid in self._parts]
            heapify(self._deadlines)
