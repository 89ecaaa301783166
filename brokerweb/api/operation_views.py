"""REST endpoints of the operation log of a network, and of its worst queries."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.accounts.rights import Operation as Right
from brokerweb.api.pages import Pages
from brokerweb.api.sparse import SparseFields
from brokerweb.kit.tables import CSV, download, written
from brokerweb.networks.models import Network
from brokerweb.operationlog import services
from brokerweb.operationlog.entries import OUTCOMES
from brokerweb.operationlog.models import Done, Operation
from overlay.core.errors import InvalidSetting, shown

JSON_LINES = "jsonl"
FILTERS = [
    OpenApiParameter("who", str, description="Name of an account, or prefix of a token"),
    OpenApiParameter("entity", str, description="Words in the names of what it is about"),
    OpenApiParameter(
        "op",
        str,
        description="get, put, delete, list or stream; batch: a batch that was refused as a whole. Of other batches, "
        "each operation as it was sent",
    ),
    OpenApiParameter("outcome", str, description=f"One or more of {', '.join(OUTCOMES)}, with commas"),
    OpenApiParameter("provider", str),
    OpenApiParameter("broker", int, description="Index of the broker that was asked"),
    OpenApiParameter("from", OpenApiTypes.DATETIME, description="At this time or later; a date is its begin, UTC"),
    OpenApiParameter("to", OpenApiTypes.DATETIME, description="Before this time"),
]
FORMAT = OpenApiParameter("format", str, enum=[CSV, JSON_LINES], description="Default: csv")
KIND = OpenApiParameter("kind", str, enum=list(services.WORST), description="Default: slow")


class OperationSerializer(serializers.ModelSerializer):
    """One operation on the context of a network. Names are as they were then."""

    id = serializers.CharField(source="pk", read_only=True)
    about = serializers.SerializerMethodField(help_text="The names of what it is about, as in its URL")
    broker_index = serializers.IntegerField(source="server", allow_null=True, help_text="The broker that was asked")
    provider = serializers.CharField(source="source")
    strategy = serializers.CharField(source="way", help_text="How the broker was chosen, as in the answer")
    outcome: Any = serializers.ChoiceField(choices=OUTCOMES)
    walk = serializers.SerializerMethodField(help_text="URL of its walk; null if it was not traced")

    class Meta:
        model = Operation
        fields = ["id", "at", "took_us", "who", "token", "via", "op", "key", "about", "provider", "broker_index"]
        fields += ["outcome", "status", "hops", "strategy", "walk", "sentence", "count"]

    def get_about(self, row: Done) -> dict[str, str]:
        return services.about(row, self.context["names"])

    def get_walk(self, row: Done) -> str | None:
        return services.walk_url(row) or None


class OperationViewSet(SparseFields, GenericViewSet):
    """Who used a network for what."""

    queryset = Network.objects.all()
    network_in = "pk"
    serializer_class = OperationSerializer
    operations = dict.fromkeys(("list_operations", "export", "slow"), Right.INSPECT)
    further_lists = dict.fromkeys(("list_operations", "slow"), OperationSerializer)

    @extend_schema(
        operation_id="networks_operations_list",
        parameters=FILTERS,
        responses=OperationSerializer(many=True),
        filters=False,
    )
    @action(detail=True, url_path="operations")
    def list_operations(self, request: Request, pk: str) -> Response:
        """The operation log, newest first: who provided, queried and withdrew what, at which broker, with what outcome.

        Operators only. Written within two seconds. A row with outcome `lost` says how many operations (`count`) are
        missing at this place because they came faster than they could be logged.
        """
        network = self.get_object()
        return self._page(network, self._matching(network))

    @extend_schema(
        operation_id="networks_operations_export",
        parameters=[*FILTERS, FORMAT],
        responses={(200, "text/csv"): OpenApiTypes.BINARY, (200, "application/jsonl"): OpenApiTypes.BINARY},
        filters=False,
    )
    @action(detail=True, url_path="operations/export", pagination_class=None)
    def export(self, request: Request, pk: str) -> HttpResponse:
        """The same operations as a file, at most 50,000: CSV, or one JSON object a line."""
        network = self.get_object()
        form = request.query_params.get("format", CSV)
        if form not in (CSV, JSON_LINES):
            raise InvalidSetting("format", f"must be csv or jsonl, not {shown(form, 40)}")
        table = services.exported(self._matching(network))
        if form == CSV:
            return download(written(table, CSV), CSV, f"operations-{network.pk}")
        headers = {"Content-Disposition": f'attachment; filename="operations-{network.pk}.jsonl"'}
        return HttpResponse("".join(services.lines(table)), content_type="application/jsonl", headers=headers)

    @extend_schema(
        operation_id="networks_slow_list",
        parameters=[KIND],
        responses=OperationSerializer(many=True),
        filters=False,
    )
    @action(detail=True, pagination_class=Pages)
    def slow(self, request: Request, pk: str) -> Response:
        """The 100 slowest queries through REST within the last day, slowest first; with `kind=failed` the latest 100
        that found nothing or had no answer. Operators only.

        Queries with `Prefer: wait` are not in it. `walk` is null unless it was asked for with `trace=true`; ask
        again with it to see the walk.
        """
        network = self.get_object()
        rows = services.worst_of(network, request.query_params.get("kind", services.SLOW))
        return self._page(network, rows)

    def _matching(self, network: Network) -> QuerySet[Operation]:
        return services.matching(services.of_network(network), self.request.query_params)

    def _page(self, network: Network, rows: QuerySet[Any]) -> Response:
        page = self.paginate_queryset(rows)
        context = {**self.get_serializer_context(), "names": services.names_of(network)}
        return self.get_paginated_response(OperationSerializer(page, many=True, context=context).data)
