"""Places in lists that grow, as text for clients. A cursor names the row next to it by the fields of the list's order.

None of the rows that are there when a client begins is read twice or missed, and finding the place takes the same time
everywhere in the list.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet

from overlay.core.errors import InvalidSetting, shown

MOST_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a list."""

    values: tuple[Any, ...]
    """Of the row next to it, by the fields of the order; empty: the begin of the list."""
    is_back: bool = False
    """Whether the page ends there, rather than begins."""

    @property
    def text(self) -> str:
        document = [self.is_back, *(one.isoformat() if isinstance(one, datetime) else one for one in self.values)]
        return urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


class Part(NamedTuple):
    """A page, and the places before and after it: ``None`` at the ends of the list."""

    rows: list[Any]
    before: Cursor | None
    after: Cursor | None


def part_of_table(rows: QuerySet[Any], text: str, size: int) -> Part:
    """In the order of the model's lists, whatever that of ``rows``. Raises ``InvalidSetting`` for a wrong ``text``."""
    order = _order(rows.model)
    at = _read(text, lambda values: _of_fields(rows.model, order, values))
    wanted = [_turned(name) for name in order] if at.is_back else order
    found = list((rows.filter(_beyond(wanted, at.values)) if at.values else rows).order_by(*wanted)[: size + 1])
    more, page = len(found) > size, found[:size]
    if at.is_back:
        page.reverse()
    if not page:
        return Part([], None, None)
    first, last = (tuple(getattr(row, name.lstrip("-")) for name in order) for row in (page[0], page[-1]))
    before = more if at.is_back else bool(at.values)
    after = at.is_back or more
    return Part(page, Cursor(first, is_back=True) if before else None, Cursor(last) if after else None)


def part_of_log(rows: Sequence[Any], text: str, size: int) -> Part:
    """Of entries in the order of their ``at``, some of which may have the same. Raises as above."""
    at = _read(text, _of_entry)
    places: list[tuple[Any, ...]] = []
    for row in rows:
        is_same = bool(places) and places[-1][0] == row.at
        places.append((row.at, places[-1][1] + 1 if is_same else 0))
    if at.is_back:
        end = bisect_left(places, at.values)
        begin = max(0, end - size)
    else:
        begin = bisect_right(places, at.values) if at.values else 0
        end = min(begin + size, len(rows))
    if begin >= end:
        return Part([], None, None)
    before = Cursor(places[begin], is_back=True) if begin else None
    return Part(list(rows[begin:end]), before, Cursor(places[end - 1]) if end < len(rows) else None)


def _order(model: type[Model]) -> list[str]:
    """The order of the model's lists, with the key last, so that it is total."""
    names = [str(name) for name in model._meta.ordering or ()]
    key = model._meta.pk.name if model._meta.pk else "pk"
    return names if key in {name.lstrip("-") for name in names} else [*names, key]


def _turned(name: str) -> str:
    return name[1:] if name.startswith("-") else f"-{name}"


def _beyond(order: Sequence[str], values: Sequence[Any]) -> Q:
    """Rows after that with ``values``: later in the first field, or equal in it and later in the second, …"""
    condition, equal = Q(), Q()
    for name, value in zip(order, values, strict=True):
        field = name.lstrip("-")
        condition |= equal & Q(**{f"{field}__{'lt' if name.startswith('-') else 'gt'}": value})
        equal &= Q(**{field: value})
    return condition


def _read(text: str, values_of: Callable[[list[Any]], tuple[Any, ...]]) -> Cursor:
    """Raises ``InvalidSetting``."""
    if not text:
        return Cursor(())
    try:
        is_back, *values = json.loads(urlsafe_b64decode(text[:MOST_CHARACTERS] + "=" * (-len(text) % 4)))
        return Cursor(values_of(values), bool(is_back))
    except (ValueError, TypeError, ValidationError, OverflowError, RecursionError):
        raise InvalidSetting("cursor", f"must be from next or previous, or empty, not {shown(text, 40)}") from None


def _of_entry(values: list[Any]) -> tuple[Any, ...]:
    at, number = values
    moment = datetime.fromisoformat(at)
    if moment.tzinfo is None or type(number) is not int:
        raise ValueError
    return moment.astimezone(UTC), number


def _of_fields(model: type[Model], order: Sequence[str], values: list[Any]) -> tuple[Any, ...]:
    fields = [model._meta.get_field(name.lstrip("-")) for name in order]
    return tuple(_of_field(field, value) for field, value in zip(fields, values, strict=True))


def _of_field(field: Any, value: Any) -> Any:
    """Raises ``ValueError`` for what no row has."""
    if type(value) not in (int, str) or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        raise ValueError
    read = field.to_python(value)
    if isinstance(read, datetime):
        if read.tzinfo is None:
            raise ValueError
        return read.astimezone(UTC)
    if isinstance(read, str) and "\0" in read:
        raise ValueError
    return read
