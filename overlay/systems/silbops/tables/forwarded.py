"""The subscriptions of a link that no other covers, kept up to date as subscriptions come and go.

Each covered one is noted at one that is kept and covers it. When that goes, what it covered is decided again, in the
order of keys. Of two that cover each other, the one that is kept already stays.

Which others are compared: a subscription with a function covers and is covered among those of its owner; one without
covers whoever has its rarest equality, or attribute, and is found by these.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from overlay.systems.silbops.content.constraints import EQUAL
from overlay.systems.silbops.tables.rows import Key, Subscription

Changed = dict[Key, None]
"""An ordered set."""


class Forwarded:
    def __init__(self, *, is_covering: bool = True, is_by_owner: bool = False) -> None:
        """``is_by_owner``: publishers may admit one owner and not another, so only those of one cover each other."""
        self._is_covering, self._is_by_owner = is_covering, is_by_owner
        self._kept: dict[Key, Subscription] = {}
        self._places: dict[Hashable, dict[Key, Subscription]] = {}
        """Kept ones by all that they have: owner and function, or equalities and names; and those without a function
        once more, for those that they may cover, by the rarest of these."""
        self._own: dict[Key, Hashable] = {}
        """The last of the places of each kept one."""
        self._covered: dict[Key, dict[Key, Subscription]] = {}
        """By the one that is noted as covering them; none is empty."""
        self._coverer: dict[Key, Key] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> Subscription | None:
        """If it is kept."""
        return self._kept.get(key)

    def is_known(self, key: Key) -> bool:
        return key in self._kept or key in self._coverer

    def _known(self, key: Key) -> Subscription | None:
        """Kept or covered."""
        coverer = self._coverer.get(key)
        return self._kept.get(key) if coverer is None else self._covered[coverer][key]

    def put(self, one: Subscription) -> Changed:
        """Add it, or replace the one with its key. Returns the keys for which ``get`` may have changed.

        One that is there already stays as it is: placed again, it would give way to another that covers it as well,
        and two neighbours that have both would tell each other so without end.
        """
        if self._known(one.key) == one:
            return {one.key: None}
        changed = self.drop(one.key)
        self._place(one, changed)
        return changed

    def drop(self, key: Key) -> Changed:
        """As ``put``. Nothing changes if it is not there."""
        changed: Changed = {key: None}
        if key in self._coverer:
            self._uncover(key)
        elif key in self._kept:
            for one in sorted(self._unkeep(key)):
                self._place(one, changed)
        return changed

    def _place(self, one: Subscription, changed: Changed) -> None:
        changed[one.key] = None
        coverer = next((other.key for other in self._above(one) if other.covers(one)), None)
        if coverer is not None:
            self._covered.setdefault(coverer, {})[one.key] = one
            self._coverer[one.key] = coverer
            return
        needless: list[Subscription] = []
        if self._is_covering:
            part = self._rarest(one)
            needless = [other for other in self._below(one, part) if one.covers(other)]
            own = self._own[one.key] = part if one.scope is not None else (_WITHOUT, part)
            for place in self._at(one, [*_shared(one), own]):
                self._places.setdefault(place, {})[one.key] = one
        self._kept[one.key] = one
        for other in needless:
            inner = self._unkeep(other.key)
            for again in (other, *inner):
                self._place(again, changed)

    def _above(self, one: Subscription) -> Iterator[Subscription]:
        """Those that may cover it."""
        if self._is_covering:
            for place in self._at(one, _places_above(one)):
                yield from self._places.get(place, {}).values()

    def _below(self, one: Subscription, part: Hashable) -> Iterable[Subscription]:
        """Those that it may cover, each once. ``part``: its rarest."""
        if part is None:
            return tuple(other for other in self._kept.values() if self._may_cover(one, other))
        (place,) = self._at(one, [part])
        return tuple(self._places.get(place, {}).values())

    def _rarest(self, one: Subscription) -> Hashable:
        """What all that it covers have, too: owner and function; or, of its equalities, or else the names of its
        attributes, the one that the fewest kept ones have. In the siena arm most filters are on a place, so by its name
        nearly all would be met. ``None``: they need have nothing."""
        if one.scope is not None:
            return one.owner, one.scope
        if not one.filter:
            return None
        parts = _equalities(one) or _names(one)
        sizes = [len(self._places.get(place, ())) for place in self._at(one, parts)]
        return parts[sizes.index(min(sizes))]

    def _at(self, one: Subscription, places: list[Hashable]) -> list[Hashable]:
        return [(one.owner, place) for place in places] if self._is_by_owner else places

    def _may_cover(self, one: Subscription, other: Subscription) -> bool:
        return not self._is_by_owner or one.owner == other.owner

    def _unkeep(self, key: Key) -> list[Subscription]:
        """Returns what it covered, which is then nowhere."""
        one = self._kept.pop(key)
        if self._is_covering:
            for place in self._at(one, [*_shared(one), self._own.pop(key)]):
                del self._places[place][key]
                if not self._places[place]:
                    del self._places[place]
        covered = list(self._covered.pop(key, {}).values())
        for other in covered:
            del self._coverer[other.key]
        return covered

    def _uncover(self, key: Key) -> None:
        coverer = self._coverer.pop(key)
        del self._covered[coverer][key]
        if not self._covered[coverer]:
            del self._covered[coverer]

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert all(self._covered.values())
        assert self._covered.keys() <= self._kept.keys()
        assert self._own.keys() == (self._kept.keys() if self._is_covering else set())
        assert len(self._coverer) == sum(map(len, self._covered.values()))
        for key, covered in self._covered.items():
            assert all(self._kept[key].covers(one) and self._coverer[one.key] == key for one in covered.values())
        if self._is_covering:
            several = list(self._kept.values())
            pairs = ((one, other) for one in several for other in several if one is not other)
            assert not any(one.covers(other) and self._may_cover(one, other) for one, other in pairs)


_WITHOUT = "without a function"


def _equalities(one: Subscription) -> list[Hashable]:
    return [part for part in one.filter if part.op == EQUAL]


def _names(one: Subscription) -> list[Hashable]:
    return list(dict.fromkeys(part.name for part in one.filter))


def _shared(one: Subscription) -> list[Hashable]:
    """What others may have, too."""
    return [*_equalities(one), *_names(one)]


def _places_above(one: Subscription) -> list[Hashable]:
    """Where a kept one stands that covers it."""
    own: list[Hashable] = [(one.owner, one.scope)] if one.scope is not None else []
    return [*own, *((_WITHOUT, part) for part in (None, *_shared(one)))]
