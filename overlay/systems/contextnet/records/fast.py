"""The message, the most frequent map, without a call for each field. ``table`` describes it; a test compares both."""

from __future__ import annotations

from typing import Any

from overlay.systems.contextnet.records.kinds import ID_BYTES, MOST_CONTEXT, MOST_NAME, MOST_PAYLOAD, MOST_TTL
from overlay.systems.contextnet.records.records import Message


def read(found: dict[str, Any]) -> Message | None:
    """``None``: something is missing, wrong or unusual, so the table decides. Raises ``KeyError``, ``TypeError``."""
    message = Message(
        found["id"],
        found["source"],
        found["destination"],
        found["created_at"],
        found["ttl_s"],
        found["payload"],
        found["context"],
        found["reply_to"],
    )
    return message if _is_right(message) else None


def write(message: Message) -> dict[str, Any] | None:
    """``None``: the table decides."""
    if not _is_right(message):
        return None
    return {
        "id": message.id,
        "source": message.source,
        "destination": message.destination,
        "created_at": message.created_at,
        "ttl_s": message.ttl_s,
        "payload": message.payload,
        "context": message.context,
        "reply_to": message.reply_to,
    }


def _is_right(message: Message) -> bool:
    """Not of texts with other characters than ASCII, or of two names."""
    payload, context = message.payload, message.context
    return (
        type(message.id) is type(payload) is type(context) is bytes
        and len(message.id) == ID_BYTES
        and len(payload) <= MOST_PAYLOAD
        and len(context) <= MOST_CONTEXT
        and type(message.created_at) is type(message.ttl_s) is int
        and 0 <= message.created_at < 1 << 62
        and 0 <= message.ttl_s <= MOST_TTL
        and _is_name(message.source)
        and _is_name(message.destination)
        and (message.reply_to == "" or _is_name(message.reply_to))
    )


def _is_name(text: Any) -> bool:
    return type(text) is str and 0 < len(text) <= MOST_NAME and text.isascii()
