"""REST endpoints of a network's context: their description, and the way through Django for requests that
``brokerweb.front`` passes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from django.db import close_old_connections, connection
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from brokerweb.accounts.rights import Operation
from brokerweb.api.parameters import refusal
from brokerweb.front import event_loop
from brokerweb.front.application import answered
from brokerweb.front.batch import operations_of
from brokerweb.front.budgets import count_in_thread
from brokerweb.front.principals import who_is
from brokerweb.front.refusals import RecordsRefusals
from brokerweb.front.service import (
    BATCH,
    HEADERS,
    LIST,
    ONE,
    STREAM,
    ContextRequest,
    context_of,
    known_parameters,
    selection_of,
)
from brokerweb.kit.errors import NotPossible
from brokerweb.networks.snapshot import NetworkSnapshot, read_snapshot, snapshot_or_404
from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import LIST as LISTED
from brokerweb.operationlog.entries import REST
from brokerweb.operationlog.entries import STREAM as STREAMED
from brokerweb.systems.context_broker.context import shapes
from brokerweb.systems.context_broker.context.answers import brokers_of
from brokerweb.systems.contract import Key
from overlay.core.errors import InvalidSetting

KEY = [
    OpenApiParameter(name, str, OpenApiParameter.PATH, description="Percent-encoded, a slash as %2F")
    for name in ("type", "entity", "scope")
]
WHOM = [OpenApiParameter("broker", int, description="Index of the broker to query; default: any running broker")]
DRY = OpenApiParameter(
    "dry",
    bool,
    description="Trace the query, and leave the choice of brokers, its averages and the operation log as they are. "
    "Brokers serve it as any other one",
)
TRACED = OpenApiParameter(
    "trace", bool, description="Trace the query at every broker; `walk` in the response is the URL of its walk"
)
PROVIDER = OpenApiParameter("provider", str, description="Whose data; needed if several providers have some")
SELECTED = [
    OpenApiParameter("type", str, description="Only entities of this type"),
    OpenApiParameter("id_pattern", str, description="Only entities whose id matches: `*`, `?` and `[a-c]`"),
    OpenApiParameter("scope", str, description="Only this scope"),
    OpenApiParameter("provider", str, description="Only data of this provider"),
    OpenApiParameter("attribute", str, description="Only payloads with these fields, comma-separated"),
    OpenApiParameter("max_age_s", float, description="Only data that were sent within so many seconds"),
    OpenApiParameter("q", str, description="A filter over the fields of payloads: `degC > 21 and room = r1`"),
    OpenApiParameter("near", str, description="Latitude and longitude in degrees; with `within_km`"),
    OpenApiParameter("within_km", float, description="Only payloads whose `lat` and `lon` are so near"),
]
PAGED = [
    OpenApiParameter("cursor", str, description="From `next`; empty for the first page"),
    OpenApiParameter("page_size", int, description="Entries of a page, 100 by default, at most 500"),
    OpenApiParameter("fields", str, description="Only these fields of entries, comma-separated"),
]


def _header(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, description=description)


PREFER = _header("Prefer", "`wait=N`: wait up to N seconds, at most 60, until there is data")
IF_NONE_MATCH = _header("If-None-Match", "Tags of `ETag`, or `*`: status 304 for `GET`, 412 for `PUT`, if one matches")
IF_MATCH = _header("If-Match", "Tags, or `*`: status 412 if the stored value has none of them")
IF_UNMODIFIED = _header("If-Unmodified-Since", "Status 412 if the stored value is later")
ONCE = _header("Idempotency-Key", "Up to 255 characters; a request sent again gets the answer of the first")
WAITS = frozenset({"prefer"})
"""Left out here: a request that waits would keep a thread."""
SUBSCRIBED = OpenApiParameter(
    "subscription", str, description="Of systems with subscriptions, in place of the filters: ids, comma-separated"
)
RESUMED = [
    OpenApiParameter("last_event_id", str, description="As `Last-Event-ID`, for clients that cannot send headers"),
    OpenApiParameter("snapshot", bool, description="Begin with what is selected now, as events `snapshot`"),
    _header("Last-Event-ID", "Continue behind this event"),
]
SEGMENTS = "/api/networks/ID/context/TYPE/ENTITY/SCOPE/".count("/") + 1
ETAG = OpenApiParameter("ETag", str, OpenApiParameter.HEADER, response=[200], description="Of the stored value")


class ContextView(RecordsRefusals):
    """Context of one entity and scope, through any broker of a running network."""

    network_in = "pk"
    operations = {"put": Operation.PROVIDE, "delete": Operation.PROVIDE}

    @extend_schema(
        parameters=[*KEY, *WHOM, TRACED, DRY, PREFER, IF_NONE_MATCH, ETAG],
        responses={200: shapes.ContextSerializer, 304: OpenApiResponse(description="The tag still matches")},
    )
    def get(self, request: Request, pk: str, **decoded: str) -> HttpResponse:
        """Query context. 404 if no broker has valid data, 504 if no broker answered in time.

        Names are percent-encoded, a slash as `%2F`.
        """
        return _answer(request, snapshot_or_404(pk), ONE, _key(request))

    @extend_schema(
        parameters=[*KEY, *WHOM, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED, ONCE, ETAG],
        request=shapes.ContextBody,
        responses=shapes.ProvidedSerializer,
    )
    def put(self, request: Request, pk: str, **decoded: str) -> HttpResponse:
        """Store context. Names are percent-encoded, a slash as `%2F`."""
        return _answer(request, snapshot_or_404(pk), ONE, _key(request))

    @extend_schema(
        parameters=[*KEY, PROVIDER, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED, ONCE],
        responses={200: shapes.DeletedSerializer},
    )
    def delete(self, request: Request, pk: str, **decoded: str) -> HttpResponse:
        """Delete what a provider stored: no broker serves it any more, nor older data of this provider that arrive
        later. 404 if there is nothing, 504 if no broker has confirmed.
        """
        return _answer(request, snapshot_or_404(pk), ONE, _key(request))


class SlashedContextView(ContextView):
    """The same for names with slashes, whose decoded URL has more segments than names."""

    schema = None


class ContextBatchView(RecordsRefusals):
    """Many operations on the context of one network."""

    keeps_answers = True  # the service does, without a transaction that would last as long as brokers take
    network_in = "pk"
    operations = {"post": Operation.PROVIDE}

    @extend_schema(parameters=[ONCE], request=shapes.BatchBody, responses=shapes.BatchSerializer)
    def post(self, request: Request, pk: str) -> HttpResponse:
        """Store, query and delete context, up to 1,000 operations, each with its own status in the response.

        With `atomic`, all operations are checked before any is sent; one that cannot be read fails the batch with
        status 400, and nothing is stored. They are sent in their order. If a broker does not accept one, the batch ends
        with the status of this operation; those before it stay carried out, and those after it have status 424.
        """
        return _answer(request, snapshot_or_404(pk), BATCH)


class ContextListView(RecordsRefusals):
    """All context of one network."""

    op = LISTED

    network_in = "pk"

    @extend_schema(
        operation_id="networks_context_list",
        parameters=[*SELECTED, *PAGED],
        responses=shapes.ContextPage,
    )
    def get(self, request: Request, pk: str) -> HttpResponse:
        """List what all brokers of the network hold, each provider's latest value once.

        The answer comes from a view that the web process keeps of the network while it is used; `complete` and
        `missing` say which brokers it lacks.
        """
        return _answer(request, snapshot_or_404(pk), LIST)


class StreamView(RecordsRefusals):
    """The changes of the context of one network."""

    op = STREAMED

    network_in = "pk"
    checks_parameters = True

    @extend_schema(
        operation_id="networks_stream",
        parameters=[*SELECTED, SUBSCRIBED, *RESUMED],
        responses={(200, "text/event-stream"): OpenApiTypes.STR},
    )
    def get(self, request: Request, pk: str) -> HttpResponse:
        """Server-sent events of what changes, under the filters of the list: `stored`, `withdrawn`, `expired`,
        `dropped` and `left` (it is no longer selected), each with an `id`. `/ws/networks/{id}/stream/` has the same.

        The stream begins with `ready`. With `Last-Event-ID` it begins behind that event; `reset` says that some in
        between are no longer known: list again, or ask for a `snapshot`.

        Of federated brokers, SilboPS and ContextNet: events `notification` and `ended` of subscriptions, which exist.
        """
        if refused := refusal(request._request, _parameters(pk)):
            return refused
        snapshot = snapshot_or_404(pk)
        with recording.noted(pk, who_is(request.user, request.auth), REST, STREAMED, ()):
            context = context_of(snapshot, "stream")
            brokers_of(snapshot, None)
            selection_of(context, request.query_params.dict())
            raise NotPossible("This stream cannot begin now. Try again in a second.")


def _parameters(pk: str) -> Iterable[str]:
    """Those of the stream of this network; without a stream, those of the document."""
    snapshot = read_snapshot(pk)
    own = None if snapshot is None else known_parameters(snapshot.system, STREAM, "GET")
    described = (*SELECTED, SUBSCRIBED, *RESUMED)
    return own or [one.name for one in described if one.location == OpenApiParameter.QUERY]


def _answer(request: Request, snapshot: NetworkSnapshot, kind: str, key: Key | None = None) -> HttpResponse:
    """That of the service, which also answers what did not come through Django."""
    is_read = request.method in ("GET", "HEAD")
    raw = b"" if is_read else request._request.body
    has_body = request.method in ("PUT", "POST")
    who = who_is(request.user, request.auth)
    if kind == BATCH:
        count_in_thread(who, max(1, operations_of(request.data)))
    asked = ContextRequest(
        method="GET" if is_read else str(request.method),
        snapshot=snapshot,
        who=who,
        account=str(request.user.pk),
        kind=kind,
        key=key,
        parameters=request.query_params.dict(),
        headers={name: value for name in HEADERS - WAITS if (value := request.headers.get(name)) is not None},
        data=request.data if has_body else None,
        raw=raw,
        here=request.build_absolute_uri(request.path),
    )
    if not connection.in_atomic_block:
        close_old_connections()  # of this thread, which waits for brokers now
    reply = event_loop.run(answered(asked))
    return HttpResponse(reply.body, "application/json", reply.status, headers=dict(reply.headers))


def _key(request: Request) -> Key:
    """Type, entity and scope from the raw URL. Raises ``NotFound`` and ``InvalidSetting``.

    Django decodes URLs, so that an encoded slash looks like a separator.
    """
    scope: Mapping[str, Any] = getattr(request._request, "scope", {})
    raw = (scope.get("raw_path") or quote(request.path).encode()).split(b"/")
    if len(raw) != SEGMENTS or raw[4] != b"context" or raw[-1]:
        raise NotFound("The URL must end in context/TYPE/ENTITY/SCOPE/; encode slashes in names as %2F.")
    try:
        type, entity, scope_name = (unquote_to_bytes(part).decode() for part in raw[-4:-1])
    except UnicodeDecodeError as error:
        raise InvalidSetting("entity", f"must be UTF-8, percent-encoded: {error.reason}") from None
    return type, entity, scope_name
