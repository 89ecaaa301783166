"""The same work in as little Python as possible: nothing is checked, told to anyone, counted or reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.systems.silbops.content.constraints import COMPARISONS, EQUAL
from overlay.systems.silbops.content.filters import Filter

Rest = tuple[tuple[str, Any, Any], ...]
"""Attributes, how they are compared, and with what."""


class Least:
    """Filters by their rarest equality, else by a name; contexts by subscriber."""

    def __init__(self, radius_km: float) -> None:
        self._radius = radius_km
        self._places: dict[int, Mapping[str, Any]] = {}
        self._rows: dict[str, list[tuple[int, Rest]]] = {}
        self._crowds: dict[str, int] = {}

    def set_context(self, subscriber: int, place: Mapping[str, Any]) -> None:
        if self._places.get(subscriber) != place:
            self._places[subscriber] = place

    def subscribe(self, subscriber: int, one: Filter) -> None:
        key, rest = key_and_rest(one, self._crowds)
        tests = tuple((name, COMPARISONS[op], value) for name, op, value in rest)
        self._rows.setdefault(key, []).append((subscriber, tests))

    def notify(self, notification: Mapping[str, Any], place: Mapping[str, Any]) -> set[int]:
        """Subscribers who get it."""
        found, x, y, radius = set(), place["x"], place["y"], self._radius
        for name, value in notification.items():
            for rows in (self._rows.get(f"{name}={value!r}"), self._rows.get(name)):
                for subscriber, rest in rows or ():
                    for other, compare, bound in rest:
                        if other not in notification or not compare(notification[other], bound):
                            break
                    else:
                        at = self._places[subscriber]
                        if at["x"] - radius <= x <= at["x"] + radius and at["y"] - radius <= y <= at["y"] + radius:
                            found.add(subscriber)
        return found


def key_and_rest(one: Filter, crowds: dict[str, int]) -> tuple[str, list[tuple[str, str, Any]]]:
    """What a filter is found by, ``name=value`` of its rarest equality or else a name, and what is left to test.

    ``crowds``: how many filters each key has; this one is counted.
    """
    equalities = {f"{part.name}={part.value!r}": part for part in one if part.op == EQUAL}
    key = min(equalities or [one[0].name], key=lambda each: crowds.get(each, 0))
    crowds[key] = crowds.get(key, 0) + 1
    return key, [(part.name, part.op, part.value) for part in one if part is not equalities.get(key)]
