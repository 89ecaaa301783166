"""Filters and order of lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import CharField, DateTimeField
from django_filters.fields import IsoDateTimeField
from django_filters.rest_framework import CharFilter, DjangoFilterBackend, FilterSet, IsoDateTimeFilter
from rest_framework.filters import OrderingFilter
from rest_framework.request import Request

from brokerweb.kit.picks import MOST_TYPED
from overlay.core.errors import InvalidSetting, shown


class _Moment(IsoDateTimeField):
    """Refuses a time that is no time in UTC, in which databases keep them."""

    def clean(self, value: Any) -> Any:
        found = super().clean(value)
        try:
            return found and found.astimezone(UTC)
        except OverflowError:
            raise ValidationError(self.error_messages["invalid"], "invalid") from None


class MomentFilter(IsoDateTimeFilter):
    field_class = _Moment


class Filters(FilterSet):
    """Refuses overlong text values: databases limit the length of patterns."""

    FILTER_DEFAULTS = {
        **FilterSet.FILTER_DEFAULTS,
        DateTimeField: {"filter_class": MomentFilter},
        CharField: {"filter_class": CharFilter, "extra": lambda field: {"max_length": MOST_TYPED}},
    }


def known_order(fields: Iterable[str], known: Sequence[str]) -> list[str]:
    """``fields`` without empty ones. Raises ``InvalidSetting`` for one that is not ``known``."""
    wanted = [name for name in fields if name]
    if wrong := [name for name in wanted if name.removeprefix("-") not in known]:
        sentence = f"must be among {', '.join(known)}, each optionally after a -, not {shown(wrong[0], 40)}"
        raise InvalidSetting("ordering", sentence)
    return wanted


class Ordering(OrderingFilter):
    """Orders by the names in ``?ordering=``. An unknown name is refused, where REST framework would ignore it."""

    def remove_invalid_fields(self, queryset: Any, fields: Iterable[str], view: Any, request: Request) -> list[str]:
        """``fields``, all of which are known. Raises ``InvalidSetting``."""
        return known_order(fields, [name for name, _ in self.get_valid_fields(queryset, view, {"request": request})])


class FilterBackend(DjangoFilterBackend):
    """Filters by a view's ``filterset_fields``."""

    filterset_base = Filters
