"""What the cores of clients report, in one ordered list."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from overlay.systems.federation.wire.messages import Code
from overlay.systems.federation.wire.values import Found, Notification, NotificationId, Subscription, SubscriptionId


class Registered(NamedTuple):
    """It is registered, and its live subscriptions were sent again."""

    broker: str
    registration: int


class Lost(NamedTuple):
    """It is registered no more, and looks for a broker by itself, until ``leave``."""

    broker: str
    reason: str
    """``unknown``, a reason of the channel, ``silent``, or the name of the code that refused it, such as ``limit``."""
    words: str = ""
    """What the broker said of it."""


class Left(NamedTuple):
    """After ``leave``: nothing more is sent."""


class LinkChanged(NamedTuple):
    """The mobile broker lost its connection to other brokers, or has it again."""

    is_up: bool


class Accepted(NamedTuple):
    """The broker has these subscriptions."""

    numbers: tuple[int, ...]


class End(StrEnum):
    """Why a subscription ended."""

    SATISFIED = "satisfied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    REFUSED = "refused"


class Ended(NamedTuple):
    """A subscription is live no more."""

    number: int
    end: End
    code: Code = Code.GOOD
    words: str = ""


class Verdict(StrEnum):
    """What a notification is for one subscription, by the consumer's own records."""

    FIRST = "first"
    """It satisfies the subscription, which had not got it before."""
    DUPLICATE = "duplicate"
    LATE = "late"
    """The subscription had just expired or been withdrawn, so that it may have been sent before."""
    SPURIOUS = "spurious"
    """There is no such subscription, or the notification does not satisfy it."""


class Receipt(NamedTuple):
    """Of a notification for one subscription."""

    number: int
    """Of the subscription."""
    verdict: Verdict
    copy: int
    """1 for the first that came of this notification for this subscription, 2 for the next."""


class Notified(NamedTuple):
    """A notification has come."""

    notification: Notification
    receipts: tuple[Receipt, ...]
    """Of the subscriptions that it names, and that are this client's."""
    is_cached: bool
    hops: int


class Answered(NamedTuple):
    """A lookup or query has ended. ``code`` is ``TIMEOUT`` where no answer came in time."""

    req: int
    code: Code
    found: tuple[Found, ...] = ()
    notifications: tuple[Notification, ...] = ()
    words: str = ""


class Offered(NamedTuple):
    """Subscriptions to watch, and those to watch no longer."""

    added: tuple[Subscription, ...]
    withdrawn: tuple[SubscriptionId, ...]


class Queried(NamedTuple):
    """What is to be answered by ``Provider.answer``, of a provider that answers later."""

    number: int
    """Of the question, at this provider."""
    scopes: tuple[str, ...]
    """Those that it has registered."""
    entity_type: str | None
    """None is any."""
    entity_id: str | None
    left_ms: int
    """The asker waits so long for the answer."""
    needed: tuple[Notification, ...]
    """Of the scopes that these need, as they were registered."""


class Replied(NamedTuple):
    """A QUERY was answered with what ``produce`` made."""

    asker: str
    req: int
    """Of the QUERY."""
    asked: int
    """When it came, ns."""
    code: Code
    notifications: tuple[Notification, ...]


class Published(NamedTuple):
    """A notification was sent for the first time."""

    notification: Notification
    satisfied: tuple[SubscriptionId, ...]
    """What the provider was offered, and it satisfies."""


class PublishEnded(NamedTuple):
    """The broker has accepted a notification (``GOOD``), refused it, or not answered in time (``TIMEOUT``)."""

    id: NotificationId
    code: Code
    tries: int
    words: str = ""


Event = (
    Registered
    | Lost
    | Left
    | LinkChanged
    | Accepted
    | Ended
    | Notified
    | Answered
    | Offered
    | Queried
    | Replied
    | Published
    | PublishEnded
)
Answer = Any
"""The message that answered a request; None without one."""
