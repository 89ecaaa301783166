"""What is provided through REST and the page, checked. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from brokerweb.systems.context_broker.context.shapes import LONGEST_PROVIDER, LONGEST_VALID_MS, VALID_MS, ContextBody
from brokerweb.systems.contract import Key
from overlay.core.errors import InvalidSetting, shown
from overlay.systems.context_broker.clients.payload import format_pairs
from overlay.systems.context_broker.wire.kinds import MAX_NAME, MAX_PAYLOAD

FIELDS = frozenset({"provider", "payload", "valid_ms"})


@dataclass(frozen=True, slots=True)
class Change:
    """An update that no broker will refuse for its form."""

    key: Key
    provider: str
    payload: bytes
    valid_ms: int


def read(key: Key, body: Any) -> Change:
    """From the body of a request. Raises ``InvalidSetting``, or ``ValidationError`` with all fields that are wrong."""
    if not _is_plain(body):
        checked = ContextBody(data=body)
        checked.is_valid(raise_exception=True)
        body = checked.validated_data
    return change(key, body["provider"], body["payload"], body.get("valid_ms", VALID_MS))


def _is_plain(body: Any) -> bool:
    """Whether it is certainly valid: the serializer takes 100 µs, and finds everything that is wrong."""
    if type(body) is not dict or not body.keys() <= FIELDS or "payload" not in body:
        return False
    provider, valid_ms = body.get("provider"), body.get("valid_ms", VALID_MS)
    if type(provider) is not str or type(valid_ms) is not int:
        return False
    is_name = provider.isprintable() and provider == provider.strip() and 0 < len(provider) <= LONGEST_PROVIDER
    return is_name and 1 <= valid_ms <= LONGEST_VALID_MS


def change(key: Key, provider: str, payload: Any, valid_ms: int) -> Change:
    """From its parts. Raises ``InvalidSetting``."""
    text = payload_text(payload).encode()
    if len(text) > MAX_PAYLOAD:
        raise InvalidSetting("payload", f"has {len(text)} bytes; the limit is {MAX_PAYLOAD}")
    return Change(key, name("provider", provider), text, valid_ms)


def payload_text(payload: Any) -> str:
    """``K=V;K=V`` from an object, or a string unchanged. Raises ``InvalidSetting``."""
    if isinstance(payload, str) and payload:
        return payload
    if not isinstance(payload, dict) or not payload:
        raise InvalidSetting("payload", "must be a non-empty object of strings, or a string")
    if len(payload) > MAX_PAYLOAD // len("k=;"):
        raise InvalidSetting("payload", f"has {len(payload):,} values, which take more than {MAX_PAYLOAD} bytes")
    for name, value in payload.items():
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise InvalidSetting(f"payload.{name[:60]}", f"must be a string or a number, not {shown(value)}")
    return format_pairs(payload)


def key_of(type: str, entity: str, scope: str) -> Key:
    """Type, entity and scope. Raises ``InvalidSetting``."""
    return name("type", type), name("entity", entity), name("scope", scope)


def name(field: str, text: str) -> str:
    """A name that a message can contain. Raises ``InvalidSetting``."""
    if not text or "|" in text or len(text.encode()) > MAX_NAME:
        raise InvalidSetting(field, f"must be 1 to {MAX_NAME} bytes without |, not {shown(text)}")
    return text


def text_of(instant: datetime) -> str:
    """As REST framework writes it."""
    return instant.isoformat().replace("+00:00", "Z")
