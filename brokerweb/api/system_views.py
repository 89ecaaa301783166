"""The registry of systems, read only."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from brokerweb.api.pages import Pages
from brokerweb.api.resources import settings_shown
from overlay.systems import SYSTEMS, System


class SettingSerializer(serializers.Serializer):
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=["boolean", "integer", "number", "text"])
    default: Any = serializers.JSONField()
    unit = serializers.CharField(allow_blank=True)
    help: Any = serializers.CharField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    choices = serializers.ListField(child=serializers.CharField())


class SystemSerializer(serializers.Serializer):
    """What can be launched, and every setting and workload field it takes."""

    name = serializers.CharField()
    title = serializers.CharField()
    seed = serializers.CharField(help_text="Number of the paper that it builds")
    summary = serializers.CharField()
    engines = serializers.ListField(child=serializers.CharField())
    settings = SettingSerializer(many=True)
    workload = SettingSerializer(many=True)
    profiles = serializers.DictField(
        child=serializers.DictField(), help_text="What each choice of the setting profile sets"
    )


def _shown(system: System) -> dict[str, Any]:
    return {
        "name": system.name,
        "title": system.title,
        "seed": str(system.seed),
        "summary": system.summary,
        "engines": list(system.engines),
        "settings": settings_shown(system.settings),
        "workload": settings_shown(system.workload),
        "profiles": {name: dict(values) for name, values in system.profiles.items()},
    }


class SystemViewSet(ViewSet):
    serializer_class = SystemSerializer
    pagination_class = Pages
    lookup_value_regex = "[a-z0-9-]+"

    @extend_schema(responses=SystemSerializer(many=True))
    def list(self, request: Request) -> Response:
        pages = Pages()
        page = pages.paginate_queryset([_shown(system) for system in SYSTEMS.values()], request, view=self)
        return pages.get_paginated_response(page)

    @extend_schema(responses=SystemSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        if pk not in SYSTEMS:
            raise NotFound(f"There is no system called {pk!r:.40}.")
        return Response(_shown(SYSTEMS[pk]))
