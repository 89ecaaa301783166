"""Notifications, subscriptions and advertisements as ``ctxEl``, ``ctxSubscr`` and ``ctxAdv``.

What is read passes the checks of messages. A number that a client leaves to its broker is 0, and is not written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar
from xml.etree.ElementTree import Element

from overlay.core.errors import shown
from overlay.messages.errors import BadMessage
from overlay.systems.federation.contextml.constraints import read_constraint, write_constraint
from overlay.systems.federation.contextml.scalars import read_structure, read_time, write_structure, write_time
from overlay.systems.federation.contextml.xml import (
    attributes,
    by_tag,
    children,
    escaped,
    plain_text,
    refuse,
    text_of,
    written,
)
from overlay.systems.federation.language.tree import EVERYTHING
from overlay.systems.federation.wire.composites import ADVERTISEMENT, SID, SUBSCRIPTION
from overlay.systems.federation.wire.notes import read_notification
from overlay.systems.federation.wire.values import (
    Advertisement,
    Notification,
    Priority,
    Role,
    Subscription,
    SubscriptionId,
)

VERSION = "1.0"
"""Of the format."""
_KINDS = {"stream": False, "once": True}
_PRIORITIES = {one.name.lower(): one.value for one in Priority}
_ROLES = {one.name.lower(): one.value for one in Role}
_NUMBER = re.compile("0|[1-9][0-9]{0,19}")
T = TypeVar("T")


class Flag(StrEnum):
    """What an advertisement is sent for."""

    REGISTER = "register"
    KEEP_ALIVE = "keepalive"
    UNREGISTER = "unregister"


class Announcement(NamedTuple):
    advertisement: Advertisement
    flag: Flag = Flag.REGISTER


# ---- ctxEl


def read_context(element: Element) -> Notification:
    attributes(element, (), ("n",))
    parts = by_tag(element, ("contextProvider", "entity", "scope", "timestamp", "expires", "dataPart"))
    provider = attributes(parts["contextProvider"], ("id",), ("v",))
    entity = attributes(parts["entity"], ("type", "id"))
    for tag in ("contextProvider", "entity"):
        _check_empty(parts[tag])
    attributes(parts["dataPart"])
    array = [
        [provider["id"], number_of(element, "n")],
        entity["type"],
        entity["id"],
        plain_text(parts["scope"]),
        read_time(plain_text(parts["timestamp"])),
        read_time(plain_text(parts["expires"])),
        read_structure(parts["dataPart"]),
    ]
    return checked(read_notification, array, "ctxEl")


def write_context(one: Notification) -> str:
    content = (
        written("contextProvider", id=one.id.provider, v=VERSION),
        written("entity", type=one.entity_type, id=one.entity_id),
        written("scope", escaped(one.scope)),
        written("timestamp", write_time(one.timestamp)),
        written("expires", write_time(one.expires)),
        write_structure("dataPart", one.data),
    )
    return written("ctxEl", "".join(content), **_number("n", one.id.number))


# ---- ctxSubscr


def read_subscription(element: Element) -> Subscription:
    found = attributes(element, ("id", "expires"), ("priority", "kind"))
    parts = by_tag(element, ("scopes",), ("constraint",))
    array = [
        sid_of(found["id"]),
        read_scopes(parts["scopes"]),
        read_constraint(parts["constraint"]) if "constraint" in parts else ["and"],
        read_time(found["expires"]),
        chosen("priority", found.get("priority", "normal"), _PRIORITIES),
        chosen("kind", found.get("kind", "stream"), _KINDS),
    ]
    subscription: Subscription = checked(SUBSCRIPTION.read, array, "ctxSubscr")
    return subscription


def write_subscription(one: Subscription) -> str:
    content = write_scopes(one.scopes)
    if one.expression != EVERYTHING:
        content += write_constraint(one.expression)
    return written(
        "ctxSubscr",
        content,
        id=sid_text(one.id),
        expires=write_time(one.expires),
        priority=one.priority.name.lower(),
        kind="once" if one.once else "stream",
    )


def sid_of(text: str) -> list[Any]:
    """``c3-17`` is number 17 of client ``c3``."""
    client, dash, number = text.rpartition("-")
    if not dash:
        refuse(f"{shown(text)} is no id such as c3-17")
    return [client, _read_number(number)]


def read_sid(element: Element) -> SubscriptionId:
    """Of a ``ctxSubscr`` in ``ctxUnsubscr``, which has nothing else."""
    _check_empty(element)
    sid: SubscriptionId = checked(SID.read, sid_of(attributes(element, ("id",))["id"]), "ctxSubscr")
    return sid


def sid_text(sid: SubscriptionId) -> str:
    return f"{sid.client}-{sid.number}"


def read_scopes(element: Element) -> list[str]:
    attributes(element)
    return [plain_text(child) for child in children(element, "scope")]


def write_scopes(scopes: Sequence[str]) -> str:
    return written("scopes", "".join(written("scope", escaped(scope)) for scope in scopes))


# ---- ctxAdv


def read_announcement(element: Element) -> Announcement:
    found = attributes(element, ("id", "role"), ("url", "flag", "registration"))
    parts = by_tag(element, (), ("scopes",))
    scopes = children(parts["scopes"], "scope") if "scopes" in parts else []
    needs = {text_of(one): one.attrib["needs"].split() for one in scopes if "needs" in attributes(one, (), ("needs",))}
    array = [
        found["id"],
        number_of(element, "registration"),
        chosen("role", found["role"], _ROLES),
        found.get("url", ""),
        list(map(text_of, scopes)),
        needs,
    ]
    flag = chosen("flag", found.get("flag", Flag.REGISTER), {one.value: one for one in Flag})
    return Announcement(checked(ADVERTISEMENT.read, array, "ctxAdv"), flag)


def write_announcement(advertisement: Advertisement, flag: Flag = Flag.REGISTER) -> str:
    if unknown := advertisement.needs.keys() - set(advertisement.scopes):
        refuse(f"{shown(min(unknown))} needs other scopes, but is not among the scopes")
    scopes = "".join(
        written("scope", escaped(scope), **_needs(advertisement.needs.get(scope))) for scope in advertisement.scopes
    )
    return written(
        "ctxAdv",
        written("scopes", scopes),
        id=advertisement.id,
        role=advertisement.role.name.lower(),
        url=advertisement.url,
        flag=flag.value,
        **_number("registration", advertisement.registration),
    )


def _needs(scopes: Sequence[str] | None) -> dict[str, str]:
    if scopes is None:
        return {}
    for scope in scopes:
        if scope.split() != [scope]:
            refuse(f"the scope {shown(scope)} is needed, but has white space, which separates scopes")
    return {"needs": " ".join(scopes)}


# ---- parts


def chosen(name: str, value: str, choices: dict[str, T]) -> T:
    if value not in choices:
        refuse(f"{name} is {shown(value)}, none of {', '.join(choices)}")
    return choices[value]


def checked(read: Callable[[Any], T], array: Any, what: str) -> T:
    """What ``read`` makes of the array that a message would have."""
    try:
        return read(array)
    except BadMessage as error:
        refuse(f"{what}: {error.sentence}")


def number_of(element: Element, name: str) -> int:
    """Of an attribute; 0 without it."""
    text = element.get(name)
    return 0 if text is None else _read_number(text)


def _read_number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        refuse(f"{shown(text)} is no number of 1 to 20 digits")
    return int(text)


def _number(name: str, number: int) -> dict[str, str]:
    return {name: str(number)} if number else {}


def _check_empty(element: Element) -> None:
    if children(element) or text_of(element):
        refuse(f"{element.tag} must be empty")
