"""REST endpoint of the data that brokers held at the end of a run."""

from __future__ import annotations

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.api.paging import links, whole
from brokerweb.experiments.models import Run
from brokerweb.retention.services import removed_sentence
from brokerweb.systems.context_broker.copies import shapes
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker import holdings


class RunHoldings(GenericViewSet):
    """Data copies by entity."""

    queryset = Run.objects.all()
    serializer_class = shapes.HoldingListSerializer

    @extend_schema(
        parameters=[OpenApiParameter("page", int), OpenApiParameter("page_size", int, description="Maximum 10,000")],
        responses=shapes.HoldingListSerializer,
        filters=False,
    )
    @action(detail=True)
    def holdings(self, request: Request, pk: str) -> Response:
        """Query count and number of holding brokers by entity, most queried first."""
        run = self.get_object()
        page, size = whole(request, "page", 1, 1, 10**9), whole(request, "page_size", 1_000, 1, 10_000)
        path = RunFiles(settings.RUNS / run.pk).holdings_path
        if not path.is_file():
            raise NotFound(removed_sentence(run) or "This run has no holdings. They exist once it is collected.")
        total, rows = holdings.read(path, (page - 1) * size, size)
        page_links = links(request, {"page_size": size}, page, -(-total // size))
        return Response({"count": total, **page_links, **(run.summary.get("holdings") or {}), "results": rows})
