"""Filters of lists."""

from __future__ import annotations

from django.db.models import CharField
from django_filters.rest_framework import CharFilter, DjangoFilterBackend, FilterSet

from brokerweb.kit.picks import MOST_TYPED


class Filters(FilterSet):
    """Refuses overlong text values: databases limit the length of patterns."""

    FILTER_DEFAULTS = {
        **FilterSet.FILTER_DEFAULTS,
        CharField: {"filter_class": CharFilter, "extra": lambda field: {"max_length": MOST_TYPED}},
    }


class FilterBackend(DjangoFilterBackend):
    """Filters by a view's ``filterset_fields``."""

    filterset_base = Filters
