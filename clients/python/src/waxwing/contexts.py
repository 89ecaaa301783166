"""Requests and answers about the context of a network. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from waxwing import payloads
from waxwing.calls import Answer, Call, Query, at, call
from waxwing.errors import InvalidMessage
from waxwing.payloads import Payload
from waxwing.records import Context
from waxwing.sse import Event

Operation = Mapping[str, Any]
"""One operation of a batch."""
CHANGES = ("snapshot", "stored", "left", "withdrawn", "expired", "dropped", "reset")
"""Events of a stream; others are about the stream itself. After ``end``, a new request is answered with the reason."""
ANSWER_S = 20.0
"""Time for an answer beyond the time that the server was asked to wait."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """Something that changed. ``kind`` is one of ``CHANGES``; ``reset``: changes before it are missing, list again."""

    id: str
    """Resumes the stream after this change."""
    kind: str
    context: Context
    """What is known of it; of what was deleted, its names and provider."""
    raw: Mapping[str, Any] = field(repr=False)


def path(network: str, type: str, entity: str, scope: str) -> str:
    return at("networks", network, "context", type, entity, scope)


def list_path(network: str) -> str:
    return at("networks", network, "context")


def batch_path(network: str) -> str:
    return at("networks", network, "context", "batch")


def waiting(wait_s: float | None) -> dict[str, str]:
    """Raises ``InvalidMessage``. The server takes whole seconds."""
    if wait_s is None:
        return {}
    if not 0 <= wait_s < math.inf:
        raise InvalidMessage(f"wait_s must be a number of seconds from 0, not {wait_s}")
    return {"Prefer": f"wait={math.ceil(wait_s)}"}


def patience_s(wait_s: float | None) -> float | None:
    return None if wait_s is None else wait_s + ANSWER_S


def conditions(if_match: str | None, if_none_match: str | None = None) -> dict[str, str]:
    named = {"If-Match": if_match, "If-None-Match": if_none_match}
    return {name: value for name, value in named.items() if value is not None}


def body(payload: Payload, provider: str, valid_ms: int | None) -> dict[str, Any]:
    """Of a ``put``."""
    sent: dict[str, Any] = {"provider": provider, "payload": payloads.sendable(payload)}
    return sent if valid_ms is None else {**sent, "valid_ms": valid_ms}


def put(
    type: str, entity: str, scope: str, payload: Payload, *, provider: str, valid_ms: int | None = None
) -> Operation:
    """An operation of a batch."""
    return {"op": "put", "type": type, "entity": entity, "scope": scope, **body(payload, provider, valid_ms)}


def get(type: str, entity: str, scope: str) -> Operation:
    """An operation of a batch."""
    return {"op": "get", "type": type, "entity": entity, "scope": scope}


def delete(type: str, entity: str, scope: str, *, provider: str | None = None) -> Operation:
    """An operation of a batch."""
    named = {} if provider is None else {"provider": provider}
    return {"op": "delete", "type": type, "entity": entity, "scope": scope, **named}


def context(type: str, entity: str, scope: str, answer: Answer) -> Context:
    names = {"type": type, "entity": entity, "scope": scope}
    return Context.of(answer.data, **names, etag=answer.headers.get("etag", ""))


def watching(network: str, filters: Query, last_id: str, *, snapshot: bool) -> Call:
    """A stream; what there is comes first only where nothing is resumed."""
    headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_id} if last_id else {})}
    query = {**filters, "snapshot": True} if snapshot and not last_id else filters
    return call("GET", at("networks", network, "stream"), query=query, headers=headers)


def change(event: Event) -> Change:
    """Of an event of ``CHANGES``."""
    raw = json.loads(event.data)
    return Change(id=event.id, kind=event.name, context=Context.of(raw), raw=raw)
