"""What every notification meets on its way, as values and messages: ``values`` and ``messages`` name all of it, too.

Dataclasses with a constructor of their own: compiled, both the constructor and the fields are those of machine code.
Objects are never changed, but for ``Notification.encoded``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, final

from overlay.systems.federation.language.tree import EVERYTHING, Expression
from overlay.systems.federation.wire.ids import NotificationId, SubscriptionId

Data = Mapping[str, Any]
"""Texts, numbers, booleans, structures (``dict``) and arrays (``list``) by name. A notification's never change."""


class Priority(IntEnum):
    LOW = 0
    NORMAL = 1
    HIGH = 2


@final
@dataclass(init=False, unsafe_hash=True, slots=True)
class Subscription:
    """*sub*, σ: what a consumer wants to be notified of."""

    id: SubscriptionId
    scopes: tuple[str, ...]
    expires: int
    expression: Expression
    priority: Priority
    once: bool
    """Whether it ends with its first notification: a query."""

    def __init__(
        self,
        id: SubscriptionId,
        scopes: tuple[str, ...],
        expires: int,
        expression: Expression = EVERYTHING,
        priority: Priority = Priority.NORMAL,
        once: bool = False,
    ) -> None:
        self.id = id
        self.scopes = scopes
        self.expires = expires
        self.expression = expression
        self.priority = priority
        self.once = once


@final
@dataclass(init=False, unsafe_hash=True, slots=True)
class Notification:
    """*note*, ν: context about an entity in a scope."""

    id: NotificationId
    entity_type: str
    entity_id: str
    scope: str
    timestamp: int
    expires: int
    data: Data
    encoded: bytes | None = field(default=None, init=False, compare=False, repr=False)
    """Its MessagePack, written at most once by each broker. Empty until then, None before its limits are checked."""

    def __init__(
        self,
        id: NotificationId,
        entity_type: str,
        entity_id: str,
        scope: str,
        timestamp: int,
        expires: int,
        data: Data,
    ) -> None:
        self.id = id
        self.entity_type = entity_type
        self.entity_id = entity_id
        self.scope = scope
        self.timestamp = timestamp
        self.expires = expires
        self.data = data
        self.encoded = None


@final
@dataclass(init=False, unsafe_hash=True, slots=True)
class Publication:
    """A notification, and the subscriptions that its provider believes satisfied."""

    notification: Notification
    satisfied: tuple[SubscriptionId, ...]

    def __init__(self, notification: Notification, satisfied: tuple[SubscriptionId, ...] = ()) -> None:
        self.notification = notification
        self.satisfied = satisfied


@final
@dataclass(init=False, unsafe_hash=True, slots=True)
class Publish:
    req: int
    publications: tuple[Publication, ...]

    def __init__(self, req: int, publications: tuple[Publication, ...]) -> None:
        self.req = req
        self.publications = publications


@final
@dataclass(init=False, unsafe_hash=True, slots=True)
class Forward:
    notification: Notification
    hops: int
    path: tuple[str, ...]
    ended: tuple[SubscriptionId, ...]

    def __init__(
        self,
        notification: Notification,
        hops: int = 0,
        path: tuple[str, ...] = (),
        ended: tuple[SubscriptionId, ...] = (),
    ) -> None:
        self.notification = notification
        self.hops = hops
        self.path = path
        self.ended = ended


@final
@dataclass(init=False, unsafe_hash=True, slots=True)
class Notify:
    notification: Notification
    satisfied: tuple[SubscriptionId, ...]
    is_cached: bool
    hops: int

    def __init__(
        self,
        notification: Notification,
        satisfied: tuple[SubscriptionId, ...],
        is_cached: bool = False,
        hops: int = 0,
    ) -> None:
        self.notification = notification
        self.satisfied = satisfied
        self.is_cached = is_cached
        self.hops = hops
