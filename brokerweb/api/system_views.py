"""The registry of systems, read-only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from brokerweb.api.filters import known_order
from brokerweb.api.pages import Pages
from brokerweb.api.resources import settings_shown
from brokerweb.api.sparse import SparseFields
from overlay.faults.kinds import FaultKind
from overlay.systems.contract import System
from overlay.systems.registry import SYSTEMS
from telemetry.charts.live import LiveChart
from telemetry.measures import Measure
from telemetry.systems.registry import measures_of, studies, telemetry_of


class SettingSerializer(serializers.Serializer):
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=["boolean", "integer", "number", "text"])
    default: Any = serializers.JSONField()
    unit = serializers.CharField(allow_blank=True)
    help: Any = serializers.CharField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    choices = serializers.ListField(child=serializers.CharField())
    most = serializers.IntegerField(help_text="Maximum characters of a text in a language of the system; else 0")


class MeasureSerializer(serializers.Serializer):
    """A figure of each of its runs, by its name in a run's `summary.measures`."""

    name = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField(
        allow_blank=True, help_text="us, ms, s, bytes, J, per_s, share, cores, or what is counted; empty: a number"
    )
    definition = serializers.CharField()
    better = serializers.ChoiceField(choices=["lower", "higher", ""], help_text="Empty where neither way is better")


class SystemFaultSerializer(serializers.Serializer):
    """A fault of the system's own, in addition to those that every system has."""

    name = serializers.CharField(help_text="`what` of a fault")
    title = serializers.CharField()
    servers = serializers.ListField(child=serializers.CharField(), help_text="Roles of servers that can be targets")
    clients = serializers.ListField(child=serializers.CharField(), help_text="Roles of clients that can be targets")
    lasts = serializers.BooleanField(help_text="Whether it can end")
    settings = SettingSerializer(many=True, help_text="Its other fields")


class SystemStudySerializer(serializers.Serializer):
    id = serializers.CharField()
    title = serializers.CharField()
    question = serializers.CharField()


class SystemSeriesSerializer(serializers.Serializer):
    """A chart of its runs' pages, by columns of a run's `series`."""

    title = serializers.CharField()
    unit = serializers.CharField(allow_blank=True, help_text="As of a measure")
    columns = serializers.ListField(child=serializers.CharField())


class SystemSerializer(serializers.Serializer):
    """What can be launched, every setting and workload field it takes, its own faults, its measures and its studies."""

    name = serializers.CharField()
    title = serializers.CharField()
    seed = serializers.CharField(help_text="Number of the paper it implements")
    summary = serializers.CharField()
    engines = serializers.ListField(child=serializers.CharField())
    settings = SettingSerializer(many=True)
    workload = SettingSerializer(many=True)
    profiles = serializers.DictField(child=serializers.DictField(), help_text="Settings of each profile")
    faults = SystemFaultSerializer(many=True)
    measures = MeasureSerializer(many=True)
    key_figures = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the measures that head the page of a run, in order"
    )
    series = SystemSeriesSerializer(many=True)
    studies = SystemStudySerializer(many=True)


def _shown(system: System) -> dict[str, Any]:
    telemetry = telemetry_of({"system": system.name})
    return {
        "name": system.name,
        "title": system.title,
        "seed": str(system.seed),
        "summary": system.summary,
        "engines": list(system.engines),
        "settings": settings_shown(system.settings),
        "workload": settings_shown(system.workload),
        "profiles": {name: dict(values) for name, values in system.profiles.items()},
        "faults": [_fault(name, kind) for name, kind in system.faults.items()],
        "measures": [_measure(one) for one in measures_of(system.name).values()],
        "key_figures": [measures_of(system.name)[one.measure].declared for one in telemetry.key_figures],
        "series": [_series(chart, system) for chart in telemetry.series],
        "studies": [
            {"id": one.id, "title": one.title, "question": one.question}
            for one in studies().values()
            if one.system == system.name
        ],
    }


def _series(chart: LiveChart, system: System) -> dict[str, Any]:
    columns = [line.column for view in chart.views for line in view.lines]
    return {"title": system.server_title.fill(chart.title), "unit": chart.unit, "columns": columns}


def _fault(name: str, kind: FaultKind) -> dict[str, Any]:
    roles = {"servers": list(kind.servers), "clients": list(kind.clients)}
    return {"name": name, "title": kind.title, **roles, "lasts": kind.lasts, "settings": settings_shown(kind.fields)}


def _measure(measure: Measure) -> dict[str, str]:
    shown = {name: getattr(measure, name) for name in ("title", "unit", "definition", "better")}
    return {"name": measure.declared, **shown}


ORDERS = ("name", "-name")


def _chosen(query: Mapping[str, str]) -> list[System]:
    """The systems selected by the query. Raises ``InvalidSetting`` for an unknown order."""
    name, part = query.get("name"), query.get("name__icontains", "").lower()
    order = known_order([query.get("ordering", "")], ["name"])
    found = [one for one in SYSTEMS.values() if name in (None, "", one.name) and part in one.name.lower()]
    return sorted(found, key=lambda one: one.name, reverse=order == ["-name"]) if order else found


class SystemViewSet(SparseFields, ViewSet):
    """Systems, each with its settings, workload, measures and studies."""

    serializer_class = SystemSerializer
    pagination_class = Pages
    lookup_value_regex = "[a-z0-9-]+"

    @extend_schema(
        parameters=[
            OpenApiParameter("name", str),
            OpenApiParameter("name__icontains", str),
            OpenApiParameter("ordering", str, enum=list(ORDERS)),
        ],
        responses=SystemSerializer(many=True),
    )
    def list(self, request: Request) -> Response:
        pages = Pages()
        page = pages.paginate_queryset([_shown(system) for system in _chosen(request.query_params)], request, view=self)
        return pages.get_paginated_response(page)

    @extend_schema(responses=SystemSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        if pk not in SYSTEMS:
            raise NotFound(f"No system is named {pk!r:.40}.")
        return Response(_shown(SYSTEMS[pk]))
