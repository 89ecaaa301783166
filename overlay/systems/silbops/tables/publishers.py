"""The advertisements behind one neighbour, and which subscriptions they call for.

A subscription is called for where one publisher's advertisements that have notifications in common with it have
together all variables that its function needs. Line 143 of the paper has lost the symbol for this; "covers" instead of
"has in common with" would starve broader subscriptions.

Publishers with the same advertisements are one group, so a subscription is compared with each group once.
"""

from __future__ import annotations

from collections import Counter

from overlay.systems.silbops.content.filters import Filter, intersects
from overlay.systems.silbops.tables.rows import Advertisement, Key, Owner, Subscription

Group = frozenset[tuple[Filter, frozenset[str]]]
"""Filters and variables of all advertisements of one publisher."""


class Publishers:
    def __init__(self) -> None:
        self._advertisements: dict[Owner, dict[Key, Advertisement]] = {}
        self._groups: Counter[Group] = Counter()

    def get(self, key: Key) -> Advertisement | None:
        return self._advertisements.get(key[0], {}).get(key)

    def keys(self) -> list[Key]:
        return [key for several in self._advertisements.values() for key in several]

    def put(self, one: Advertisement) -> bool:
        """Add or replace it. Whether other subscriptions may be called for since."""
        return self._change(one.owner, {**self._advertisements.get(one.owner, {}), one.key: one})

    def drop(self, key: Key) -> bool:
        """As ``put``."""
        several = dict(self._advertisements.get(key[0], {}))
        several.pop(key, None)
        return self._change(key[0], several)

    def call_for(self, one: Subscription) -> bool:
        return any(_calls_for(group, one) for group in self._groups)

    def _change(self, owner: Owner, after: dict[Key, Advertisement]) -> bool:
        before = _group(self._advertisements.pop(owner, {}))
        if after:
            self._advertisements[owner] = after
        group = _group(after)
        if group == before:
            return False
        known = set(self._groups)
        self._groups[before] -= 1
        self._groups[group] += 1
        self._groups = +self._groups
        del self._groups[frozenset()]
        return known != set(self._groups)


def _group(advertisements: dict[Key, Advertisement]) -> Group:
    return frozenset((one.filter, one.variables) for one in advertisements.values())


def _calls_for(group: Group, one: Subscription) -> bool:
    found: set[str] = set()
    is_common = False
    for published, variables in group:
        if intersects(published, one.filter):
            is_common = True
            found |= variables
    return is_common and one.wanted <= found
