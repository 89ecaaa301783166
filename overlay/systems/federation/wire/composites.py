"""The values in messages as types of fields (seed 001, details, section 1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from overlay.core.errors import shown
from overlay.messages.errors import Reason, refuse
from overlay.messages.kinds import (
    ADDRESS,
    BOOLEAN,
    FLOAT,
    SHORT_TEXT,
    TIME,
    Kind,
    U,
    choice,
    elements,
    listed,
    optional,
    pair,
    record,
    short,
    text,
    unsigned,
)
from overlay.systems.federation.language.tree import Expression, InvalidExpression, read, written
from overlay.systems.federation.wire import values as v
from overlay.systems.federation.wire.notes import NOTIFICATION
from overlay.systems.federation.wire.sharing import shared

MAX_SCOPES = 16
"""Of a subscription."""
MAX_SERVED = 64
"""Scopes of a client, and of a query."""
URL = text(512)


def read_sid(value: Any) -> v.SubscriptionId:
    client, number = elements(value, 2, 2)
    return v.SubscriptionId(short(client), unsigned(number))


def _expression(value: Any) -> Expression:
    try:
        return read(value)
    except InvalidExpression as error:
        refuse(Reason.LIMIT if error.is_limit else Reason.EXPRESSION, error.sentence)


def _needs(value: Any) -> dict[str, tuple[str, ...]]:
    if type(value) is not dict:
        refuse(Reason.TYPE, f"{shown(value)} is no structure of scopes")
    if len(value) > MAX_SERVED:
        refuse(Reason.COUNT, f"{len(value)} scopes need others, more than {MAX_SERVED}")
    return {short(scope): SERVED.read(needed) for scope, needed in value.items()}


SERVED = listed(SHORT_TEXT, 0, MAX_SERVED)
SID = Kind("*sid*", read_sid, parts=(("client", SHORT_TEXT), ("number", U)))
"""Written as it is: an id is a tuple."""
SIDS = listed(SID)
EXPRESSION = Kind("*expr*", _expression, written)
SUBSCRIPTION = record(
    "*sub*",
    lambda sid, scopes, expression, expires, priority, once: v.Subscription(
        sid, scopes, expires, expression, priority, once
    ),
    (SID, listed(SHORT_TEXT, 1, MAX_SCOPES), EXPRESSION, TIME, choice(v.Priority), BOOLEAN),
    ("id", "scopes", "expression", "expires", "priority", "once"),
)
ADVERTISEMENT = record(
    "*adv*",
    v.Advertisement,
    (SHORT_TEXT, U, choice(v.Role), URL, SERVED, Kind("map of scope to array of scopes", _needs, dict)),
    ("id", "registration", "role", "url", "scopes", "needs"),
)
POSITION = optional(pair("[x, y]", FLOAT, ("x", "y")))
CANDIDATE = record("[id, delay µs, up]", v.Candidate, (SHORT_TEXT, U, BOOLEAN), ("broker", "delay_us", "is_up"))
BROKER = record(
    "*badv*",
    v.BrokerAdvertisement,
    (SHORT_TEXT, ADDRESS, BOOLEAN, POSITION, text(64), listed(CANDIDATE)),
    ("id", "endpoint", "is_mobile", "position", "domain", "candidates"),
)
SUMMARY = record("*sum*", v.Summary, (U, U), ("count", "total"))
FOUND = record("[id, endpoint, url]", v.Found, (SHORT_TEXT, ADDRESS, URL), ("id", "endpoint", "url"))
EDGE = pair("[id, id]", SHORT_TEXT)


@lru_cache(maxsize=8)
def entry(advertisement: Kind) -> Kind:
    """One for all that read and check the same kind, so that they share entries."""
    return shared(
        record(
            "*entry*",
            v.Entry,
            (advertisement, ADDRESS, SHORT_TEXT, U),
            ("advertisement", "endpoint", "home", "version"),
        )
    )


def publication(notification: Kind, make: Callable[..., Any] = v.Publication) -> Kind:
    """``make`` gets what ``notification`` reads, and the subscriptions."""
    return record("[*note*, [*sid*]]", make, (notification, SIDS), ("notification", "satisfied"))


ENTRY = entry(ADVERTISEMENT)
PUBLICATION = publication(NOTIFICATION)
