"""Messages of recorded runs, of every system that declares a wire lab: a list, one of them, and captures."""

from __future__ import annotations

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.api.shapes import wire as shapes
from brokerweb.api.wire_views import told
from brokerweb.experiments.models import Run
from brokerweb.kit.streams import download
from brokerweb.wirelab import services
from brokerweb.wirelab.lab import Lab
from brokerweb.wirelab.labs import lab_of, messages_of, with_labs
from brokerweb.wirelab.recorded import capture_name, choice_of, whole
from brokerweb.wirelab.run_messages import RunMessages
from overlay.core.errors import InvalidSetting
from telemetry.lake import pcapng
from telemetry.lake.datagrams import Choice

_CHOICE = [
    OpenApiParameter("from_us", int, description="Microseconds since the launch; default: the beginning"),
    OpenApiParameter("to_us", int, description="End of the range, exclusive; default: the end"),
    OpenApiParameter("query", str, description="Id of one query, as in traces; only of systems that have queries"),
    OpenApiParameter("code", int, description="Message code; -1 for unreadable messages"),
    OpenApiParameter("broker", int, description="Index of the sender or the receiver"),
]
MOST_ROWS = 1_000
ROW_NAMES = tuple(shapes.RecordedRowSerializer().get_fields())
OWN_NAMES = tuple(name for name in shapes.RecordedMessageSerializer().get_fields() if name in ROW_NAMES)
"""Of a message, next to what its bytes tell."""


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
        """Messages of a recorded run, optionally by code, server and time, with their numbers."""
        run, _, messages = _recorded(pk)
        asked = request.query_params.dict()
        number = whole("page", asked.get("page") or "1", 1, 10**6)
        size = whole("page_size", asked.get("page_size") or "100", 1, MOST_ROWS)
        page = messages.listed(run, _choice(run, messages, asked), number, size)
        rows = [{name: row[name] for name in ROW_NAMES} for row in page.rows]
        of = {"count": page.count, "page": page.number, "pages": page.pages, "is_cut": page.is_cut}
        return Response({**of, "results": rows})


class RecordedMessageView(APIView):
    @extend_schema(operation_id="runs_datagrams_retrieve", responses=shapes.RecordedMessageSerializer)
    def get(self, request: Request, pk: str, number: int) -> Response:
        """One message of a recorded run, decoded."""
        run, lab, messages = _recorded(pk)
        found = messages.one(run, number)
        if found is None:
            raise NotFound("This run lists no message with this number.")
        return Response(
            {**told(services.decoded(lab, found.data)), **{name: found.row[name] for name in OWN_NAMES}},
        )


class CaptureView(APIView):
    @extend_schema(
        operation_id="runs_capture", parameters=_CHOICE, responses={(200, pcapng.MEDIA_TYPE): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, pk: str) -> HttpResponseBase:
        """Messages of a recorded run as pcapng, for Wireshark."""
        run, _, messages = _recorded(pk)
        pieces = messages.capture(run, _choice(run, messages, request.query_params.dict()))
        return download(request, pieces, capture_name(run), pcapng.MEDIA_TYPE)


def _recorded(pk: str) -> tuple[Run, Lab, RunMessages]:
    """Raises ``NotFound`` for a run whose system has no wire lab, and for one without messages, with the reason."""
    run = get_object_or_404(Run.objects.only("id", "engine", "system", "files_removed"), pk=pk)
    lab = lab_of(run.system)
    if lab is None:
        raise NotFound(f"This run is of {run.system!r:.40}; systems with a wire lab: {', '.join(with_labs())}.")
    messages = messages_of(lab)
    if missing := messages.missing(run):
        raise NotFound(missing)
    return run, lab, messages


def _choice(run: Run, messages: RunMessages, asked: dict[str, str]) -> Choice:
    choice = choice_of(asked)
    if choice.query is not None and not messages.has_queries:
        raise InvalidSetting("query", f"cannot be chosen: messages of {run.system} belong to no queries")
    return choice
