"""One class for each message. ``table`` describes their fields; this module has names, types and defaults.

``req`` above 0 is answered by ACK, NACK or the answer of its own; 0 by NACK only.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from overlay.systems.federation.wire import values as v
from overlay.systems.federation.wire.passing import Forward as Forward
from overlay.systems.federation.wire.passing import Notify as Notify
from overlay.systems.federation.wire.passing import Publish as Publish

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from overlay.core.frozen import dataclass


UNNUMBERED = "What is asked needs a number for its answer."
"""Why LOOKUP, FIND and QUERY with ``req`` 0 are BAD: 0 is answered by NACK only."""


class Code(IntEnum):
    """In NACK and ANSWER, where ``GOOD`` is no error."""

    GOOD = 0
    UNKNOWN = 1
    INVALID = 2
    BAD = 3
    LIMIT = 4
    NO_PROVIDER = 5
    CYCLE = 6
    TIMEOUT = 7
    DENIED = 8


class Whole(IntEnum):
    """What a table message has."""

    CHANGES = 0
    LAST = 1
    """A complete table, or its last part."""
    PART = 2
    """A part, and more follows."""


class Table(IntEnum):
    SUBSCRIPTIONS = 1
    REGISTRATIONS = 2


@dataclass(frozen=True, slots=True)
class Register:
    req: int
    advertisement: v.Advertisement


@dataclass(frozen=True, slots=True)
class KeepAlive:
    number: int
    """The registration; from a broker to the registration service, the epoch that it has."""


@dataclass(frozen=True, slots=True)
class Unregister:
    req: int
    registration: int


@dataclass(frozen=True, slots=True)
class Subscribe:
    req: int
    added: tuple[v.Subscription, ...] = ()
    removed: tuple[v.SubscriptionId, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    added: tuple[v.Subscription, ...] = ()
    withdrawn: tuple[v.SubscriptionId, ...] = ()


@dataclass(frozen=True, slots=True)
class Lookup:
    req: int
    scope: str


@dataclass(frozen=True, slots=True)
class Found:
    req: int
    found: tuple[v.Found, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    req: int
    entity_type: str | None
    entity_id: str | None
    scopes: tuple[str, ...]
    left_ms: int


@dataclass(frozen=True, slots=True)
class Answer:
    req: int
    code: Code
    notifications: tuple[v.Notification, ...] = ()


@dataclass(frozen=True, slots=True)
class Hello:
    broker: v.BrokerAdvertisement
    epoch: int
    subscriptions: v.Summary
    """Of what the sender holds from the receiver."""
    registrations: v.Summary


@dataclass(frozen=True, slots=True)
class SubTable:
    version: int
    whole: Whole
    added: tuple[v.Subscription, ...] = ()
    removed: tuple[v.SubscriptionId, ...] = ()


@dataclass(frozen=True, slots=True)
class RegTable:
    version: int
    whole: Whole
    added: tuple[v.Entry, ...]
    removed: tuple[str, ...]
    summary: v.Summary
    """Of all entries that the receiver now has from the sender."""


@dataclass(frozen=True, slots=True)
class Tables:
    wanted: Table


@dataclass(frozen=True, slots=True)
class Broker:
    req: int
    broker: v.BrokerAdvertisement
    last_epoch: int
    is_registering: bool


@dataclass(frozen=True, slots=True)
class Brokers:
    epoch: int
    whole: Whole
    brokers: tuple[v.BrokerAdvertisement, ...]
    gone: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    """Always all."""


@dataclass(frozen=True, slots=True)
class Find:
    req: int
    position: tuple[float, float] | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Discover:
    nonce: int


@dataclass(frozen=True, slots=True)
class Here:
    nonce: int
    broker: v.BrokerAdvertisement


@dataclass(frozen=True, slots=True)
class Ack:
    req: int


@dataclass(frozen=True, slots=True)
class Nack:
    kind: int
    """Of the message refused."""
    req: int
    code: Code
    words: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    is_up: bool


Message = (
    Register | KeepAlive | Unregister | Subscribe | Publish | Notify | Offer | Lookup | Found | Query | Answer
) | (Hello | SubTable | RegTable | Forward | Tables | Broker | Brokers | Find | Discover | Here | Ack | Nack | Link)
