"""What REST's lists are filtered by."""

from __future__ import annotations

from django.db.models import CharField
from django_filters.rest_framework import CharFilter, DjangoFilterBackend, FilterSet

from brokerweb.kit.picks import MOST_TYPED


class Filters(FilterSet):
    """A text that is longer than anything has is refused: the database takes no pattern of many pages."""

    FILTER_DEFAULTS = {
        **FilterSet.FILTER_DEFAULTS,
        CharField: {"filter_class": CharFilter, "extra": lambda field: {"max_length": MOST_TYPED}},
    }


class FilterBackend(DjangoFilterBackend):
    """Of a view's ``filterset_fields``."""

    filterset_base = Filters
