"""Subscriptions and publications as JSON. Pure; raises ``InvalidSetting``. Notifications: ``notification_json``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from overlay.core.errors import InvalidSetting
from overlay.core.settings import InvalidText
from overlay.messages.errors import BadMessage
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.clients.provider import Content
from overlay.systems.federation.language.text import MAX_TEXT, parse
from overlay.systems.federation.language.tree import Expression, InvalidExpression, read, written
from overlay.systems.federation.wire.composites import ADVERTISEMENT, SUBSCRIPTION
from overlay.systems.federation.wire.notes import check_data
from overlay.systems.federation.wire.values import Advertisement, Notification, Priority, Role, Subscription

MOST_LIFE_MS = 86_400_000
"""Of a notification."""
MOST_AHEAD_MS = 366 * 86_400_000
"""Until a subscription expires."""
T = TypeVar("T")


def expression_of(value: Any) -> Expression:
    """From its text, or from nested lists; ``None`` is true of all."""
    if value is None:
        value = ["and"]
    try:
        if isinstance(value, str):
            if len(value) > MAX_TEXT:
                raise InvalidSetting("expression", f"must have at most {MAX_TEXT:,} characters")
            return parse(value)
        return read(value)
    except InvalidText as error:
        raise InvalidSetting("expression", f"{error} (character {error.at + 1})") from None
    except InvalidExpression as error:
        raise InvalidSetting("expression", error.sentence) from None


def subscription_of(fields: Mapping[str, Any], now_ms: int) -> Wanted:
    """``scopes``, ``expression``, ``expires`` (a time), ``priority``, ``kind``."""
    expires: datetime = fields["expires"]
    array = [
        ["client", 1],
        list(fields["scopes"]),
        written(expression_of(fields.get("expression"))),
        check_expiry(_unix_ms(expires), now_ms),
        Priority[fields.get("priority", "normal").upper()].value,
        fields.get("kind", "stream") == "once",
    ]
    return wanted(_checked("scopes", SUBSCRIPTION.read, array))


def check_expiry(expires_ms: int, now_ms: int) -> int:
    """Of a subscription."""
    if not now_ms < expires_ms <= now_ms + MOST_AHEAD_MS:
        raise InvalidSetting("expires", "must be in the future, and within a year")
    return expires_ms


def wanted(one: Subscription) -> Wanted:
    return Wanted(one.scopes, one.expires, one.expression, one.priority, one.once)


def advertisement_of(role: Role, fields: Mapping[str, Any]) -> Advertisement:
    """``name``, ``scopes``, ``needs``, ``url``."""
    array = [
        *(fields["name"], 0, role.value, fields.get("url", "")),
        *(list(fields.get("scopes", ())), dict(fields.get("needs", {}))),
    ]
    return _checked("scopes", ADVERTISEMENT.read, array)


def content_of(fields: Mapping[str, Any], now_ms: int) -> Content:
    """What to publish: ``entity_type``, ``entity_id``, ``scope``, ``data``, and ``valid_ms`` or ``expires``."""
    if ("expires" in fields) == ("valid_ms" in fields):
        raise InvalidSetting("expires", "give either expires or valid_ms")
    expires = now_ms + fields["valid_ms"] if "valid_ms" in fields else _unix_ms(fields["expires"])
    stamped = _unix_ms(fields["timestamp"]) if "timestamp" in fields else None
    entity = fields["entity_type"], fields["entity_id"]
    return check_content(Content(*entity, fields["scope"], expires, fields["data"], stamped), now_ms)


def check_content(content: Content, now_ms: int) -> Content:
    """Its data and its times."""
    _checked("data", check_data, content.data)
    if not now_ms < content.expires <= now_ms + MOST_LIFE_MS:
        raise InvalidSetting("expires", "must be in the future, and within a day")
    return content


def content_in(one: Notification, now_ms: int) -> Content:
    """Of a notification in ContextML; its number is given by the client that publishes it."""
    content = Content(one.entity_type, one.entity_id, one.scope, one.expires, one.data, one.timestamp)
    return check_content(content, now_ms)


def _unix_ms(at: datetime) -> int:
    return round(at.timestamp() * 1_000)


def _checked(field: str, check: Callable[[Any], T], value: Any) -> T:
    try:
        return check(value)
    except BadMessage as error:
        raise InvalidSetting(field, error.sentence) from None
