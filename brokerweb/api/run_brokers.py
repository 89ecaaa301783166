"""REST's doors to the brokers of a run, all in a row each or one looked at closely, and to what repeats it."""

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
from brokerweb.runpage import repeating, tables


class RunBrokers:
    """Actions of ``RunViewSet``, which is long enough without them."""

    get_object: Any

    @extend_schema(
        parameters=[
            PAGED_AS_JSON,
            OpenApiParameter("page", int),
            OpenApiParameter("page_size", int, description="At most 1,000"),
        ],
        responses=a_table(shapes.RunBrokerListSerializer),
        filters=False,
    )
    @action(detail=True, url_path="brokers")
    def brokers(self, request: Request, pk: str) -> HttpResponseBase:
        """Each broker's state, load and memory: as of now, and of a run that has ended as it was while measuring."""
        page, size = whole(request, "page", 1, 1, 10**6), whole(request, "page_size", 100, 1, 1_000)
        run = self.get_object()
        if (form := checked(request.query_params.get("format", JSON))) != JSON:
            return download(written(tables.of_brokers(run), form), form, tables.named("brokers", run))
        found = brokers.of_run(run)
        rows = found["brokers"]
        beside = links(request, {"page_size": size}, page, -(-len(rows) // size))
        shown = rows[(page - 1) * size : page * size]
        return Response({"count": len(rows), **beside, "t_s": found["t_s"], "results": shown})

    @extend_schema(operation_id="runs_broker_retrieve", responses=shapes.RunBrokerSerializer, filters=False)
    @action(detail=True, url_path="brokers/(?P<index>[0-9]{1,7})")
    def broker(self, request: Request, pk: str, index: str) -> Response:
        """One broker: neighbours, counters, what it held, its last steps and, where it is recorded, messages."""
        found = brokers.one_of(self.get_object(), int(index))
        if found is None:
            raise NotFound("This run has no broker of this number.")
        return Response(found)

    @extend_schema(responses=OpenApiTypes.OBJECT, filters=False)
    @action(detail=True)
    def definition(self, request: Request, pk: str) -> Response:
        """The run as a definition of its own, with its topology and seed: for `python -m overlay simulate` and sweeps.

        The run is its replicate of the run's own number.
        """
        return Response(repeating.definition_of(self.get_object()))
