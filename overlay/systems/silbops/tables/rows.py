"""Rows of tables: a row for each key and link, which only messages of that link change."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple, cast

from overlay.systems.silbops.content.filters import Filter, covers
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.compiling import Function
from overlay.systems.silbops.scope.tree import PUBLISHER, Tree, variables

Owner = bytes
"""16 bytes that the broker gave a client. Clients are never told them."""


class Key(NamedTuple):
    """A named tuple: compiled code unpacks a plain pair and creates a new one each time it stores it."""

    owner: Owner
    number: int
    """The owner's, of the subscription or advertisement."""


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
        return self.key.owner

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
        return self.key.owner


class Context(NamedTuple):
    version: int
    values: Values


class Known:
    """What is known of a client. Its rows refer to it, so testing their functions needs no look-up."""

    __slots__ = ("context", "links", "owner", "readers", "slot", "values")

    def __init__(self, owner: Owner, slot: int) -> None:
        self.owner = owner
        self.slot = slot
        """Of its numbers in ``Columns``."""
        self.context: Context | None = None
        self.values: Values | None = None
        """Of the context."""
        self.links: tuple[Link, ...] = ()
        """That the context came by."""
        self.readers = 0
        """Rows that refer to it."""


class Port:
    """A link, and all that came by it."""

    __slots__ = ("advertisements", "link", "subscriptions")

    def __init__(self, link: Link) -> None:
        self.link = link
        self.subscriptions: dict[Key, Row] = {}
        self.advertisements: dict[Key, Advertisement] = {}

    def __bool__(self) -> bool:
        return bool(self.subscriptions or self.advertisements)


class Row:
    """A subscription that came by a link."""

    __slots__ = ("function", "known", "number", "older", "port", "subscription")

    def __init__(self, subscription: Subscription, port: Port, function: Function | None, known: Known | None) -> None:
        """``known``: its owner, if it has a function."""
        self.subscription, self.port, self.function, self.known = subscription, port, function, known
        self.number = -1
        """In the index, in columns and in ``Numbered``."""
        self.older: Row | None = None
        """With the same key, by another link."""


class Numbered:
    """Rows by their number. A number is free again once its row is gone."""

    def __init__(self) -> None:
        self._rows: list[Row | None] = []
        self._free: list[int] = []

    def enter(self, row: Row) -> int:
        if self._free:
            row.number = self._free.pop()
            self._rows[row.number] = row
        else:
            row.number = len(self._rows)
            self._rows.append(row)
        return row.number

    def leave(self, row: Row) -> None:
        self._rows[row.number] = None
        self._free.append(row.number)

    def of(self, numbers: Iterable[int]) -> list[Row]:
        rows = self._rows
        return [cast("Row", rows[number]) for number in numbers]
