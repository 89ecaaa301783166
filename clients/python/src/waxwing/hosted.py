"""What systems share whose clients the server hosts: subscriptions, and the stream of their notifications. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from waxwing.calls import Call, at, call
from waxwing.errors import InvalidMessage
from waxwing.records import Raw, Record
from waxwing.sse import Event

NOTIFICATION, ENDED, RESET = EVENTS = ("notification", "ended", "reset")
"""Events of a stream; others are about the stream itself."""


@dataclass(frozen=True, kw_only=True)
class Streamed(Record):
    """A subscription. ``raw`` has the failures of its webhook."""

    id: str = ""
    url: str = ""
    notified: int = 0
    """Notifications received."""
    delivered: int = 0
    """Of these, to its URL."""
    given_up: int = 0
    """Of these, not delivered."""
    created: datetime | None = None
    stream: str = field(default="", repr=False)

    @property
    def last_id(self) -> str:
        """Of a new one: the event before its first notification, where ``watch`` begins. Else empty."""
        return parse_qs(urlsplit(self.stream).query).get("last_event_id", [""])[0]


def path(network: str, *parts: str) -> str:
    return at("networks", network, *parts)


One = TypeVar("One", bound=Streamed)


def ids_of(subscriptions: One | str | Iterable[One | str]) -> dict[str, str]:
    """The ``last_id`` of each, by id. Raises ``InvalidMessage``."""
    several = [subscriptions] if isinstance(subscriptions, Streamed | str) else subscriptions
    found = {one if isinstance(one, str) else one.id: "" if isinstance(one, str) else one.last_id for one in several}
    if not found:
        raise InvalidMessage("there is no subscription to watch")
    return found


def id_of(subscription: Streamed | str) -> str:
    """``subscription`` is its id, or what ``subscribe`` returned."""
    return subscription if isinstance(subscription, str) else subscription.id


def watching(network: str, ids: Iterable[str], last_id: str) -> Call:
    headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_id} if last_id else {})}
    return call("GET", path(network, "stream"), query={"subscription": list(ids)}, headers=headers)


def ended(one: Event) -> str | None:
    """The subscription that has ended with this event."""
    return str(json.loads(one.data)["subscription"]) if one.name == ENDED else None


def told(fields: Raw) -> dict[str, Any]:
    """Those that are given."""
    return {name: value for name, value in fields.items() if value is not None}


def about(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What every event says about its subscription."""
    return {name: str(raw[name]) for name in ("subscription", "end", "reason") if name in raw}
