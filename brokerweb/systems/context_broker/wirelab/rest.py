"""REST endpoints of the wire lab: decode, compose, send, and recorded messages."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, Throttled
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from brokerweb.experiments.models import Run
from brokerweb.kit.streams import download
from brokerweb.systems.context_broker.wirelab import recorded
from brokerweb.systems.context_broker.wirelab import shapes as shapes
from brokerweb.systems.context_broker.wirelab.lab import LAB
from brokerweb.wirelab import pasted, sending, services
from brokerweb.wirelab.recorded import capture_name, whole
from overlay.core.addresses import format_address
from overlay.core.errors import InvalidSetting
from telemetry.lake import pcapng

_CHOICE = [
    OpenApiParameter("from_us", int, description="Microseconds since the launch; default: the beginning"),
    OpenApiParameter("to_us", int, description="End of the range, exclusive; default: the end"),
    OpenApiParameter("query", str, description="Id of one query, as in traces"),
    OpenApiParameter("code", int, description="Message code; -1 for unreadable messages"),
    OpenApiParameter("broker", int, description="Index of the sender or the receiver"),
]
MOST_ROWS = 1_000
FIELD_NAMES = tuple(shapes.WireFieldSerializer().get_fields())
ROW_NAMES = tuple(shapes.RecordedRowSerializer().get_fields())


def _body(shape: type[Serializer], request: Request) -> dict[str, Any]:
    body = shape(data=request.data)
    body.is_valid(raise_exception=True)
    return body.validated_data


def _told(found: services.Decoded, read_as: str = "") -> dict[str, Any]:
    """A decoded datagram as JSON."""
    fields = [services.field_row(at, one, found.data) for at, one in enumerate(found.dissection.fields)]
    verdict = found.verdict
    return {
        "bytes": len(found.data),
        "hex": found.hex,
        "text": found.text,
        "read_as": read_as,
        "code": found.layout.code if found.layout else None,
        "name": found.name,
        "fields": [{name: row[name] for name in FIELD_NAMES} for row in fields],
        "missing": list(found.dissection.missing),
        "problems": list(found.dissection.problems),
        "verdict": {
            "judgement": verdict.judgement.value,
            "sentence": verdict.sentence,
            "status": verdict.status,
            "answers": found.answers,
            "needs": verdict.needs,
        },
    }


class DecodeView(APIView):
    permission_classes = [IsAuthenticated]  # read-only, but a datagram may be too long for a URL

    @extend_schema(operation_id="wire_decode", request=shapes.DecodeBody, responses=shapes.DecodedSerializer)
    def post(self, request: Request) -> Response:
        """Decode a datagram: fields with offsets, and a broker's verdict."""
        body = _body(shapes.DecodeBody, request)
        data, form = pasted.read(body["text"], body["form"])
        return Response(_told(services.decoded(LAB, data), form))


class ComposeView(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="wire_compose", request=shapes.ComposeBody, responses=shapes.DecodedSerializer)
    def post(self, request: Request) -> Response:
        """Compose a datagram from fields, valid or not, and decode it."""
        body = _body(shapes.ComposeBody, request)
        data = LAB.compose(body["code"], body.get("fields", {}), services.now_ms())
        return Response(_told(services.decoded(LAB, data)))


class SendView(APIView):
    @extend_schema(operation_id="wire_send", request=shapes.SendBody, responses=shapes.SentSerializer)
    def post(self, request: Request) -> Response:
        """Send a datagram once to a broker of this installation; returns the answers of 2 s.

        Some messages change the network's state. At most 20 datagrams in 10 s per account; 429 above that.
        """
        body = _body(shapes.SendBody, request)
        chosen = [kind for kind in (sending.NETWORK, sending.RUN) if body.get(kind)]
        if len(chosen) != 1:
            raise InvalidSetting("network", "give either a network or a run")
        data, _ = pasted.read(body["hex"], pasted.HEX)
        try:
            heard = services.send(LAB, chosen[0], body[chosen[0]], body["broker"], data, int(request.user.pk or 0))
        except sending.TooFast as error:
            raise Throttled(sending.WINDOW_S, str(error)) from None
        answers = [{**_told(one["decoded"]), "after_us": one["after_us"]} for one in heard["answers"]]
        address = format_address(heard["sent"].address)
        told = {"broker": heard["sent"].broker, "address": address, "sentence": heard["sentence"], "answers": answers}
        return Response(told)


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
        return Response({**_told(services.decoded(LAB, data)), **{name: row[name] for name in names}})


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
