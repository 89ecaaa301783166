"""REST endpoint of the calibration: error of simulated response times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.api.shapes.fields import ObjectField
from brokerweb.kit.errors import NotPossible
from overlay.systems.registry import system_of
from telemetry.calibration.trust import Compared, trust
from telemetry.errors import TelemetryError
from telemetry.lake.manifest import machine


class OverRunsSerializer(serializers.Serializer):
    """A value with its 95 % interval over runs."""

    value = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()


class OneEngineSerializer(serializers.Serializer):
    """Response times in microseconds."""

    p50 = OverRunsSerializer()
    p95 = OverRunsSerializer()


class AnchorSerializer(serializers.Serializer):
    name = serializers.CharField()
    live = OneEngineSerializer()
    simulated = OneEngineSerializer()
    off = OverRunsSerializer(help_text="Relative error of the simulated median")
    is_close = serializers.BooleanField()


class CalibrationSerializer(serializers.Serializer):
    """The current calibration of a system and its validation against live runs."""

    system = serializers.CharField()
    unmeasured = serializers.ListField(
        child=serializers.CharField(),
        help_text="Roles and units of work without measured service times; simulated runs use default costs for them",
    )
    costs = ObjectField(help_text="Measured costs in microseconds, by role")
    own = serializers.BooleanField(
        help_text="True: measured on this installation; false: the reference shipped with the code"
    )
    date = serializers.DateField(allow_null=True, help_text="Null if nothing was measured")
    age_days = serializers.IntegerField(allow_null=True)
    machine = ObjectField()
    code = ObjectField()
    another_machine = serializers.BooleanField(help_text="Whether it was measured on another machine")
    close = serializers.FloatField(help_text="Relative error up to which a simulated median counts as close")
    near = serializers.IntegerField(help_text="Number of configurations below that are close")
    anchors = AnchorSerializer(many=True, help_text="Empty if no validation was run")
    growth = AnchorSerializer(many=True, help_text="Configurations that answer a question of their own")


def _shown(one: Compared) -> dict[str, Any]:
    return {name: getattr(one, name) for name in ("name", "live", "simulated", "off", "is_close")}


class CalibrationView(APIView):
    @extend_schema(
        operation_id="calibration_retrieve",
        responses=CalibrationSerializer,
        parameters=[OpenApiParameter("system", str, description="Default: the first system")],
    )
    def get(self, request: Request) -> Response:
        """Live and simulated medians, with date and machine of both measurements."""
        try:
            found = trust(Path(settings.VAR), system_of(request.query_params.get("system", "")))
        except TelemetryError as error:
            raise NotPossible(str(error)) from None
        shown = {
            "system": found.system,
            "unmeasured": list(found.unmeasured),
            "costs": found.model.to_json()["roles"],
            "own": found.is_own,
            "date": str(found.measured["date"])[:10] if found.measured else None,
            "age_days": found.age_days(timezone.now().date()),
            "machine": found.measured.get("machine", {}),
            "code": found.measured.get("code", {}),
            "another_machine": found.differs_from(machine()),
            "close": found.close,
            "near": len(found.near),
            "anchors": [_shown(one) for one in found.anchors],
            "growth": [_shown(one) for one in found.growth],
        }
        return Response(CalibrationSerializer(shown).data)
