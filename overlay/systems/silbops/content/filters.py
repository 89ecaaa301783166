"""Filters: conjunctions of constraints.

A filter is a tuple in a fixed order without repetitions, so filters that differ in their order only are equal. The
empty one matches every notification.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby, pairwise, product
from operator import attrgetter
from typing import Any

from overlay.core.errors import shown
from overlay.systems.silbops.content.constraints import (
    ABOVE,
    BELOW,
    EQUAL,
    UNEQUAL,
    Constraint,
    constraint,
    implies,
    satisfies,
)
from overlay.systems.silbops.content.values import BOOL, Values, refuse

Filter = tuple[Constraint, ...]
EVERYTHING: Filter = ()
MAX_CONSTRAINTS = 16
"""Of a filter. The siena arm adds what a scope function becomes."""
MAX_SIENA_CONSTRAINTS = 2 * MAX_CONSTRAINTS

REMEMBERED = 1 << 16
"""Filters share what constraints they have in common, as far as they are so many: it saves memory and checks."""

_name = attrgetter("name")


def filter_of(constraints: Iterable[Constraint], *, is_siena: bool = False) -> Filter:
    """Raises ``InvalidContent`` if there are too many."""
    found = tuple(sorted(set(constraints), key=_order))
    most = MAX_SIENA_CONSTRAINTS if is_siena else MAX_CONSTRAINTS
    if len(found) > most:
        refuse(f"a filter has {len(found)} constraints; {most} are the most", is_limit=True)
    return found


def read_filter(value: Any, *, is_siena: bool = False) -> Filter:
    """From lists ``[name, operator]`` or ``[name, operator, value]``. Raises ``InvalidContent``."""
    if not isinstance(value, list | tuple):
        refuse(f"{shown(value)} is no list of constraints")
    return filter_of((_read(one, is_siena) for one in value), is_siena=is_siena)


def written_filter(one: Filter) -> list[list[Any]]:
    """The inverse of ``read_filter``."""
    return [[part.name, part.op, part.value] if part.kind else [part.name, part.op] for part in one]


def matches(one: Filter, values: Values) -> bool:
    """Whether a notification with these attributes satisfies all constraints."""
    return all(part.name in values and satisfies(values[part.name], part) for part in one)


def covers(wide: Filter, narrow: Filter) -> bool:
    """Whether ``wide`` matches all that ``narrow`` matches. Never wrongly yes."""
    for one in wide:
        for part in narrow:
            if part.name == one.name and implies(part, one):
                break
        else:
            return False
    return True


def intersects(one: Filter, other: Filter) -> bool:
    """False only if the constraints on some attribute contradict each other, so that no notification matches both."""
    parts = sorted({*one, *other}, key=_order)
    return all(_is_possible([part for part in group if part.kind]) for _, group in groupby(parts, key=_name))


def _is_possible(parts: Sequence[Constraint]) -> bool:
    """Whether some value may satisfy all of them, which are on one attribute."""
    if len({part.kind for part in parts}) > 1:
        return False
    for fixed in parts:
        if fixed.op == EQUAL:
            assert fixed.value is not None
            return all(satisfies(fixed.value, part) for part in parts)
    if len(parts) == 2 and all(part.kind is BOOL for part in parts):
        return False  # neither true nor false
    prefixes = sorted(str(part.value) for part in parts if part.op == "prefix")
    if not all(longer.startswith(shorter) for shorter, longer in pairwise(prefixes)):
        return False
    lows = [part for part in parts if part.op in ABOVE]
    highs = [part for part in parts if part.op in BELOW]
    return all(_leave_room(low, high, parts) for low, high in product(lows, highs))


def _leave_room(low: Constraint, high: Constraint, parts: Sequence[Constraint]) -> bool:
    if low.value != high.value:
        return low.value < high.value  # type: ignore[operator]  # of one kind
    is_open = len(low.op) == 1 or len(high.op) == 1
    return not is_open and not any(part.op == UNEQUAL and part.value == low.value for part in parts)


def _read(value: Any, is_siena: bool) -> Constraint:
    if not isinstance(value, list | tuple) or not 2 <= len(value) <= 3:
        refuse(f"{shown(value)} is no constraint: a name, an operator and a value")
    try:
        return _shared(*value, is_siena=is_siena)
    except TypeError:  # not hashable, so it is refused
        return constraint(*value, is_siena=is_siena)


_shared = lru_cache(REMEMBERED, typed=True)(constraint)


def _order(one: Constraint) -> tuple[Any, ...]:
    return one.name, one.op, one.kind or "", one.value if one.value is not None else 0
