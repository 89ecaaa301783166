"""Lines of JSON that people and programs give: what is published, in the form of ``notification_json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.core.errors import shown
from overlay.programs.text import InvalidDocument, object_of
from overlay.systems.federation.clients.provider import Content
from overlay.systems.federation.notification_json import NAMES, read_time
from overlay.systems.federation.wire.notes import check_data
from overlay.systems.federation.wire.values import Notification, NotificationId

FLAGS = {"entity_type": "--type", "entity_id": "--entity", "scope": "--scope"}
"""What a line need not name, and the argument that is used instead."""


def content_of(line: str, defaults: Mapping[str, Any], now_ms: int) -> Content:
    """What to publish, from a line with the data alone, or with ``data`` and the fields that differ from ``defaults``:
    ``entity_type``, ``entity_id``, ``scope``, ``expires``. Raises ``InvalidDocument``."""
    given = object_of(line)
    document = given if "data" in given else {"data": given}
    unknown = sorted(document.keys() - set(NAMES))
    if unknown:
        raise InvalidDocument(f"unknown field {shown(unknown[0])}; known are {', '.join(NAMES)}")
    about: dict[str, Any] = {name: document.get(name, defaults.get(name)) for name in FLAGS}
    for name, value in about.items():
        if name not in document and not value:
            raise InvalidDocument(f"{name} is missing: give it in the line, or with {FLAGS[name]}")
        if not isinstance(value, str) or not value:
            raise InvalidDocument(f"{name} must be a text, not {shown(value)}")
    expires = _time(document["expires"]) if "expires" in document else now_ms + defaults["valid_ms"]
    return Content(**about, expires=expires, data=_data(document["data"]))


def notification_of(line: str, defaults: Mapping[str, Any], now_ms: int) -> Notification:
    """As ``content_of``, as if it were published now."""
    kind, id, scope, expires, data, _ = content_of(line, defaults, now_ms)
    return Notification(NotificationId("file", 0), kind, id, scope, now_ms, expires, data)


def _time(value: Any) -> int:
    try:
        return read_time(value)
    except (TypeError, ValueError):
        raise InvalidDocument(f"expires must be a time such as 2026-11-29T12:00:00Z, not {shown(value)}") from None


def _data(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidDocument("data must be an object")
    check_data(value)
    return value
