"""REST's doors to topologies."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.api.resources import Resource, settings_shown
from brokerweb.api.shapes import topologies as shapes
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from overlay.errors import InvalidSetting
from overlay.settings import describe


class TopologyViewSet(Resource):
    queryset = Topology.objects.select_related("owner")
    serializer_class = shapes.TopologySerializer
    summary_serializer = shapes.TopologySummarySerializer
    filterset_fields = {"kind": ["exact"], "name": ["exact", "icontains"], "brokers": ["exact", "gte", "lte"]}
    ordering_fields = ["name", "kind", "brokers", "created", "updated"]

    def get_queryset(self) -> QuerySet[Topology]:
        rows = super().get_queryset()
        return rows if self.action == "list" else rows.prefetch_related("links", "nodes")

    @extend_schema(request=shapes.TopologyBody, responses={201: shapes.TopologySerializer})
    def create(self, request: Request) -> Response:
        body = self.parsed(shapes.TopologyBody)
        if "brokers" not in body:
            if body["kind"] != "central":
                raise InvalidSetting("brokers", "is required")
            body["brokers"] = 1
        return self.shown(topologies.create(**body, owner=self.user), 201)

    @extend_schema(request=shapes.TopologyBody, responses=shapes.TopologySerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        body = shapes.TopologyBody(data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        return self.shown(topologies.update(self.get_object(), **body.validated_data))

    @extend_schema(request=shapes.TopologyImportBody, responses={201: shapes.TopologySerializer})
    @action(detail=False, methods=["post"], url_path="import")
    def import_text(self, request: Request) -> Response:
        body = self.parsed(shapes.TopologyImportBody)
        topology = topologies.import_text(name=body["name"], text=body["text"], form=body["format"], owner=self.user)
        return self.shown(topology, 201)

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        topologies.delete(self.get_object())
        return Response(status=204)

    @extend_schema(responses={200: OpenApiTypes.OBJECT}, filters=False)
    @action(detail=False, pagination_class=None)
    def kinds(self, request: Request) -> Response:
        """The kinds there are, and the parameters of each."""
        return Response(
            {
                name: {"title": kind.title, "summary": kind.summary, "params": settings_shown(describe(kind.params))}
                for name, kind in topologies.kinds().items()
            }
        )
