"""Requests and answers about a network of SilboPS. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from waxwing.calls import Call, at, call
from waxwing.hosted import NOTIFICATION, Streamed, about, told
from waxwing.records import Raw, Record
from waxwing.sse import Event

Constraint = tuple[str, str, Any] | Sequence[Any]
"""Name, operator, value."""


@dataclass(frozen=True, kw_only=True)
class PubsubClient(Record):
    """A client of this account, that the server has in the network."""

    name: str = ""
    context: Raw | None = None
    """None: it was not set."""
    is_publisher: bool = False
    """Whether it advertises."""
    variables: tuple[str, ...] = ()
    """Of its context, that go with its publications."""
    broker: int | None = None
    """None: any."""
    identity: str = ""
    """As brokers know it."""
    created: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class PubsubSubscription(Streamed):
    """``raw`` has the failures of its webhook."""

    client: str = ""
    where: Sequence[Any] = ()
    """Constraints: name, operator, value."""
    scope: str = ""
    """Its function of context; empty: it has none."""
    state: str = ""
    """active, refused"""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Published(Record):
    client: str = ""
    broker: str = ""
    """Which has received it."""


@dataclass(frozen=True, kw_only=True)
class Why(Record):
    """Who would get a publication, broker by broker."""

    delivered: bool = False
    """Whether the subscriber, or anyone, would get it."""
    subscription: str = ""
    """The one that was asked about; empty: none."""
    brokers: Sequence[Raw] = ()
    """Mappings of ``broker``, ``to``, ``rows``, ``total`` and ``told``. A row's ``says_no`` is the constraint or the
    part of a function that is against it, or None; its link has ``away_s``, as those of ``to``: seconds since the
    client left, or None. What goes to one that has left is kept for a while."""

    @property
    def says_no(self) -> tuple[str, ...]:
        """Every objection, from the publisher's broker on; of ``subscription`` only, unless brokers know it by numbers
        that the server does not tell, as in the siena arm."""
        rows = [row for broker in self.brokers for row in broker["rows"]]
        own = {_known_as(row) for row in rows if self.subscription and row["subscription"] == self.subscription}
        asked = (row for row in rows if not own or _known_as(row) in own)
        return tuple(dict.fromkeys(row["says_no"] for row in asked if row["says_no"]))


@dataclass(frozen=True, kw_only=True)
class Notified:
    """An event of a stream. ``kind`` is one of ``hosted.EVENTS``; ``reset``: events before it are missing."""

    id: str
    """Resumes the stream after this event."""
    kind: str
    subscription: str = ""
    """Empty of a ``reset``."""
    notification: Raw = field(default_factory=dict)
    publisher: str = ""
    """The key of its publisher."""
    number: int = 0
    """Rises with each of its publisher."""
    end: str = ""
    """Of an ``ended``: refused, removed."""
    reason: str = ""
    raw: Mapping[str, Any] = field(repr=False, default_factory=dict)


def _known_as(row: Mapping[str, Any]) -> tuple[str, int]:
    """By all brokers, which have rows of one subscription each."""
    return row["subscriber"], row["id"]


def path(network: str, *parts: str) -> str:
    return at("networks", network, "pubsub", *parts)


def setting(network: str, name: str, context: Raw | None, broker: int | None, *, anywhere: bool) -> Call:
    body = {**told({"context": context, "broker": broker}), **({"broker": None} if anywhere else {})}
    return call("PUT", path(network, "clients", name), body=body)


def subscribing(network: str, where: Iterable[Constraint], more: Raw, key: str) -> Call:
    body = {"where": [list(one) for one in where], **told(more)}
    return call("POST", path(network, "subscriptions"), body=body, key=key or True)


def publishing(network: str, notification: Raw, more: Raw, key: str) -> Call:
    return call("POST", path(network, "publish"), body={"notification": notification, **told(more)}, key=key)


def asking(network: str, notification: Raw, more: Raw) -> Call:
    return call("POST", path(network, "why"), body={"notification": notification, **told(more)})


def event(one: Event) -> Notified:
    raw = json.loads(one.data)
    of = {name: raw[name] for name in ("notification", "publisher", "number")} if one.name == NOTIFICATION else {}
    return Notified(id=one.id, kind=one.name, raw=raw, **of, **about(raw))
