"""A notification as JSON: one form for REST, for commands, and for what operators ask a broker. Pure.

``{"provider", "number", "entity_type", "entity_id", "scope", "timestamp", "expires", "data"}``, with times as
``2026-11-29T12:00:00.000Z``. Those after the year 9999 are written as its last second.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from overlay.systems.federation.wire.values import Notification, NotificationId

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_LAST_MS = (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - _BEGIN) // _MILLISECOND
NAMES = ("provider", "number", "entity_type", "entity_id", "scope", "timestamp", "expires", "data")


def written(one: Notification) -> dict[str, Any]:
    values = (
        *(one.id.provider, one.id.number, one.entity_type, one.entity_id, one.scope),
        *(written_time(one.timestamp), written_time(one.expires), one.data),
    )
    return dict(zip(NAMES, values, strict=True))


def read(document: Mapping[str, Any]) -> Notification:
    """What ``written`` has returned."""
    id = NotificationId(document["provider"], document["number"])
    about = document["entity_type"], document["entity_id"], document["scope"]
    return Notification(id, *about, read_time(document["timestamp"]), read_time(document["expires"]), document["data"])


def written_time(unix_ms: int) -> str:
    at = _BEGIN + min(unix_ms, _LAST_MS) * _MILLISECOND
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_time(text: str) -> int:
    """Unix ms of a time with its zone, as in ISO 8601. Raises ``ValueError``."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None or at < _BEGIN:
        raise ValueError(f"{text} has no time zone, or is before 1970")
    return (at - _BEGIN) // _MILLISECOND
