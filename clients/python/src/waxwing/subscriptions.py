"""What subscriptions of all systems have in common: their records, and the stream of what comes. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from waxwing.calls import Call, at, call
from waxwing.errors import InvalidMessage
from waxwing.records import Raw, Record

NOTIFICATION, ENDED, RESET = EVENTS = ("notification", "ended", "reset")
"""Events of a stream; others are about the stream itself."""


@dataclass(frozen=True, kw_only=True)
class Subscribed(Record):
    """``raw`` has the failures of its webhook."""

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


def ids_of(subscriptions: Subscribed | str | Iterable[Subscribed | str]) -> dict[str, str]:
    """The ``last_id`` of each, by id. Raises ``InvalidMessage``."""
    several = [subscriptions] if isinstance(subscriptions, Subscribed | str) else subscriptions
    found = {one if isinstance(one, str) else one.id: "" if isinstance(one, str) else one.last_id for one in several}
    if not found:
        raise InvalidMessage("there is no subscription to watch")
    return found


def watching(network: str, ids: Iterable[str], last_id: str) -> Call:
    headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_id} if last_id else {})}
    return call("GET", at("networks", network, "stream"), query={"subscription": list(ids)}, headers=headers)


def told(fields: Raw) -> dict[str, Any]:
    """Those that are given."""
    return {name: value for name, value in fields.items() if value is not None}
