"""REST endpoint of the messages of a recorded run."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.api.paging import links, whole
from brokerweb.experiments.models import Run
from brokerweb.retention.services import removed_sentence
from brokerweb.systems.context_broker.replay import recorded, shapes

MOST_US = 10**11
"""Maximum time within a run: somewhat more than a day."""


class RunMessages(GenericViewSet):
    """Messages of a run."""

    queryset = Run.objects.all()
    serializer_class = shapes.MessageListSerializer

    @extend_schema(
        parameters=[
            OpenApiParameter("from_us", int, description="Microseconds since the launch; default: the beginning"),
            OpenApiParameter("to_us", int, description="End of the range, exclusive; default: the end"),
            OpenApiParameter("query", str, description="Id of one query, as in traces"),
            OpenApiParameter("page", int),
            OpenApiParameter("page_size", int, description="Maximum 10,000"),
        ],
        responses=shapes.MessageListSerializer,
        filters=False,
    )
    @action(detail=True)
    def messages(self, request: Request, pk: str) -> Response:
        """Messages of a recorded run in send order."""
        run = self.get_object()
        if not recorded.path_of(run).is_file():
            missing = "This run has no messages. They are available for collected runs with record_mb above 0."
            raise NotFound(removed_sentence(run) or missing)
        page, size = whole(request, "page", 1, 1, 10**6), whole(request, "page_size", 1_000, 1, 10_000)
        begin, end = whole(request, "from_us", 0, 0, MOST_US), whole(request, "to_us", MOST_US, 0, MOST_US)
        query = request.query_params.get("query") or None
        count, rows = recorded.page(run, begin, end, query, (page - 1) * size, size)
        asked = {"from_us": begin, "to_us": end, "query": query or "", "page_size": size}
        return Response({"count": count, **links(request, asked, page, -(-count // size)), "results": rows})
