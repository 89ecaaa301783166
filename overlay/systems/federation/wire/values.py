"""The values in messages. Times of validity are wall-clock milliseconds since 1970."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import IntEnum
from typing import TYPE_CHECKING

from overlay.systems.federation.wire.ids import NotificationId as NotificationId
from overlay.systems.federation.wire.ids import SubscriptionId as SubscriptionId
from overlay.systems.federation.wire.passing import Data as Data
from overlay.systems.federation.wire.passing import Notification as Notification
from overlay.systems.federation.wire.passing import Priority as Priority
from overlay.systems.federation.wire.passing import Publication as Publication
from overlay.systems.federation.wire.passing import Subscription as Subscription

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from overlay.core.frozen import dataclass


class Role(IntEnum):
    CONSUMER = 0
    PROVIDER = 1


@dataclass(frozen=True, slots=True)
class Advertisement:
    """*adv*: a client's registration."""

    id: str
    registration: int
    """Rises with each new registering, also over restarts."""
    role: Role
    url: str = ""
    scopes: tuple[str, ...] = ()
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By scope, the scopes whose data a provider needs first."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Entry:
    """*entry* of a registration table."""

    advertisement: Advertisement
    endpoint: str
    """``host:port``"""
    home: str
    """The client's broker."""
    version: int
    hash: int | None = field(default=None, init=False, compare=False, repr=False)
    """For sums of tables, computed at most once. Empty until then."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A link that a broker may use."""

    broker: str
    delay_us: int
    is_up: bool


@dataclass(frozen=True, slots=True)
class BrokerAdvertisement:
    """*badv*: a broker's registration."""

    id: str
    endpoint: str
    is_mobile: bool = False
    position: tuple[float, float] | None = None
    domain: str = ""
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """*sum* of a table: the number of its rows, and the sum of their hashes modulo 2^64."""

    count: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A provider or broker that was asked for."""

    id: str
    endpoint: str
    url: str = ""
