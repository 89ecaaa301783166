"""Notifications and what is published, as JSON for people and programs. Times are Unix milliseconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from overlay.core.errors import WaxwingError, shown
from overlay.systems.federation.clients.provider import Content
from overlay.systems.federation.wire.notes import check_data
from overlay.systems.federation.wire.values import Notification, NotificationId

MOST_TEXT = 131_072
"""Bytes of a line of JSON: a notification has at most 60,000 of MessagePack."""
_FIELDS = frozenset({"id", "entity", "scope", "timestamp", "expires", "data"})


class InvalidDocument(WaxwingError):
    """A line that is no such JSON."""


def of_notification(one: Notification) -> dict[str, Any]:
    return {
        "id": f"{one.id.provider}-{one.id.number}",
        "entity": {"type": one.entity_type, "id": one.entity_id},
        "scope": one.scope,
        "timestamp": one.timestamp,
        "expires": one.expires,
        "data": dict(one.data),
    }


def content_of(line: str, defaults: Mapping[str, Any], now_ms: int) -> Content:
    """What to publish, from a line with ``data``, or with fields that differ from ``defaults``: ``entity`` (type, id),
    ``scope``, ``expires``, ``valid_ms``. Raises ``InvalidDocument``."""
    given = _object(line)
    document = given if "data" in given else {"data": given}
    unknown = sorted(document.keys() - _FIELDS)
    if unknown:
        raise InvalidDocument(f"unknown field {shown(unknown[0])}; known are {', '.join(sorted(_FIELDS))}")
    entity = document.get("entity", {})
    if not isinstance(entity, dict):
        raise InvalidDocument("entity must be an object with type and id")
    kind, id = entity.get("type", defaults.get("type")), entity.get("id", defaults.get("id"))
    scope = document.get("scope", defaults.get("scope"))
    for name, value in {"entity.type": kind, "entity.id": id, "scope": scope}.items():
        if not isinstance(value, str) or not value:
            raise InvalidDocument(f"{name} must be a text, not {shown(value)}")
    expires = document.get("expires", now_ms + defaults["valid_ms"])
    if isinstance(expires, bool) or not isinstance(expires, int) or expires < 0:
        raise InvalidDocument(f"expires must be Unix milliseconds, not {shown(expires)}")
    return Content(str(kind), str(id), str(scope), expires, _data(document["data"]))


def notification_of(line: str, defaults: Mapping[str, Any], now_ms: int) -> Notification:
    """As ``content_of``, as if it were published now."""
    kind, id, scope, expires, data, _ = content_of(line, defaults, now_ms)
    return Notification(NotificationId("file", 0), kind, id, scope, now_ms, expires, data)


def _object(line: str) -> dict[str, Any]:
    if len(line) > MOST_TEXT:
        raise InvalidDocument(f"a line has at most {MOST_TEXT:,} characters")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidDocument(f"{shown(line)} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidDocument(f"{shown(line)} is no JSON object")
    return found


def _data(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidDocument("data must be an object")
    check_data(value)
    return value
