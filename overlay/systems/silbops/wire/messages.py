"""One class for each message (seed 002, section 6).

``req`` numbers the requests of a client, publications included; OK and REFUSED repeat it. A client is known by the 16
bytes that it chose; its edge broker gives it an ``Owner``, which it is never told.

What is one value in tables, such as a subscription, is several fields of its message: properties give them, and ``of``
makes the message from them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.tree import Tree
from overlay.systems.silbops.tables.rows import Advertisement, Context, Key, Owner, Subscription

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from overlay.core.frozen import dataclass

Client = bytes
"""16 bytes that a client chose."""


class Code(IntEnum):
    """In REFUSED."""

    MALFORMED = 1
    TOO_LARGE = 2
    UNKNOWN_ID = 3
    LIMIT = 4
    BAD_SCOPE = 5
    NOT_ATTACHED = 6
    NOT_ADVERTISED = 7


class Mode(IntEnum):
    NEW = 0
    RESUME = 1


# ---- between a client and its broker


@dataclass(frozen=True, slots=True)
class Attach:
    client: Client
    mode: Mode = Mode.NEW
    old: str | None = None
    """The broker to resume from; None: this one."""


@dataclass(frozen=True, slots=True)
class Attached:
    is_resumed: bool


@dataclass(frozen=True, slots=True)
class SetCtx:
    req: int
    values: Values


@dataclass(frozen=True, slots=True)
class Advertise:
    req: int
    id: int
    filter: Filter
    variables: frozenset[str] = frozenset()
    """Of the publisher's context, that may go with its notifications (Acp)."""
    subscriber_variables: frozenset[str] | None = None
    """Of subscribers' contexts, that its functions may read (Acs)."""
    ttl_ms: int = 0
    """Validity; 0: none is set."""


@dataclass(frozen=True, slots=True)
class Unadvertise:
    req: int
    id: int


@dataclass(frozen=True, slots=True)
class Subscribe:
    req: int
    id: int
    filter: Filter
    scope: Tree | None = None
    """The function of context (fcp)."""
    ttl_ms: int = 0


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    req: int
    id: int


@dataclass(frozen=True, slots=True)
class Publish:
    number: int
    notification: Values
    context: Values
    """Of the publisher (cvp)."""
    scope: Tree | None = None
    """The publisher's function of subscribers' contexts (Fcs)."""


class Passed(NamedTuple):
    """What a client's new broker needs to test what its old one passes on: the old one's context may be older."""

    owner: Owner
    context: Values
    """The publisher's, cut to what its advertisements allow."""
    scope: Tree | None
    """The publisher's function of subscribers' contexts."""


@dataclass(frozen=True, slots=True)
class Notify:
    publisher: int
    """BLAKE2b-64 of the publisher's owner."""
    number: int
    notification: Values
    ids: tuple[int, ...]
    """Of the client's subscriptions that it satisfies, in order."""
    passed: Passed | None = None
    """Where a client's old broker passes it on to the new one. None to clients."""


@dataclass(frozen=True, slots=True)
class Ok:
    req: int


@dataclass(frozen=True, slots=True)
class Refused:
    req: int
    code: Code
    text: str = ""


# ---- between brokers


@dataclass(frozen=True, slots=True)
class Peer:
    broker: str
    epoch: int
    version: int


@dataclass(frozen=True, slots=True)
class Adv:
    advertisement: Advertisement
    ttl_ms: int = 0

    @property
    def key(self) -> Key:
        return self.advertisement.key

    @property
    def filter(self) -> Filter:
        return self.advertisement.filter

    @property
    def variables(self) -> frozenset[str]:
        return self.advertisement.variables

    @property
    def subscriber_variables(self) -> frozenset[str] | None:
        return self.advertisement.subscriber_variables

    @classmethod
    def of(
        cls,
        key: Key,
        filter: Filter,
        variables: frozenset[str],
        subscriber_variables: frozenset[str] | None,
        ttl_ms: int,
    ) -> Adv:
        return cls(Advertisement(key, filter, variables, subscriber_variables), ttl_ms)


@dataclass(frozen=True, slots=True)
class Unadv:
    key: Key


@dataclass(frozen=True, slots=True)
class Ctx:
    owner: Owner
    context: Context

    @property
    def version(self) -> int:
        return self.context.version

    @property
    def values(self) -> Values:
        return self.context.values

    @classmethod
    def of(cls, owner: Owner, version: int, values: Values) -> Ctx:
        return cls(owner, Context(version, values))


@dataclass(frozen=True, slots=True)
class Sub:
    subscription: Subscription
    ttl_ms: int = 0

    @property
    def owner(self) -> Owner:
        return self.subscription.owner

    @property
    def id(self) -> int:
        return self.subscription.key.number

    @property
    def filter(self) -> Filter:
        return self.subscription.filter

    @property
    def scope(self) -> Tree | None:
        return self.subscription.scope

    @classmethod
    def of(cls, owner: Owner, id: int, filter: Filter, scope: Tree | None, ttl_ms: int) -> Sub:
        return cls(Subscription(Key(owner, id), filter, scope), ttl_ms)


@dataclass(frozen=True, slots=True)
class Unsub:
    key: Key

    @property
    def owner(self) -> Owner:
        return self.key.owner

    @property
    def id(self) -> int:
        return self.key.number

    @classmethod
    def of(cls, owner: Owner, id: int) -> Unsub:
        return cls(Key(owner, id))


@dataclass(frozen=True, slots=True)
class Forget:
    owner: Owner


@dataclass(frozen=True, slots=True)
class Pub:
    publisher: Owner
    number: int
    notification: Values
    context: Values | int
    """Of the publisher; or the version of what PCTX told before (``publisher_context: forwarded``)."""
    scope: Tree | None = None


@dataclass(frozen=True, slots=True)
class Pctx:
    """A publisher's context, ahead of its publications."""

    publisher: Owner
    context: Context

    @property
    def version(self) -> int:
        return self.context.version

    @property
    def values(self) -> Values:
        return self.context.values

    @classmethod
    def of(cls, publisher: Owner, version: int, values: Values) -> Pctx:
        return cls(publisher, Context(version, values))


@dataclass(frozen=True, slots=True)
class Move:
    client: Client


UNKNOWN: Owner = bytes(16)
"""The owner in a TAKE about a client that the old broker does not know."""


@dataclass(frozen=True, slots=True)
class Take:
    """What a client had at its old broker. Several, if it is too long for one message."""

    client: Client
    owner: Owner
    context: Context | None
    subscriptions: tuple[Sub, ...]
    advertisements: tuple[Adv, ...]
    kept: tuple[Notify, ...]
    is_last: bool = True

    @classmethod
    def of_unknown(cls, client: Client) -> Take:
        return cls(client, UNKNOWN, None, (), (), ())


Message = (
    Attach | Attached | SetCtx | Advertise | Unadvertise | Subscribe | Unsubscribe | Publish | Notify | Ok | Refused
) | (Peer | Adv | Unadv | Ctx | Sub | Unsub | Forget | Pub | Pctx | Move | Take)
