"""``/v2/subscriptions``: bodies, rules and notifications (section "Subscriptions Operations")."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from brokerweb.ngsi.answers import Answer, answer, nothing
from brokerweb.ngsi.model import Entity
from brokerweb.ngsi.models import Subscription
from brokerweb.ngsi.problems import wrong
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.scopes import scopes_of
from brokerweb.ngsi.selection import Selection
from brokerweb.ngsi.store import Store
from brokerweb.ngsi.subscriptions import fields, rows
from brokerweb.ngsi.subscriptions.notifier import NOTIFIER
from brokerweb.ngsi.subscriptions.rules import Rule
from brokerweb.ngsi.times import write_time
from brokerweb.ngsi.v2 import listing
from brokerweb.ngsi.v2.batch import subject
from brokerweb.ngsi.v2.rendering import NORMALIZED, Shape, with_builtin
from overlay.core.errors import shown

STANDARD = "v2"
FORMATS = (NORMALIZED, "keyValues", "values")
STATUSES = {"active": True, "inactive": False}
TOP = ("description", "subject", "notification", "expires", "throttling", "status")
NOTIFICATION = ("attrs", "exceptAttrs", "http", "attrsFormat", "metadata")
COUNTS = ("timesSent", "lastNotification", "lastFailure", "lastSuccess", "lastFailureReason", "failsCounter")
REFUSED = ("httpCustom", "mqtt", "mqttCustom", "onlyChangedAttrs", "covered", "kafka", "kafkaCustom")


async def create(request: Request, store: Store) -> Answer:
    """POST /v2/subscriptions."""
    request.check_parameters()
    body = request.object()
    found = {**_fields(body), "scopes": request.headers.get("fiware-servicepath", "")}
    id = await rows.in_thread(rows.create)(request.snapshot.network, request.who, {**found, "standard": STANDARD})
    await NOTIFIER.changed()
    return nothing(201, {"Location": f"{request.base}/v2/subscriptions/{id}"})


async def listed(request: Request, store: Store) -> Answer:
    """GET /v2/subscriptions."""
    request.check_parameters("limit", "offset", "options")
    options = request.options("count")
    await NOTIFIER.flush()
    found, count = await rows.in_thread(rows.page)(request.snapshot.network, STANDARD, *request.page())
    return answer(200, [render(row) for row in found], {listing.TOTAL: str(count)} if options else {})


async def retrieve(request: Request, store: Store, id: str) -> Answer:
    """GET /v2/subscriptions/{id}."""
    request.check_parameters()
    await NOTIFIER.flush()
    return answer(200, render(await rows.in_thread(rows.get)(request.snapshot.network, STANDARD, id)))


async def update(request: Request, store: Store, id: str) -> Answer:
    """PATCH /v2/subscriptions/{id}: the members that are given."""
    request.check_parameters()
    body = request.object()
    row = await rows.in_thread(rows.get)(request.snapshot.network, STANDARD, id)
    status = {} if "status" in body else {"status": "active" if row.is_active else "inactive"}
    changed = _fields({**row.body, **status, **body})
    await rows.in_thread(rows.change)(request.snapshot.network, STANDARD, id, changed)
    await NOTIFIER.changed()
    return nothing()


async def delete(request: Request, store: Store, id: str) -> Answer:
    """DELETE /v2/subscriptions/{id}."""
    request.check_parameters()
    await rows.in_thread(rows.delete)(request.snapshot.network, STANDARD, id)
    await NOTIFIER.changed()
    return nothing()


def _fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """Of a row, from a checked body. Raises ``Problem``."""
    read(body, "")
    status = body.get("status", "active")
    if status not in STATUSES:
        raise wrong(f"status: must be active or inactive, not {shown(status)}.")
    expires = fields.expiry_of(body, "expires")
    return {
        "body": {name: value for name, value in body.items() if name not in ("status", "id")},
        "is_active": STATUSES[status],
        "expires": None if expires is None else datetime.fromtimestamp(expires / 1000, UTC),
    }


def read(body: Mapping[str, Any], id: str, scopes: str = "") -> Rule:
    """The rule of a subscription. Raises ``Problem``."""
    fields.known("", body, TOP)
    fields.text_in("", body, "description", 1_024)
    about, told = fields.object_in("", body, "subject"), fields.object_in("", body, "notification")
    fields.known("subject.", about, ("entities", "condition"))
    subjects = fields.list_in("subject.", about, "entities", fields.MOST_ENTITIES)
    if not subjects:
        raise wrong("subject.entities: must be a list of at least one.")
    condition = fields.object_in("subject.", about, "condition")
    fields.known(
        "subject.condition.", condition, ("attrs", "expression"), ("alterationTypes", "notifyOnMetadataChange")
    )
    expression = fields.object_in("subject.condition.", condition, "expression")
    fields.known("subject.condition.expression.", expression, ("q", "mq", *listing.GEO))
    return Rule(
        url=_url(told),
        selection=Selection(tuple(map(subject, subjects)), listing.condition_of(expression)),
        view=with_builtin,
        notification=_notification(told, id),
        watched=frozenset(fields.names_in("subject.condition.", condition, "attrs")),
        throttling_s=fields.throttling_of(body),
        scopes=scopes_of(scopes, is_write=False),
    )


def _url(told: Mapping[str, Any]) -> str:
    fields.known("notification.", told, (*NOTIFICATION, *COUNTS), REFUSED)
    http = fields.object_in("notification.", told, "http")
    fields.known("notification.http.", http, ("url",), ("timeout", "accessKeyId"))
    return fields.url_in("notification.http.", http, "url")


def _notification(told: Mapping[str, Any], id: str) -> Callable[[Sequence[Entity], int], tuple[dict[str, str], Any]]:
    format = told.get("attrsFormat", NORMALIZED)
    if format not in FORMATS:
        raise wrong(f"notification.attrsFormat: must be one of {', '.join(FORMATS)}, not {shown(format)}.")
    attrs = tuple(fields.names_in("notification.", told, "attrs"))
    but = frozenset(fields.names_in("notification.", told, "exceptAttrs"))
    if attrs and but:
        raise wrong("notification.exceptAttrs: cannot be used together with attrs.")
    metadata = tuple(fields.names_in("notification.", told, "metadata"))
    return partial(_written, id, Shape(format, attrs or None, metadata or None), but)


def _written(
    id: str, shape: Shape, but: frozenset[str], entities: Sequence[Entity], now_ms: int
) -> tuple[dict[str, str], Any]:
    data = [shape.entity(_without(entity, but)) for entity in entities]
    return {"Ngsiv2-AttrsFormat": shape.format}, {"subscriptionId": id, "data": data}


def _without(entity: Entity, but: frozenset[str]) -> Entity:
    if but.isdisjoint(entity.attributes):
        return entity
    kept = {name: one for name, one in entity.attributes.items() if name not in but}
    return Entity(entity.id, entity.type, kept, entity.modified_ms, entity.expires_ms)


def rule_of(row: Subscription) -> Rule:
    """Raises ``Problem``."""
    return read(row.body, row.pk, row.scopes)


def render(row: Subscription) -> dict[str, Any]:
    """A subscription as it is shown."""
    told = {name: value for name, value in row.body.get("notification", {}).items() if name not in COUNTS}
    if row.sent:
        told["timesSent"] = row.sent
    for name, at in (
        ("lastNotification", row.last_sent),
        ("lastSuccess", row.last_success),
        ("lastFailure", row.last_failure),
    ):
        if at is not None:
            told[name] = write_time(round(at.timestamp() * 1000))
    if row.last_failure is not None:
        told["lastFailureReason"] = row.reason
    if row.failures:
        told["failsCounter"] = row.failures
    return {"id": row.pk, **row.body, "notification": told, "status": rows.status_of(row)}
