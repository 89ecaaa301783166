"""Requests and answers about a network of ContextNet: mobile nodes, and messages from and to them. Pure."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from waxwing.calls import Call, at, call
from waxwing.hosted import NOTIFICATION, Streamed, told
from waxwing.records import Raw, Record
from waxwing.sse import Event

Payload = str | bytes


@dataclass(frozen=True, kw_only=True)
class MobileNode(Record):
    node: str = ""
    """Its id, 32 hexadecimal digits."""
    connected: bool = False
    """Also while its gateway waits for its return."""
    gateway: str = ""
    """Where it is, or was last."""
    epoch: int = 0
    """Rises with each connection."""
    is_revoked: bool = False
    """Whether an operator has revoked its secret."""


@dataclass(frozen=True, kw_only=True)
class SentMessage(Record):
    """A message that the network's log has."""

    id: str = ""
    application: str = ""
    topic: str = ""
    is_stored: bool = False
    """Whether the node is away: it is kept until it returns or expires."""


@dataclass(frozen=True, kw_only=True)
class MobileMessage(Record):
    """A message of a node."""

    id: str = ""
    source: str = ""
    """The node."""
    destination: str = ""
    created: datetime | None = None
    ttl_s: int = 0
    text: str = ""
    """Empty if its payload is no UTF-8."""
    base64: str = field(default="", repr=False)
    """The payload then."""
    context: Raw = field(default_factory=dict)
    """What the node says of itself."""
    topic: str = ""
    gateway: str = ""

    @property
    def payload(self) -> bytes:
        return b64decode(self.base64) if self.base64 else self.text.encode()


@dataclass(frozen=True, kw_only=True)
class MobileSubscription(Streamed):
    application: str = ""
    topic: str = ""
    node: str = ""
    """Empty: messages of all nodes."""


@dataclass(frozen=True, kw_only=True)
class DiscardedMessage(Record):
    """A message that did not reach its node."""

    id: str = ""
    node: str = ""
    reason: str = ""
    """expired, or evicted from a full store."""
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ApplicationUser(Record):
    """A user that an application has in the network's log."""

    name: str = ""
    """Of the application."""
    topics: Sequence[str] = ()
    """Which it may listen to."""
    group: str = ""
    """In which it listens; empty without topics."""
    to: Sequence[str] = ()
    """Whom it may send to: nodes, groups, all, mqtt."""
    log: str = field(default="", repr=False)
    """The address of the log with the user and its password: in the answer of ``grant_user`` only."""
    is_kept: bool | None = None
    """There: whether the engine of the log has the user when it starts again."""


@dataclass(frozen=True, kw_only=True)
class Heard:
    """An event of a stream. ``kind`` is notification or reset: messages before it are missing."""

    id: str
    """Resumes the stream after this event."""
    kind: str
    subscription: str = ""
    message: MobileMessage | None = None
    raw: Mapping[str, Any] = field(repr=False, default_factory=dict)


def path(network: str, *parts: str) -> str:
    return at("networks", network, "mobile", *parts)


def sending(network: str, to: Raw, payload: Payload, more: Raw, key: str) -> Call:
    what = {"text": payload} if isinstance(payload, str) else {"base64": b64encode(payload).decode()}
    return call("POST", path(network, "send"), body={**to, **what, **told(more)}, key=key)


def subscribing(network: str, more: Raw, key: str) -> Call:
    return call("POST", path(network, "subscriptions"), body=told(more), key=key or True)


def event(one: Event) -> Heard:
    raw = json.loads(one.data)
    message = MobileMessage.of(raw["message"]) if one.name == NOTIFICATION else None
    return Heard(id=one.id, kind=one.name, subscription=str(raw.get("subscription", "")), message=message, raw=raw)
