"""REST endpoints of disk usage and retention."""

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
from brokerweb.kit import etags
from brokerweb.retention import services
from brokerweb.retention.removal import Plan


class PolicySerializer(serializers.Serializer):
    max_days = serializers.IntegerField(
        allow_null=True, help_text="Delete files of runs that ended earlier; null: no limit"
    )
    max_gb = serializers.FloatField(
        allow_null=True,
        help_text="Maximum size of all files of ended runs; the oldest are deleted first; null: no limit",
    )
    least_free_gb = serializers.FloatField(help_text="Minimum free space to launch")
    include_simulated = serializers.BooleanField(help_text="Also delete cached simulations")
    include_reports = serializers.BooleanField(help_text="Also delete files of reports; their pages are kept")
    change_days = serializers.IntegerField(help_text="Delete rows of the change log that are older")
    most_changes = serializers.IntegerField(help_text="Maximum number of rows of the change log")
    mark = serializers.CharField(help_text=MARK_HELP)


class PolicyBody(Body):
    max_days = serializers.IntegerField(required=False, allow_null=True)
    max_gb = serializers.FloatField(required=False, allow_null=True)
    least_free_gb = serializers.FloatField(required=False)
    include_simulated = serializers.BooleanField(required=False)
    include_reports = serializers.BooleanField(required=False)
    change_days = serializers.IntegerField(required=False)
    most_changes = serializers.IntegerField(required=False)


class StoragePartsSerializer(serializers.Serializer):
    runs = serializers.IntegerField(help_text="Journals, traces and messages of ended runs")
    lake = serializers.IntegerField(help_text="Their samples, ticks and events as Parquet")
    simulated = serializers.IntegerField(help_text="Cached simulations")
    reports = serializers.IntegerField()
    database = serializers.IntegerField()
    logs = serializers.IntegerField()


class StorageSerializer(serializers.Serializer):
    """Disk usage in bytes, and the retention policy."""

    total_bytes = serializers.IntegerField()
    free_bytes = serializers.IntegerField()
    used_share = serializers.FloatField(help_text="0 to 1")
    run_bytes = serializers.IntegerField(allow_null=True, help_text="Mean size of recent runs")
    parts = StoragePartsSerializer()
    kept_runs = serializers.IntegerField(help_text="Runs exempt from retention")
    removed_runs = serializers.IntegerField(help_text="Runs whose files were deleted")
    policy = PolicySerializer()


class RemovalPlanSerializer(serializers.Serializer):
    runs = serializers.IntegerField()
    simulated = serializers.IntegerField()
    reports = serializers.IntegerField()
    bytes = serializers.IntegerField()


def _shown() -> Response:
    usage, policy = services.usage(), services.policy()
    shown: dict[str, Any] = {
        "total_bytes": usage.disk.total,
        "free_bytes": usage.disk.free,
        "used_share": round(usage.disk.used_share, 4),
        "run_bytes": usage.run_bytes,
        "parts": usage.parts,
        "kept_runs": usage.kept_runs,
        "removed_runs": usage.removed_runs,
        "policy": {
            "max_days": policy.max_days,
            "max_gb": None if policy.max_bytes is None else policy.max_bytes / services.GB,
            "least_free_gb": policy.least_free_bytes / services.GB,
            "include_simulated": policy.include_simulated,
            "include_reports": policy.include_reports,
            "change_days": policy.change_days,
            "most_changes": policy.most_changes,
            "mark": etags.mark(services.stored(policy)),
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
        """Disk usage and retention policy."""
        return _shown()

    @extend_schema(
        operation_id="storage_partial_update", request=PolicyBody, responses=StorageSerializer, parameters=[IF_MATCH]
    )
    def patch(self, request: Request) -> Response:
        """Change the retention policy. Expired files are deleted within minutes."""
        services.change(_body(request), cast(User, request.user), seen=seen(request))
        return _shown()


class StoragePreviewView(APIView):
    @extend_schema(operation_id="storage_preview", request=PolicyBody, responses=RemovalPlanSerializer)
    def post(self, request: Request) -> Response:
        """Effect of a policy change. Nothing is changed."""
        return _plan(services.preview(_body(request)))


class StorageApplyView(APIView):
    @extend_schema(operation_id="storage_apply", request=None, responses=RemovalPlanSerializer)
    def post(self, request: Request) -> Response:
        """Delete expired files now, at most a hundred items; the rest follows automatically."""
        return _plan(services.apply_now(cast(User, request.user)))
