"""The advertisements behind one neighbour, and which subscriptions they call for.

A subscription is called for where one publisher's advertisements that have notifications in common with it have
together all variables that its function needs. Line 143 of the paper has lost the symbol for this; "covers" instead of
"has in common with" would starve broader subscriptions.

Publishers with the same advertisements are one group, so a subscription is compared with each group once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from overlay.systems.silbops.content.filters import Filter, intersects
from overlay.systems.silbops.tables.rows import Advertisement, Key, Owner, Subscription

Group = frozenset[tuple[Filter, frozenset[str], bool]]
"""Of all advertisements of one publisher: filters, variables, and whether its functions may read subscribers' contexts.
"""


class Publishers:
    def __init__(self) -> None:
        self._advertisements: dict[Owner, dict[Key, Advertisement]] = {}
        self._groups: Counter[Group] = Counter()

    def get(self, key: Key) -> Advertisement | None:
        return self._advertisements.get(key.owner, {}).get(key)

    def keys(self) -> list[Key]:
        return [key for several in self._advertisements.values() for key in several]

    def put(self, one: Advertisement) -> bool:
        """Add or replace it. Whether other subscriptions may be called for since."""
        return self._change(one.owner, {**self._advertisements.get(one.owner, {}), one.key: one})

    def drop(self, key: Key) -> bool:
        """As ``put``."""
        several = dict(self._advertisements.get(key.owner, {}))
        several.pop(key, None)
        return self._change(key.owner, several)

    def has(self, owner: Owner) -> bool:
        """Whether it has an advertisement."""
        return owner in self._advertisements

    def of(self, owner: Owner) -> Iterable[Advertisement]:
        return self._advertisements.get(owner, {}).values()

    def call_for(self, one: Subscription) -> bool:
        return any(_calls_for(group, one) for group in self._groups)

    def read_context_of(self, one: Subscription) -> bool:
        """Whether a publisher that calls for it may read its owner's context."""
        return any(_reads(group, one) and _calls_for(group, one) for group in self._groups)

    def calling(self, one: Subscription) -> list[Owner]:
        """Publishers that call for it."""
        groups = {group for group in self._groups if _calls_for(group, one)}
        return [owner for owner, several in self._advertisements.items() if _group(several) in groups]

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
    return frozenset((one.filter, one.variables, bool(one.subscriber_variables)) for one in advertisements.values())


def _calls_for(group: Group, one: Subscription) -> bool:
    found: set[str] = set()
    is_common = False
    for published, variables, _ in group:
        if intersects(published, one.filter):
            is_common = True
            found |= variables
    return is_common and one.wanted <= found


def _reads(group: Group, one: Subscription) -> bool:
    return any(is_reader and intersects(published, one.filter) for published, _, is_reader in group)
