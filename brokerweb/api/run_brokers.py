"""REST endpoints of a run's brokers (all, or one in detail) and of the definition that repeats the run."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.api.paging import links, whole
from brokerweb.api.shapes import brokers as shapes
from brokerweb.api.tables import PAGED_AS_JSON, a_table
from brokerweb.kit.tables import JSON, checked, download, written
from brokerweb.live import brokers
from brokerweb.runpage import reproduction, tables


class RunBrokers:
    """Actions of ``RunViewSet``, split off to keep it short."""

    get_object: Any

    @extend_schema(
        parameters=[
            PAGED_AS_JSON,
            OpenApiParameter("page", int),
            OpenApiParameter("page_size", int, description="Maximum 1,000"),
        ],
        responses=a_table(shapes.RunBrokerListSerializer),
        filters=False,
    )
    @action(detail=True, url_path="brokers")
    def brokers(self, request: Request, pk: str) -> HttpResponseBase:
        """State, load and memory of each server: current values, or those of the measurement once the run has ended."""
        page, size = whole(request, "page", 1, 1, 10**6), whole(request, "page_size", 100, 1, 1_000)
        run = self.get_object()
        if (form := checked(request.query_params.get("format", JSON))) != JSON:
            return download(written(tables.of_brokers(run), form), form, tables.named("brokers", run))
        found = brokers.of_run(run)
        rows = found["brokers"]
        page_links = links(request, {"page_size": size}, page, -(-len(rows) // size))
        shown = rows[(page - 1) * size : page * size]
        return Response({"count": len(rows), **page_links, "t_s": found["t_s"], "results": shown})

    @extend_schema(operation_id="runs_broker_retrieve", responses=shapes.RunBrokerSerializer, filters=False)
    @action(detail=True, url_path="brokers/(?P<index>[0-9]{1,7})")
    def broker(self, request: Request, pk: str, index: str) -> Response:
        """One server: neighbours, counters, data at the end, latest steps and, if recorded, latest messages."""
        found = brokers.one_of(self.get_object(), int(index))
        if found is None:
            raise NotFound("This run has no server with this index.")
        return Response(found)

    @extend_schema(responses=OpenApiTypes.OBJECT, filters=False)
    @action(detail=True)
    def definition(self, request: Request, pk: str) -> Response:
        """The run as a definition, with topology and seed, for `python -m overlay simulate` and sweeps.

        Replicate number of the definition: that of the run.
        """
        return Response(reproduction.definition_of(self.get_object()))
