"""REST endpoints of the change log."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request

from brokerweb.accounts.asking import access_of
from brokerweb.accounts.rights import Operation, refusal
from brokerweb.api.resources import Resource
from brokerweb.changelog import services
from brokerweb.changelog.models import Change
from brokerweb.kit.picks import MOST_TYPED
from brokerweb.kit.tables import CSV, JSON, download, written
from overlay.core.errors import InvalidSetting

SEARCH = OpenApiParameter("q", str, description="Words in name, id or kind of the object, action, or who did it")
FORMAT = OpenApiParameter("format", str, enum=[CSV, JSON], description="Default: csv")


class ChangeSerializer(serializers.ModelSerializer):
    id = serializers.CharField(source="pk", read_only=True)
    object = serializers.CharField(source="object_id", read_only=True, help_text="Its id")
    before = serializers.DictField(help_text="Values that changed, as they were")
    after = serializers.DictField(help_text="As they are since, and further facts")

    class Meta:
        model = Change
        fields = ["id", "at", "who", "token", "source", "request_id", "kind", "object", "name", "action"]
        fields += ["before", "after"]


@extend_schema_view(
    list=extend_schema(description="Who changed what, newest first.", parameters=[SEARCH]),
    retrieve=extend_schema(description="One change."),
)
class ChangeViewSet(Resource):
    """The change log; changes of accounts, rights and tokens are shown to administrators only."""

    queryset = Change.objects.all()
    serializer_class = ChangeSerializer
    lookup_value_regex = "[0-9]{1,18}"
    filterset_fields = {
        **{name: ["exact"] for name in ("kind", "object_id", "action", "who", "source", "request_id")},
        "at": ["gte", "lt"],
    }
    ordering_fields = ["at"]

    def get_queryset(self) -> QuerySet[Change]:
        access = access_of(self.request.user, self.request.auth)
        rows = services.shown(of_accounts=not refusal(access, Operation.ADMINISTER, is_safe=True))
        text = self.request.query_params.get("q", "") if self.detail is False else ""
        if len(text) > MOST_TYPED:
            raise InvalidSetting("q", f"accepts at most {MOST_TYPED} characters")
        return services.matching(rows, text)

    @extend_schema(
        operation_id="changes_export",
        filters=True,
        parameters=[SEARCH, FORMAT],
        responses={(200, "text/csv"): OpenApiTypes.BINARY, (200, "application/json"): OpenApiTypes.BINARY},
    )
    @action(detail=False, pagination_class=None)
    def export(self, request: Request) -> HttpResponse:
        """The same changes as a file, at most 20,000."""
        form = request.query_params.get("format", CSV)
        if form not in (CSV, JSON):
            raise InvalidSetting("format", f"must be csv or json, not {form!r:.40}")
        rows = self.filter_queryset(self.get_queryset())
        return download(written(services.exported(rows), form), form, "changes")
