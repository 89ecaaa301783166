"""REST's doors to what lies on the disk."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.api.resources import IF_MATCH, MARK_HELP, seen
from brokerweb.api.shapes.fields import Body
from brokerweb.kit import stale
from brokerweb.retention import services
from brokerweb.retention.removal import Plan


class PolicySerializer(serializers.Serializer):
    max_days = serializers.IntegerField(
        allow_null=True, help_text="Files of runs that ended earlier go; null: no limit"
    )
    max_gb = serializers.FloatField(
        allow_null=True, help_text="Of all files of ended runs; the oldest go; null: no limit"
    )
    least_free_gb = serializers.FloatField(help_text="With less free on the disk nothing is launched")
    include_simulated = serializers.BooleanField(help_text="Also what is kept to simulate the same again")
    include_reports = serializers.BooleanField(help_text="Also the files of reports; their pages stay")
    mark = serializers.CharField(help_text=MARK_HELP)


class PolicyBody(Body):
    max_days = serializers.IntegerField(required=False, allow_null=True)
    max_gb = serializers.FloatField(required=False, allow_null=True)
    least_free_gb = serializers.FloatField(required=False)
    include_simulated = serializers.BooleanField(required=False)
    include_reports = serializers.BooleanField(required=False)


class StoragePartsSerializer(serializers.Serializer):
    runs = serializers.IntegerField(help_text="Journals, traces and messages of ended runs")
    lake = serializers.IntegerField(help_text="Their samples, ticks and events as Parquet")
    simulated = serializers.IntegerField(help_text="Kept so that the same is not simulated twice")
    reports = serializers.IntegerField()
    database = serializers.IntegerField()
    logs = serializers.IntegerField()


class StorageSerializer(serializers.Serializer):
    """How full the disk is, in bytes, and what is removed when."""

    total_bytes = serializers.IntegerField()
    free_bytes = serializers.IntegerField()
    used_share = serializers.FloatField(help_text="0 to 1")
    run_bytes = serializers.IntegerField(allow_null=True, help_text="What a run takes: the mean of the last ones")
    parts = StoragePartsSerializer()
    kept_runs = serializers.IntegerField(help_text="Runs that retention passes by")
    removed_runs = serializers.IntegerField(help_text="Runs whose files were removed")
    policy = PolicySerializer()


class RemovalPlanSerializer(serializers.Serializer):
    runs = serializers.IntegerField()
    simulated = serializers.IntegerField()
    reports = serializers.IntegerField()
    bytes = serializers.IntegerField()


def _shown() -> Response:
    told, policy = services.told(), services.policy()
    shown: dict[str, Any] = {
        "total_bytes": told.disk.total,
        "free_bytes": told.disk.free,
        "used_share": round(told.disk.used_share, 4),
        "run_bytes": told.run_bytes,
        "parts": told.parts,
        "kept_runs": told.kept_runs,
        "removed_runs": told.removed_runs,
        "policy": {
            "max_days": policy.max_days,
            "max_gb": None if policy.max_bytes is None else policy.max_bytes / services.GB,
            "least_free_gb": policy.least_free_bytes / services.GB,
            "include_simulated": policy.include_simulated,
            "include_reports": policy.include_reports,
            "mark": stale.mark(services.stored(policy)),
        },
    }
    return Response(StorageSerializer(shown).data)


def _plan(plan: Plan) -> Response:
    return Response(RemovalPlanSerializer(plan).data)


def _body(request: Request) -> dict[str, Any]:
    body = PolicyBody(data=request.data)
    body.is_valid(raise_exception=True)
    return body.validated_data


class StorageView(APIView):
    @extend_schema(operation_id="storage_retrieve", responses=StorageSerializer)
    def get(self, request: Request) -> Response:
        """How full the disk is and with what; what is kept how long."""
        return _shown()

    @extend_schema(
        operation_id="storage_partial_update", request=PolicyBody, responses=StorageSerializer, parameters=[IF_MATCH]
    )
    def patch(self, request: Request) -> Response:
        """Changes what is kept how long; what is due goes within minutes."""
        services.change(_body(request), cast(User, request.user), seen=seen(request))
        return _shown()


class StoragePreviewView(APIView):
    @extend_schema(operation_id="storage_preview", request=PolicyBody, responses=RemovalPlanSerializer)
    def post(self, request: Request) -> Response:
        """What would be removed now if the policy were changed like that. Nothing is changed."""
        return _plan(services.preview(_body(request)))


class StorageApplyView(APIView):
    @extend_schema(operation_id="storage_apply", request=None, responses=RemovalPlanSerializer)
    def post(self, request: Request) -> Response:
        """Removes what is due now, a hundred things at most; the rest goes by itself."""
        return _plan(services.apply_now(cast(User, request.user)))
