"""Rows of tables: a row for each key and link, which only messages of that link change."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from overlay.systems.silbops.content.filters import Filter, covers
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.compiling import Function
from overlay.systems.silbops.scope.tree import PUBLISHER, Tree, variables

Owner = bytes
"""16 bytes that the broker gave a client. Clients are never told them."""
Key = tuple[Owner, int]
"""The owner, and its number of the subscription or advertisement."""


class Kind(IntEnum):
    BROKER = 0
    CLIENT = 1
    MOVED = 2
    """A client that is attached elsewhere by now: what still comes here is passed on."""


class Link(NamedTuple):
    kind: Kind
    name: str


def neighbour(name: str) -> Link:
    return Link(Kind.BROKER, name)


class Subscription(NamedTuple):
    key: Key
    filter: Filter
    scope: Tree | None
    """The function of context, None without one."""

    @property
    def owner(self) -> Owner:
        return self.key[0]

    @property
    def wanted(self) -> frozenset[str]:
        """Variables without which it cannot be true, of a publisher's context."""
        return frozenset(variables(self.scope, PUBLISHER)) if self.scope is not None else frozenset()

    def covers(self, other: Subscription) -> bool:
        """Whether a broker that knows this one need not know ``other``.

        Contexts are apart from subscriptions, so a function covers only itself, and only for the same owner.
        """
        is_same = self.scope is None or (self.owner == other.owner and self.scope == other.scope)
        return is_same and covers(self.filter, other.filter)


class Advertisement(NamedTuple):
    key: Key
    filter: Filter
    variables: frozenset[str]
    """Of the publisher's context, that may go with its notifications (Acp)."""
    subscriber_variables: frozenset[str] | None = None
    """Of subscribers' contexts, that the publisher's functions may read (Acs). None: it has no functions."""

    @property
    def owner(self) -> Owner:
        return self.key[0]


class Context(NamedTuple):
    version: int
    values: Values


@dataclass(eq=False, slots=True)
class Known:
    """What is known of a client. Its rows refer to it, so testing their functions needs no look-up."""

    owner: Owner
    slot: int
    """Of its numbers in ``Columns``."""
    context: Context | None = None
    values: Values | None = None
    """Of the context."""
    links: tuple[Link, ...] = ()
    """That the context came by."""
    readers: int = 0
    """Rows that refer to it."""


@dataclass(eq=False, slots=True)
class Port:
    """A link, and all that came by it."""

    link: Link
    subscriptions: dict[Key, Row] = field(default_factory=dict)
    advertisements: dict[Key, Advertisement] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.subscriptions or self.advertisements)


@dataclass(eq=False, slots=True)
class Row:
    """A subscription that came by a link. Each is itself only, so it can be a key of the index."""

    subscription: Subscription
    port: Port
    function: Function | None
    known: Known | None
    """Its owner, if it has a function."""
    slot: int
    """Of the owner."""
