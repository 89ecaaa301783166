"""REST endpoints of the wire lab: recorded messages, and the first addresses of decode, compose and send."""

from __future__ import annotations

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.api import wire_views
from brokerweb.api.wire_views import told
from brokerweb.experiments.models import Run
from brokerweb.kit.streams import download
from brokerweb.systems.context_broker.wirelab import recorded
from brokerweb.systems.context_broker.wirelab import shapes as shapes
from brokerweb.systems.context_broker.wirelab.lab import LAB
from brokerweb.wirelab import services
from brokerweb.wirelab.recorded import capture_name, whole
from telemetry.lake import pcapng

_CHOICE = [
    OpenApiParameter("from_us", int, description="Microseconds since the launch; default: the beginning"),
    OpenApiParameter("to_us", int, description="End of the range, exclusive; default: the end"),
    OpenApiParameter("query", str, description="Id of one query, as in traces"),
    OpenApiParameter("code", int, description="Message code; -1 for unreadable messages"),
    OpenApiParameter("broker", int, description="Index of the sender or the receiver"),
]
MOST_ROWS = 1_000
ROW_NAMES = tuple(shapes.RecordedRowSerializer().get_fields())


@extend_schema_view(post=extend_schema(operation_id="wire_decode"))
class DecodeView(wire_views.DecodeView):
    """As below ``/api/systems/``, at the first address that this had."""


@extend_schema_view(post=extend_schema(operation_id="wire_compose"))
class ComposeView(wire_views.ComposeView):
    pass


@extend_schema_view(post=extend_schema(operation_id="wire_send"))
class SendView(wire_views.SendView):
    pass


class RecordedView(APIView):
    @extend_schema(
        operation_id="runs_datagrams_list",
        parameters=[
            *_CHOICE,
            OpenApiParameter("page", int),
            OpenApiParameter("page_size", int, description=f"At most {MOST_ROWS:,}"),
        ],
        responses=shapes.RecordedPageSerializer,
    )
    def get(self, request: Request, pk: str) -> Response:
        """Messages of a recorded run, optionally by code and broker, with their numbers."""
        run = _recorded(pk)
        asked = request.query_params.dict()
        number = whole("page", asked.get("page") or "1", 1, 10**6)
        size = whole("page_size", asked.get("page_size") or "100", 1, MOST_ROWS)
        page = recorded.page(run, recorded.choice_of(asked), number, size)
        rows = [{name: row[name] for name in ROW_NAMES} for row in page.rows]
        return Response({"count": page.count, "page": page.number, "pages": page.pages, "results": rows})


class RecordedMessageView(APIView):
    @extend_schema(operation_id="runs_datagrams_retrieve", responses=shapes.RecordedMessageSerializer)
    def get(self, request: Request, pk: str, number: int) -> Response:
        """One message of a recorded run, decoded."""
        found = recorded.message(_recorded(pk), number)
        if found is None:
            raise NotFound("This run has no message with this number.")
        row, data = found
        names = ("number", "at_us", "arrived_us", "sender", "receiver", "lost", "query")
        return Response({**told(services.decoded(LAB, data)), **{name: row[name] for name in names}})


class CaptureView(APIView):
    @extend_schema(
        operation_id="runs_capture", parameters=_CHOICE, responses={(200, pcapng.MEDIA_TYPE): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, pk: str) -> HttpResponseBase:
        """Messages of a recorded run as pcapng, for Wireshark."""
        run = _recorded(pk)
        pieces = recorded.capture(run, recorded.choice_of(request.query_params.dict()))
        return download(request, pieces, capture_name(run), pcapng.MEDIA_TYPE)


def _recorded(pk: str) -> Run:
    run = get_object_or_404(Run.objects.only("id", "engine"), pk=pk)
    if not recorded.is_there(run):
        raise NotFound("This run has no messages. They are available for collected runs with record_mb above 0.")
    return run
