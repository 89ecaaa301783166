"""REST endpoints of topologies."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import ErrorDetail, NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.api.errors import PreconditionRequired
from brokerweb.api.resources import Resource, seen, settings_shown
from brokerweb.api.shapes import topologies as shapes
from brokerweb.topologies import services as topologies
from brokerweb.topologies import studio, versions
from brokerweb.topologies.models import Topology, TopologyVersion
from overlay.core.errors import InvalidSetting, shown
from overlay.core.settings import describe
from overlay.systems.registry import walk_policies
from overlay.topologies.advice import LARGEST
from overlay.topologies.difference import difference

IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="The version that was read, from ETag"
)


class TopologyViewSet(Resource):
    queryset = Topology.objects.select_related("owner")
    serializer_class = shapes.TopologySerializer
    further_lists = {"versions": shapes.VersionSerializer}
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

    @extend_schema(request=shapes.TopologyBody, responses=shapes.TopologySerializer, parameters=[IF_MATCH])
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change fields. With If-Match, 412 if the topology has a newer version."""
        body = shapes.TopologyBody(data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        since, topology = _read_version(request), self.get_object()
        return self._saved(topologies.update(topology, by=self.user, since=since, **body.validated_data))

    @extend_schema(
        request=shapes.EditedBody,
        responses=shapes.TopologySerializer,
        parameters=[IF_MATCH],
    )
    def update(self, request: Request, pk: str) -> Response:
        """Save an edited topology as a new version.

        If another version was saved meanwhile 409, or 412 if If-Match named the edited one; 428 without either.

        Without changes no version is created. A change of brokers or links turns the kind into custom.
        """
        topology = self.get_object()
        body = self.parsed(shapes.EditedBody)
        graph = studio.read_graph(body["nodes"], body["links"])
        since, more = _edited(request, body), {name: body[name] for name in ("name", "note") if name in body}
        return self._saved(studio.save(topology.pk, graph, since=since, by=self.user, **more))

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self._tagged(self.get_object())

    def _saved(self, topology: Topology) -> Response:
        """The current state, read again after the change."""
        return self._tagged(self.get_queryset().get(pk=topology.pk))

    def _tagged(self, topology: Topology) -> Response:
        answer = self.shown(topology)
        answer["ETag"] = f'"{topology.version}"'
        return answer

    @extend_schema(request=shapes.TopologyImportBody, responses={201: shapes.TopologySerializer})
    @action(detail=False, methods=["post"], url_path="import")
    def import_text(self, request: Request) -> Response:
        body = self.parsed(shapes.TopologyImportBody)
        topology = topologies.import_text(name=body["name"], text=body["text"], form=body["format"], owner=self.user)
        return self.shown(topology, 201)

    @extend_schema(request=None, responses={204: None}, parameters=[IF_MATCH])
    def destroy(self, request: Request, pk: str) -> Response:
        topologies.delete(self.get_object(), since=_read_version(request))
        return Response(status=204)

    @extend_schema(request=None, responses={201: shapes.TopologySerializer})
    @action(detail=True, methods=["post"])
    def clone(self, request: Request, pk: str) -> Response:
        """Copy the topology under a new name."""
        return self.shown(studio.clone(self.get_object(), self.user), 201)

    @extend_schema(
        parameters=[OpenApiParameter("format", str, enum=list(topologies.READERS))],
        responses={
            (200, "application/graphml+xml"): OpenApiTypes.STR,
            (200, "application/json"): OpenApiTypes.OBJECT,
            (200, "text/csv"): OpenApiTypes.STR,
        },
        filters=False,
    )
    @action(detail=True)
    def export(self, request: Request, pk: str) -> HttpResponse:
        """Export as a file that can be imported again: GraphML and JSON are exact, an edge list omits positions."""
        topology, form = self.get_object(), request.query_params.get("format", topologies.GRAPHML)
        text, media = topologies.export_text(topologies.to_graph(topology), form)
        name = topologies.file_name(topology, form)
        return HttpResponse(text, content_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    @extend_schema(responses=shapes.VersionSerializer(many=True), filters=False)
    @action(detail=True)
    def versions(self, request: Request, pk: str) -> Response:
        """Saved versions, newest first."""
        page = self.paginate_queryset(self.get_object().versions.select_related("by").defer("document"))
        return self.get_paginated_response(shapes.VersionSerializer(page, many=True).data)

    @extend_schema(operation_id="topologies_version", responses={200: OpenApiTypes.OBJECT}, filters=False)
    @action(detail=True, url_path=r"versions/(?P<number>[0-9]{1,9})")
    def version(self, request: Request, pk: str, number: str) -> Response:
        """One version: `nodes` and `links` as accepted by PUT, with `kind`, `params` and `seed`."""
        version = _version(self.get_object(), number)
        made = {name: version.document[name] for name in ("kind", "params", "seed")}
        return Response({"number": version.number, **made, **studio.drawn(versions.graph_of(version.document))})

    @extend_schema(operation_id="topologies_restore", request=None, responses=shapes.TopologySerializer)
    @action(detail=True, methods=["post"], url_path=r"versions/(?P<number>[0-9]{1,9})/restore")
    def restore(self, request: Request, pk: str, number: str) -> Response:
        """Restore an earlier version as the newest one."""
        return self._saved(studio.restore(_version(self.get_object(), number), self.user))

    @extend_schema(
        parameters=[
            OpenApiParameter("from", int, description="Version number; default: the one before `to`"),
            OpenApiParameter("to", int, description="Version number; default: the newest"),
        ],
        responses=shapes.TopologyDifferenceSerializer,
        filters=False,
    )
    @action(detail=True)
    def difference(self, request: Request, pk: str) -> Response:
        """Differences between two versions."""
        topology, asked = self.get_object(), request.query_params
        new = _version(topology, asked.get("to", str(topology.version)), "to")
        before = asked.get("from", str(versions.neighbours(topology, new.number)[0] or new.number))
        old = _version(topology, before, "from")
        found = difference(versions.graph_of(old.document), versions.graph_of(new.document))
        return Response(shapes.TopologyDifferenceSerializer(found, context={"old": old.number, "new": new.number}).data)

    @extend_schema(
        parameters=[OpenApiParameter("policy", str, enum=list(walk_policies()))],
        responses=shapes.ExaminedSerializer,
        filters=False,
    )
    @action(detail=True, url_path="measures")
    def measured(self, request: Request, pk: str) -> Response:
        """Graph measures, and an estimate of the walk length."""
        graph = topologies.to_graph(self.get_object())
        return Response(studio.examine(graph, request.query_params.get("policy", studio.usual_policy())))

    @extend_schema(operation_id="topologies_examine", request=shapes.ExaminedBody, responses=shapes.ExaminedSerializer)
    @action(detail=False, methods=["post"], url_path="measures")
    def examine(self, request: Request) -> Response:
        """The same for an unsaved topology."""
        body = self.parsed(shapes.ExaminedBody)
        return Response(studio.examine(studio.read_graph(body["nodes"], body["links"]), body["policy"]))

    @extend_schema(
        parameters=[
            OpenApiParameter("k", int, description="Number of links, 1 to 10; default: 3"),
            OpenApiParameter("goal", str, enum=list(LARGEST), description="Objective: shorter walks or shorter paths"),
        ],
        responses=shapes.AdviceSerializer,
        filters=False,
    )
    @action(detail=True)
    def advice(self, request: Request, pk: str) -> Response:
        """Suggested links that shorten walks or paths most, chosen one by one."""
        asked = request.query_params
        k = asked.get("k", "3")
        graph = topologies.to_graph(self.get_object())
        return Response(studio.advise(graph, int(k) if k.isdecimal() and len(k) < 3 else 0, asked.get("goal", "walk")))

    @extend_schema(operation_id="topologies_advise", request=shapes.AdvisedBody, responses=shapes.AdviceSerializer)
    @action(detail=False, methods=["post"], url_path="advice")
    def advise(self, request: Request) -> Response:
        """The same for an unsaved topology."""
        body = self.parsed(shapes.AdvisedBody)
        return Response(studio.advise(studio.read_graph(body["nodes"], body["links"]), body["k"], body["goal"]))

    @extend_schema(responses={200: OpenApiTypes.OBJECT}, filters=False)
    @action(detail=False, pagination_class=None)
    def kinds(self, request: Request) -> Response:
        """Kinds of topologies with their parameters."""
        return Response(
            {
                name: {"title": kind.title, "summary": kind.summary, "params": settings_shown(describe(kind.params))}
                for name, kind in topologies.kinds().items()
            }
        )


def _edited(request: Request, body: dict[str, Any]) -> int:
    """The version that was edited, from the body or the header. Raises ``InvalidSetting``, ``PreconditionRequired``."""
    if "version" in body:
        return int(body["version"])
    version = _read_version(request)
    if version is None:
        told = "is required: the version that was edited, here or in If-Match, to avoid overwriting other changes"
        raise PreconditionRequired({"version": [ErrorDetail(told, "required")]})
    return version


def _read_version(request: Request) -> int | None:
    """The version in If-Match; ``None`` without the header or for ``*``. Raises ``InvalidSetting``."""
    tag = seen(request)
    if tag in ("", "*"):
        return None
    if not (tag.isascii() and tag.isdigit() and len(tag) < 10):
        raise InvalidSetting("If-Match", f"must be a version number from ETag, not {shown(tag, 40)}")
    return int(tag)


def _version(topology: Topology, number: str, field: str = "number") -> TopologyVersion:
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise InvalidSetting(field, f"must be a version number, not {shown(number, 40)}")
    version = topology.versions.filter(number=int(number)).first()
    if version is None:
        raise NotFound(f"Version {int(number)} of this topology does not exist or was thinned out.")
    return version
