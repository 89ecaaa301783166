"""REST lists of runs: filters and order."""

from __future__ import annotations

from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone
from django_filters.rest_framework import CharFilter, ChoiceFilter, FilterSet
from rest_framework.request import Request

from brokerweb.api.filters import Ordering
from brokerweb.api.shapes.labels import FILTER_HELP
from brokerweb.experiments.models import Run
from brokerweb.runlist.columns import COLUMNS
from brokerweb.runlist.filtering import condition
from overlay.core.engines import ENGINES
from telemetry.filters import Comparison, parse


class RunFilter(FilterSet):
    """``q`` is a complete filter expression. The other parameters test one field each and narrow it further."""

    q = CharFilter(method="by_filter", help_text=FILTER_HELP)
    tag = CharFilter(method="by_tag", help_text="A tag of the run; none, any")
    engine = ChoiceFilter(
        choices=[(name, name) for name in ENGINES]
    )  # a generated column of a type that django-filter does not know

    class Meta:
        model = Run
        fields = {
            "experiment": ["exact"],
            "state": ["exact", "in"],
            "verdict": ["exact"],
            "passed": ["exact"],
            "configuration_hash": ["exact"],
            "replicate": ["exact"],
            "host": ["exact"],
        }

    def by_filter(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return rows.filter(condition(parse(value), timezone.now()))

    def by_tag(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return rows.filter(condition(Comparison("tag", "=", value), timezone.now()))


FIELDS = ("created", "position", "state", "replicate", "launched_at", "ended_at")


class RunOrdering(Ordering):
    """By every column of the list, including figures; missing values come last."""

    ordering_description = "Any column of the list of runs, comma-separated; `-p95` sorts by p95, largest first."

    def get_valid_fields(self, queryset: Any, view: Any, context: Any = None) -> list[tuple[str, str]]:
        return [(name, name) for name in (*FIELDS, *(one.name for one in COLUMNS.values() if one.sort))]

    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:
        names = self.get_ordering(request, queryset, view)
        return queryset.order_by(*map(_expression, names), "pk") if names else queryset


def _expression(name: str) -> Any:
    bare = name.removeprefix("-")
    path = F(COLUMNS[bare].sort if bare in COLUMNS else bare)
    return path.desc(nulls_last=True) if name.startswith("-") else path.asc(nulls_last=True)
