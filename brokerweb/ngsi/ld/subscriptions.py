"""``subscriptions``: bodies, rules and notifications (clauses 5.2.12, 5.3.1 and 5.8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from brokerweb.kit.ids import new_id
from brokerweb.ngsi.answers import JSON, LD_JSON, Answer, nothing
from brokerweb.ngsi.ld import listing
from brokerweb.ngsi.ld.asked import answered, object_of
from brokerweb.ngsi.ld.batch import subject
from brokerweb.ngsi.ld.rendering import FORMATS, SHORT, Shape
from brokerweb.ngsi.ld.terms import CORE, attribute_name, context_of, link_to
from brokerweb.ngsi.model import Entity
from brokerweb.ngsi.models import Subscription
from brokerweb.ngsi.problems import Kind, Problem, unsupported, wrong
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.scopes import scopes_of
from brokerweb.ngsi.selection import Selection
from brokerweb.ngsi.store import Store
from brokerweb.ngsi.subscriptions import fields, rows
from brokerweb.ngsi.subscriptions.notifier import NOTIFIER
from brokerweb.ngsi.subscriptions.rules import Rule
from brokerweb.ngsi.times import write_time
from overlay.core.errors import shown

STANDARD, BEGIN = "ld", "urn:ngsi-ld:Subscription:"
TOP = (
    *("id", "type", "subscriptionName", "description", "entities", "watchedAttributes", "q", "notification"),
    *("expiresAt", "throttling", "isActive", "status", "notificationTrigger"),
)
REFUSED = ("geoQ", "scopeQ", "csf", "timeInterval", "temporalQ", "lang", "datasetId", "jsonldContext", "containedBy")
COUNTS = ("timesSent", "lastNotification", "lastFailure", "lastSuccess", "status", "timesFailed")
TRIGGERS = {"attributeCreated", "attributeUpdated", "entityCreated", "entityUpdated"}
"""Those that notify here."""
STATUSES = {"inactive": "paused", "failed": "active"}


async def create(request: Request, store: Store) -> Answer:
    """POST subscriptions. An id of the client must begin as those of the server do."""
    request.check_parameters()
    found = _fields(object_of(request), request)
    id = await rows.in_thread(rows.create)(request.snapshot.network, request.who, {**found, "standard": STANDARD})
    await NOTIFIER.changed()
    return nothing(201, {"Location": f"{request.base}/ngsi-ld/v1/subscriptions/{BEGIN}{id}"})


async def listed(request: Request, store: Store) -> Answer:
    """GET subscriptions."""
    request.check_parameters("limit", "offset", "count", "options")
    request.options("sysAttrs")
    await NOTIFIER.flush()
    found, count = await rows.in_thread(rows.page)(request.snapshot.network, STANDARD, *request.page(least=0))
    is_counted = request.parameters.get("count", "false") == "true"
    return answered(request, 200, [render(row) for row in found], {listing.COUNT: str(count)} if is_counted else {})


async def retrieve(request: Request, store: Store, id: str) -> Answer:
    """GET subscriptions/{id}."""
    request.check_parameters("options")
    request.options("sysAttrs")
    await NOTIFIER.flush()
    return answered(
        request, 200, render(await rows.in_thread(rows.get)(request.snapshot.network, STANDARD, _short(id)))
    )


async def update(request: Request, store: Store, id: str) -> Answer:
    """PATCH subscriptions/{id}: the members that are given; null removes one. Scopes and context stay as they were,
    unless its headers name others."""
    request.check_parameters()
    body = object_of(request)
    row = await rows.in_thread(rows.get)(request.snapshot.network, STANDARD, _short(id))
    active = {} if "isActive" in body else {"isActive": row.is_active}
    merged = {name: value for name, value in {**row.body, **active, **body}.items() if value is not None}
    changed = _fields(merged, request, row.scopes, row.context)
    await rows.in_thread(rows.change)(request.snapshot.network, STANDARD, _short(id), changed)
    await NOTIFIER.changed()
    return nothing()


async def delete(request: Request, store: Store, id: str) -> Answer:
    """DELETE subscriptions/{id}."""
    request.check_parameters()
    await rows.in_thread(rows.delete)(request.snapshot.network, STANDARD, _short(id))
    await NOTIFIER.changed()
    return nothing()


def _short(id: str) -> str:
    if not id.startswith(BEGIN):
        raise Problem(Kind.NOT_FOUND, f"There is no subscription {id}.")
    return id.removeprefix(BEGIN)


def _fields(body: Mapping[str, Any], request: Request, scopes: str = "", context: str = "") -> dict[str, Any]:
    """Of a row, from a checked body; ``scopes`` and ``context`` if the headers name none. Raises ``Problem``."""
    scopes = request.headers.get("fiware-servicepath", scopes)
    context = context_of(request.headers.get("link", "")) or context
    read(body, "", scopes, context)
    is_active = body.get("isActive", True)
    if not isinstance(is_active, bool):
        raise wrong(f"isActive: must be true or false, not {shown(is_active)}.")
    if body.get("type") != "Subscription":
        raise wrong("type: must be Subscription.")
    if "id" in body and request.method == "POST":
        raise unsupported("id: is chosen by the server.")
    expires = fields.expiry_of(body, "expiresAt")
    return {
        "body": {name: value for name, value in body.items() if name not in ("id", "status", "isActive")},
        "is_active": is_active,
        "expires": None if expires is None else datetime.fromtimestamp(expires / 1000, UTC),
        "scopes": scopes,
        "context": context,
    }


def read(body: Mapping[str, Any], id: str, scopes: str = "", context: str = "") -> Rule:
    """The rule of a subscription. Raises ``Problem``."""
    fields.known("", body, TOP, REFUSED)
    for name in ("subscriptionName", "description"):
        fields.text_in("", body, name)
    subjects = fields.list_in("", body, "entities", fields.MOST_ENTITIES)
    watched = fields.names_in("", body, "watchedAttributes")
    if not subjects and not watched:
        raise wrong("entities: must be a list of at least one, or watchedAttributes must be.")
    triggers = set(fields.names_in("", body, "notificationTrigger"))
    if triggers - TRIGGERS:
        raise unsupported(f"notificationTrigger: supported: {', '.join(sorted(TRIGGERS))}.")
    told = fields.object_in("", body, "notification")
    fields.known("notification.", told, ("attributes", "format", "endpoint", *COUNTS), ("showChanges", "sysAttrs"))
    endpoint = fields.object_in("notification.", told, "endpoint")
    fields.known("notification.endpoint.", endpoint, ("uri", "accept"), ("receiverInfo", "notifierInfo", "cooldown"))
    return Rule(
        url=fields.url_in("notification.endpoint.", endpoint, "uri"),
        selection=Selection(tuple(map(subject, subjects)), listing.condition_of(body.get("q"))),
        view=listing.view,
        notification=_notification(told, endpoint, id, context),
        watched=frozenset(map(attribute_name, watched)),
        throttling_s=fields.throttling_of(body),
        scopes=scopes_of(scopes, is_write=False),
    )


def _notification(
    told: Mapping[str, Any], endpoint: Mapping[str, Any], id: str, context: str
) -> Callable[[Sequence[Entity], int], tuple[dict[str, str], Any]]:
    format, accept = told.get("format", "normalized"), endpoint.get("accept", JSON)
    if format not in FORMATS:
        raise wrong(f"notification.format: must be one of {', '.join(FORMATS)}, not {shown(format)}.")
    if accept not in (JSON, LD_JSON):
        raise unsupported(f"notification.endpoint.accept: must be {JSON} or {LD_JSON}.")
    attrs = frozenset(map(attribute_name, fields.names_in("notification.", told, "attributes"))) or None
    return partial(_written, id, Shape(format in SHORT, attrs), accept, context)


def _written(
    id: str, shape: Shape, accept: str, context: str, entities: Sequence[Entity], now_ms: int
) -> tuple[dict[str, str], Any]:
    body: dict[str, Any] = {
        "id": f"urn:ngsi-ld:Notification:{new_id()}",
        "type": "Notification",
        "subscriptionId": f"{BEGIN}{id}",
        "notifiedAt": write_time(now_ms),
        "data": [shape.entity(entity) for entity in entities],
    }
    if accept == LD_JSON:
        return {"Content-Type": LD_JSON}, {**body, "@context": context or CORE}
    return {"Link": link_to(context)}, body


def rule_of(row: Subscription) -> Rule:
    """Raises ``Problem``."""
    return read(row.body, row.pk, row.scopes, row.context)


def render(row: Subscription) -> dict[str, Any]:
    """A subscription as it is shown."""
    told = {name: value for name, value in row.body.get("notification", {}).items() if name not in COUNTS}
    told["status"] = "failed" if row.failures else "ok"
    if row.sent:
        told["timesSent"] = row.sent
    for name, at in (
        ("lastNotification", row.last_sent),
        ("lastSuccess", row.last_success),
        ("lastFailure", row.last_failure),
    ):
        if at is not None:
            told[name] = write_time(round(at.timestamp() * 1000))
    status = rows.status_of(row)
    shown_status = STATUSES.get(status, status)
    about = {"isActive": shown_status == "active", "status": shown_status}
    return {"id": f"{BEGIN}{row.pk}", **row.body, "notification": told, **about}
