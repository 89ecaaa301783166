"""A message as JSON: one form for REST, notifications and commands. Pure.

``{"id", "source", "destination", "created", "ttl_s", "text", "context"}``; a payload that is no UTF-8 is ``base64``
instead of ``text``; ``created`` as ``2026-11-29T12:00:00.000Z``; ``context`` is that of a node, if it can be read.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgpack

from overlay.core.errors import InvalidSetting
from overlay.systems.contextnet.records.kinds import ID_BYTES, MOST_CONTEXT, MOST_PAYLOAD
from overlay.systems.contextnet.records.records import Message

_BEGIN: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_US: Final = (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - _BEGIN) // timedelta(microseconds=1)


def written(one: Message) -> dict[str, Any]:
    found: dict[str, Any] = {"id": one.id.hex(), "source": one.source, "destination": one.destination}
    found |= {"created": written_time(one.created_at), "ttl_s": one.ttl_s, **payload_written(one.payload)}
    if (context := context_written(one.context)) is not None:
        found["context"] = context
    return found


def payload_written(payload: bytes) -> dict[str, str]:
    try:
        return {"text": payload.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(payload).decode()}


def payload_read(document: Mapping[str, Any]) -> bytes:
    """Of its ``text`` or ``base64``. Raises ``InvalidSetting``."""
    if ("text" in document) == ("base64" in document):
        raise InvalidSetting("text", "or base64 must be given, and not both")
    name = "text" if "text" in document else "base64"
    try:
        found = document["text"].encode() if name == "text" else b64decode(document["base64"], validate=True)
    except (Error, ValueError) as error:  # also a text of half a character
        raise InvalidSetting(name, f"cannot be read: {error}") from None
    if len(found) > MOST_PAYLOAD:
        raise InvalidSetting(name, f"must have at most {MOST_PAYLOAD:,} bytes, not {len(found):,}")
    return found


def context_written(context: bytes) -> Mapping[str, Any] | None:
    """``None`` if there is none, or it is no map of names to what JSON has."""
    if not context:
        return None
    try:
        found = msgpack.unpackb(context)
    except (ValueError, TypeError, msgpack.UnpackException, RecursionError):
        return None
    return found if _is_plain(found) and isinstance(found, dict) else None


def context_read(document: Mapping[str, Any]) -> bytes:
    """Raises ``InvalidSetting``."""
    try:
        found: bytes = msgpack.packb(dict(document))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidSetting("context", f"cannot be written: {error}") from None
    if len(found) > MOST_CONTEXT:
        raise InvalidSetting("context", f"must have at most {MOST_CONTEXT:,} bytes, not {len(found):,}")
    return found


def node_read(text: str, field: str = "node") -> bytes:
    """The id of a node: 32 hexadecimal digits. Raises ``InvalidSetting``."""
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != ID_BYTES or len(text) != 2 * ID_BYTES:
        raise InvalidSetting(field, f"must be {2 * ID_BYTES} hexadecimal digits, not {text!r:.50}")
    return found


def written_time(unix_us: int) -> str:
    at = _BEGIN + timedelta(microseconds=min(unix_us, _LAST_US))
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_plain(one) for name, one in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | bool | int | float)
