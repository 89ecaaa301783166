"""Requests and answers about a network of federated brokers. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from waxwing.calls import Call, call
from waxwing.errors import InvalidMessage
from waxwing.hosted import NOTIFICATION, Streamed, about, path, told
from waxwing.records import Raw, Record
from waxwing.sse import Event

VALID_MS = 120_000
"""Of what is published, unless its caller says otherwise."""
Moment = datetime | str
"""With its time zone; or a text as in ISO 8601."""


@dataclass(frozen=True, kw_only=True)
class Subscription(Streamed):
    """``raw`` has its priority and the failures of its webhook."""

    client: str = ""
    """Its consumer."""
    scopes: tuple[str, ...] = ()
    expression: Sequence[Any] = ()
    """As nested lists."""
    kind: str = ""
    """once, stream"""
    expires: datetime | None = None
    state: str = ""
    """active, satisfied, expired, refused"""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Provider(Record):
    """A provider that this account has registered."""

    name: str = ""
    scopes: tuple[str, ...] = ()
    needs: Raw = field(default_factory=dict)
    url: str = ""
    broker: int | None = None
    created: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Found(Record):
    """A provider of a scope, of any account."""

    id: str = ""
    endpoint: str = ""
    """Its address in the network."""
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class Notification(Record):
    provider: str = ""
    number: int = 0
    """Rises with each notification of its provider."""
    entity_type: str = ""
    entity_id: str = ""
    scope: str = ""
    timestamp: datetime | None = None
    expires: datetime | None = None
    data: Raw = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Told:
    """An event of a stream. ``kind`` is one of ``hosted.EVENTS``; ``reset``: events before it are missing."""

    id: str
    """Resumes the stream after this event."""
    kind: str
    subscription: str = ""
    """Empty of a ``reset``."""
    notification: Notification | None = None
    end: str = ""
    """Of an ``ended``: satisfied, expired, refused, removed."""
    reason: str = ""
    raw: Mapping[str, Any] = field(repr=False, default_factory=dict)
    """With ``cached`` and ``hops`` of a notification."""


def subscribing(
    network: str, scopes: Sequence[str], expression: str | Sequence[Any] | None, expires: Moment, more: Raw, key: str
) -> Call:
    body = {**told({"expression": expression, **more}), "scopes": list(scopes), "expires": time_text(expires)}
    return call("POST", path(network, "subscriptions"), body=body, key=key or True)


def registering(network: str, name: str, scopes: Sequence[str], more: Raw, key: str) -> Call:
    body = {"name": name, "scopes": list(scopes), **told(more)}
    return call("POST", path(network, "providers"), body=body, key=key or True)


def publishing(network: str, body: Raw, *, expires: Moment | None, timestamp: Moment | None, key: str) -> Call:
    times = {"expires": expires and time_text(expires), "timestamp": timestamp and time_text(timestamp)}
    return call("POST", path(network, "publish"), body={**told(body), **told(times)}, key=key)


def querying(network: str, scopes: Sequence[str], more: Raw) -> Call:
    return call("POST", path(network, "query"), body={"scopes": list(scopes), **told(more)})


def event(one: Event) -> Told:
    raw = json.loads(one.data)
    notification = Notification.of(raw["notification"]) if one.name == NOTIFICATION else None
    return Told(id=one.id, kind=one.name, notification=notification, raw=raw, **about(raw))


def time_text(at: Moment) -> str:
    """Raises ``InvalidMessage`` for a time without its zone, which a server would take for another time."""
    if isinstance(at, str):
        return at
    if at.tzinfo is None:
        raise InvalidMessage(f"{at} has no time zone: use datetime.now(UTC)")
    return at.isoformat()
