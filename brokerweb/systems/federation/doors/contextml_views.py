"""The same in ContextML: POST advertise, subscribe, publish and query, and GET lookup."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO, Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from brokerweb.accounts.rights import Operation
from brokerweb.api.errors import TooLarge
from brokerweb.hosting.views import Caller
from brokerweb.kit.error_body import wants_problem
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.moments import now_ms
from brokerweb.systems.federation.doors import documents, rows, service
from brokerweb.systems.federation.doors.problems import CODE_OF_STATUS
from brokerweb.systems.federation.doors.views import OfFederation, scope_of
from brokerweb.systems.federation.models import ClientRole, Format
from overlay.core.errors import InvalidSetting
from overlay.systems.federation.contextml.documents import Document, Response, read_document, write_document
from overlay.systems.federation.contextml.elements import Announcement, Flag
from overlay.systems.federation.contextml.xml import MAX_BYTES, InvalidContextML
from overlay.systems.federation.wire.messages import Code
from overlay.systems.federation.wire.values import Advertisement, Role

XML = "application/xml"
QUERY_MS = 5_000, 10_000
"""By default, and at most."""
FIELDS = {
    "subscriptions": "ctxSubscrs",
    "removed": "ctxUnsubscr",
    "announcements": "ctxAdvs",
    "notifications": "ctxEls",
    "queries": "ctxQuery",
    "responses": "ctxResp",
}
"""The elements of a document, by the field with what they contain."""
MOST_WORDS = 1_000


class ContextMLParser(BaseParser):
    media_type = XML

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        """Raises ``TooLarge`` and ``ParseError``."""
        data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise TooLarge(f"The document has more than {MAX_BYTES:,} bytes.")
        try:
            return read_document(data)
        except InvalidContextML as error:
            raise ParseError(str(error)) from None


class TextXMLParser(ContextMLParser):
    media_type = "text/xml"


def described(name: str, *, answers: int = 202, **more: Any) -> Callable[..., Any]:
    """Of an operation with a document as its body."""
    request = None if answers == 200 and "parameters" in more else {XML: OpenApiTypes.STR}
    responses = {(answers, XML): OpenApiTypes.STR}
    described_by: Callable[..., Any] = extend_schema(
        operation_id=f"networks_contextml_{name}", request=request, responses=responses, **more
    )
    return described_by


class ContextMLView(OfFederation):
    error_media_types = (XML,)
    answers = 0
    """The id of the query that the answer is for."""
    parser_classes = [ContextMLParser, TextXMLParser]

    def document(self, request: Request, *fields: str) -> Document:
        """The body, which has one of these at least, and nothing else. Raises ``ParseError``."""
        names = " or ".join(FIELDS[field] for field in fields)
        found: Any = request.data
        if not isinstance(found, Document) or not any(getattr(found, field) for field in fields):
            raise ParseError(f"Invalid ContextML: the document has no {names}.")
        for field, name in FIELDS.items():
            if field not in fields and getattr(found, field):
                raise ParseError(f"Invalid ContextML: the document has {name}; here it has {names} only.")
        return found

    def handle_exception(self, exc: Exception) -> Any:
        """As ContextML, unless problem details are wanted."""
        refused = super().handle_exception(exc)
        if wants_problem(self.request.headers.get("Accept", "")):
            return refused
        words = refused.data["sentence"]
        if isinstance(exc, UnsupportedMediaType):
            words = f"Send Content-Type: {XML}."
        code = getattr(exc, "answered", None) or CODE_OF_STATUS.get(refused.status_code, Code.BAD)
        response = answer(Document(responses=(Response(self.answers, code, plain(words)),)), refused.status_code)
        for name in ("WWW-Authenticate", "Allow", "Retry-After"):
            if name in refused.headers:
                response[name] = refused.headers[name]
        return response


class AdvertiseView(ContextMLView):
    operations = {"post": Operation.PROVIDE}

    @described("advertise")
    def post(self, request: Request, pk: str) -> HttpResponse:
        """Register, keep or unregister clients, by the `flag` of each `ctxAdv`. 202 once a broker has acknowledged, 404
        for a client that this account has not registered.

        A registration is kept until it is ended, also over restarts. The `url` of a consumer is sent notifications by
        POST; that of a provider is asked by GET with `entity`, `type` and `scope`.
        """
        caller, document = self.caller(request, pk), self.document(request, "announcements")
        for one in document.announcements:
            _advertise(caller, one)
        return acknowledged()


class SubscribeView(ContextMLView):
    operations = {"post": Operation.PROVIDE}

    @described("subscribe")
    def post(self, request: Request, pk: str) -> HttpResponse:
        """Add (`ctxSubscrs`) and remove (`ctxUnsubscr`) subscriptions of one consumer that this account has registered.
        202 once its broker has acknowledged all, 404 if it is not registered.

        A subscription that is sent again with equal content gets another expiry; with other content 409.
        """
        caller, document = self.caller(request, pk), self.document(request, "subscriptions", "removed")
        added = [(one.id, documents.wanted(one)) for one in document.subscriptions]
        consumer = _only_one({sid.client for sid in (*document.removed, *(sid for sid, _ in added))})
        of = rows.client(caller.network, caller.user, consumer, ClientRole.CONSUMER)
        now = now_ms()
        for _, wanted in added:
            documents.check_expiry(wanted.expires, now)
        if added:
            asked = [(sid.number, wanted) for sid, wanted in added]
            service.subscribe(caller, asked, client=consumer, format=Format.CONTEXTML)
        if document.removed:
            gone = rows.named(of, (sid.number for sid in document.removed))
            service.unsubscribe(of.pk, [row.pk for row in gone])
        return acknowledged()


class PublishView(ContextMLView):
    operations = {"post": Operation.PROVIDE}

    @described("publish")
    def post(self, request: Request, pk: str) -> HttpResponse:
        """Publish `ctxEls` of providers that this account has registered. 202 once their brokers have accepted all, 404
        if one is not registered.
        """
        caller, document = self.caller(request, pk), self.document(request, "notifications")
        now, contents = now_ms(), []
        for one in document.notifications:
            if one.id.number:
                raise ParseError("Invalid ContextML: ctxEl has a number n, which is given here.")
            rows.client(caller.network, caller.user, one.id.provider, ClientRole.PROVIDER)
            contents.append((one.id.provider, documents.content_in(one, now)))
        for provider, content in contents:
            service.publish(caller, provider, content)
        return acknowledged()


class QueryView(ContextMLView):
    op = "get"
    operations = {"post": Operation.READ}

    @described("query", answers=200)
    def post(self, request: Request, pk: str) -> HttpResponse:
        """Query context with one `ctxQuery`; `ms` is its deadline. The answer is a `ctxResp` with its `ctxEl`. 404 if
        there is no provider, 504 without an answer in time.
        """
        caller, document = self.caller(request, pk), self.document(request, "queries")
        if len(document.queries) > 1:
            raise ParseError("Invalid ContextML: the document has more than one ctxQuery.")
        (asked,) = document.queries
        self.answers = asked.req
        default, most = QUERY_MS
        within_s = min(asked.left_ms or default, most) / 1_000
        found = service.query(caller, asked.scopes, asked.entity_type, asked.entity_id, within_s)
        return answer(Document(responses=(Response(asked.req, notifications=found),)))


class LookupView(ContextMLView):
    op = "list"

    @described("lookup", answers=200, parameters=[OpenApiParameter("scope", str, required=True)])
    def get(self, request: Request, pk: str) -> HttpResponse:
        """The providers of a scope as `ctxAdvs`, at most 64."""
        scope = scope_of(request)
        found = service.lookup(self.caller(request, pk), scope)
        advertised = (Advertisement(one.id, 0, Role.PROVIDER, one.url, (scope,)) for one in found)
        return answer(Document(announcements=tuple(map(Announcement, advertised))))


def _advertise(caller: Caller, one: Announcement) -> None:
    me = one.advertisement
    if one.flag is Flag.REGISTER:
        service.advertise(caller, me)
    elif one.flag is Flag.KEEP_ALIVE:
        service.keep_alive(caller, me.id)
    else:
        service.unregister(caller, me.id)


def _only_one(consumers: Iterable[str]) -> str:
    found = sorted(consumers)
    if len(found) > 1:
        raise InvalidSetting("ctxSubscr", f"all are of one consumer, not of {found[0]} and {found[1]}")
    return found[0]


def acknowledged() -> HttpResponse:
    return answer(Document(responses=(Response(0),)), 202)


def answer(document: Document, status: int = 200) -> HttpResponse:
    """Raises ``NotPossible`` for what XML cannot carry."""
    try:
        return HttpResponse(write_document(document), XML, status)
    except InvalidContextML as error:
        raise NotPossible(f"The answer cannot be written as ContextML: {error.sentence}. Ask for it as JSON.") from None


def plain(words: str) -> str:
    """Without characters that XML does not have."""
    return "".join(one if one.isprintable() else "?" for one in words)[:MOST_WORDS]
