"""REST endpoints of traced queries of runs and networks."""

from __future__ import annotations

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.api import trace_lists
from brokerweb.api.paging import links, whole
from brokerweb.api.tables import PAGED_AS_JSON, a_table
from brokerweb.experiments.models import Run
from brokerweb.kit.tables import JSON, Table, checked, written
from brokerweb.kit.tables import download as taken_away
from brokerweb.networks.models import Network
from brokerweb.runpage import tables
from brokerweb.systems.context_broker.queries import of_networks, of_runs, shapes
from brokerweb.systems.registry import trace_filters
from overlay.core.errors import InvalidSetting
from overlay.systems.context_broker.system import SYSTEM
from telemetry.systems.context_broker.tracefile import ORDERS
from telemetry.systems.context_broker.traces import OUTCOMES

COLUMNS = ("id", "entity", "timestamp_ms", "outcome", "ms", "hops", "messages", "asked", "replicas", "partial")
ALL = 1 << 40
"""Exceeds the number stored for any run."""


class RunTraces(GenericViewSet):
    """Traced queries of a run."""

    queryset = Run.objects.select_related("experiment")
    serializer_class = shapes.TraceSerializer

    @extend_schema(
        parameters=[
            OpenApiParameter("outcome", str, description=f"Comma-separated list of {', '.join(OUTCOMES)}"),
            OpenApiParameter("order", str, enum=list(ORDERS), description="Default: slowest first"),
            OpenApiParameter("show", str, description="Of a system without queries: which of its rows"),
            *(
                OpenApiParameter(name, str, description="Of a system without queries that has such a column: its value")
                for name in trace_filters()
                if name != "outcome"  # queries have it, too
            ),
            PAGED_AS_JSON,
            OpenApiParameter("page", int),
            OpenApiParameter("page_size", int, description="Maximum 1,000"),
        ],
        responses=a_table(shapes.TraceListSerializer),
        filters=False,
    )
    @action(detail=True)
    def traces(self, request: Request, pk: str) -> HttpResponseBase:
        """Traced queries: one in so many, and all failed ones. Runs of a system without queries have rows of its own,
        filtered by ``show`` and their columns and not by ``outcome`` and ``order``."""
        run = self.get_object()
        if run.system != SYSTEM.name:
            return trace_lists.listed(request, run)
        outcomes = [one for one in request.query_params.get("outcome", "").split(",") if one]
        order = request.query_params.get("order", "slowest")
        if wrong := [one for one in outcomes if one not in OUTCOMES]:
            raise InvalidSetting("outcome", f"must be one or more of {', '.join(OUTCOMES)}, not {wrong[0]!r:.40}")
        if order not in ORDERS:
            raise InvalidSetting("order", f"must be one of {', '.join(ORDERS)}, not {order!r:.40}")
        if (form := checked(request.query_params.get("format", JSON))) != JSON:
            return taken_away(written(_table(run, outcomes, order), form), form, tables.named("queries", run))
        page, size = whole(request, "page", 1, 1, 10**6), whole(request, "page_size", 100, 1, 1_000)
        found = of_runs.listing(run, outcomes, order, (page - 1) * size, size)
        query = {"outcome": ",".join(outcomes), "order": order, "page_size": size}
        page_links = links(request, query, page, -(-found.count // size))
        kept = {"traced_one_in": of_runs.traced_one_in(run), "kept_one_in": found.kept_one_in}
        return Response({"count": found.count, **page_links, **kept, "results": found.rows})

    @extend_schema(operation_id="runs_trace_retrieve", responses=shapes.TraceSerializer, filters=False)
    @action(detail=True, url_path="traces/(?P<trace>[0-9a-f]{16})")
    def trace(self, request: Request, pk: str, trace: str) -> Response:
        """One query in full: steps of each broker, messages between brokers, and the consumer's view."""
        run = self.get_object()
        found = of_runs.find(run, trace) if run.system == SYSTEM.name else None
        if found is None:
            raise NotFound("This run has no trace with this id.")
        return Response(found)


class NetworkWalks(GenericViewSet):
    """Traced queries of a network."""

    queryset = Network.objects.all()
    network_in = "pk"
    serializer_class = shapes.TraceSerializer

    @extend_schema(operation_id="networks_walk_retrieve", responses=shapes.TraceSerializer, filters=False)
    @action(detail=True, url_path="walks/(?P<trace>[0-9a-f]{16})")
    def walk(self, request: Request, pk: str, trace: str) -> Response:
        """The walk of a traced query. Brokers report once a second: 404 until then, and once it is too old."""
        found = of_networks.find(self.get_object(), trace)
        if found is None:
            raise NotFound("No broker of this network reported this query.")
        return Response(found)


def _table(run: Run, outcomes: list[str], order: str) -> Table:
    """One row per stored query with these outcomes, in this order."""
    rows = of_runs.listing(run, outcomes, order, 0, ALL).rows
    return Table(COLUMNS, [[row[name] for name in COLUMNS] for row in rows])
