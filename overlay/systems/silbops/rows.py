"""What clients and brokers report of a run, as rows of ``TABLES``. The measures are made of them.

Counterparts: the clients in ``load`` and the brokers write them, ``measuring`` reads them. Times ``*_us`` are µs since
the zero of the deployment; 0: it did not happen. ``called_us``: when the application called its library. Content,
contexts and filters are JSON as in messages, functions text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from overlay.journal.facts import Row
from overlay.journal.own_rows import Rows
from overlay.systems.silbops.names import broker_name

if TYPE_CHECKING:
    from overlay.systems.silbops.broker import tracing

US = 1_000
"""Nanoseconds."""


@dataclass(frozen=True, slots=True)
class Subscribed:
    """A subscription that a client set, or replaced."""

    client: str
    """Its name: ``subscriber-3``."""
    id: int
    filter: str
    scope: str
    """Empty: it has none."""
    called_us: int


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    client: str
    id: int
    called_us: int


@dataclass(frozen=True, slots=True)
class ContextSet:
    """A call of ``setContext``, written when it was answered, or at the end of the run."""

    client: str
    values: str
    intended_us: int
    called_us: int
    accepted_us: int
    """When its broker had applied it."""
    is_new: bool
    """Whether it is other than the one before."""


@dataclass(frozen=True, slots=True)
class Advertised:
    """An advertisement that a client set, or replaced."""

    client: str
    id: int
    filter: str
    variables: list[str]
    subscriber_variables: list[str]
    called_us: int


@dataclass(frozen=True, slots=True)
class Unadvertised:
    client: str
    id: int
    called_us: int


@dataclass(frozen=True, slots=True)
class Published:
    client: str
    number: int
    notification: str
    context: str
    """All of the publisher's, as it was then."""
    scope: str
    intended_us: int
    called_us: int
    meant_for: str = ""
    """The function of subscribers' contexts by which their applications drop what is not for them; empty: none does."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A call, or a publication, that the library or the broker refused."""

    client: str
    number: int
    code: int
    words: str
    called_us: int


@dataclass(frozen=True, slots=True)
class Delivered:
    """A notification that the library gave to its application."""

    client: str
    publisher: str
    """Its key, in hexadecimal digits."""
    number: int
    ids: list[int]
    received_us: int


@dataclass(frozen=True, slots=True)
class Served:
    """A time in which a broker served a client, written at its end."""

    client: str
    broker: int
    from_us: int
    until_us: int
    """0: it still does."""
    reason: str
    """Why it ended: of the channel, ``moved``, ``detached``."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What says which losses are no errors, written once by each process of clients."""

    keep_messages: int
    keep_s: float
    is_pruned: bool
    """Whether brokers withdraw subscriptions whose function is false for all publishers."""
    parents: list[int]
    """Of each broker in the tree; -1 for the first."""


@dataclass(frozen=True, slots=True)
class Processed:
    """A broker has processed a message about what a client set, or a notification."""

    publisher: str
    """The key of that client."""
    kind: str
    """``context``, ``subscription``, ``advertisement`` or ``publication``."""
    number: int
    """The version of the context, the id of the row on the wire, or the number of the publication."""
    broker: str
    sender: str
    """The broker that it came from; empty: that client."""
    processed_us: int


@dataclass(frozen=True, slots=True)
class Told:
    """A broker has sent a neighbour a message about what a client set, because of what it processed at that instant."""

    publisher: str
    kind: str
    number: int
    """As in ``Processed``."""
    broker: str
    to: str
    told_us: int


@dataclass(frozen=True, slots=True)
class Step:
    """What became of a traced publication at a broker."""

    about: str
    """The key of its publisher and its number: ``0123456789abcdef|17``."""
    step: str
    """One of ``broker.tracing.STEPS``."""
    peer: str
    """A broker, or a client."""
    subscriptions: list[int]
    """Of the client, that it satisfies."""
    candidates: int
    """Subscriptions of the peer, or of all, that match its content."""
    rows: int
    """Of which they are some."""
    detail: str
    """What says no."""
    stepped_us: int


TABLES: Mapping[str, type] = {
    "subscribed": Subscribed,
    "unsubscribed": Unsubscribed,
    "contexts": ContextSet,
    "advertised": Advertised,
    "unadvertised": Unadvertised,
    "published": Published,
    "refused": Refused,
    "delivered": Delivered,
    "served": Served,
    "limits": Limits,
    "processed": Processed,
    "told": Told,
    "steps": Step,
}
row: Final = Rows(TABLES).row


def of_broker(process: str, traced: Iterable[tracing.Traced], zero_ns: int) -> list[Row]:
    """What a broker has traced since the last call."""
    broker = broker_name(int(process.rpartition("-")[2]))
    return [row((one.at - zero_ns) // US, _of_trace(broker, one, (one.at - zero_ns) // US), process) for one in traced]


def _of_trace(broker: str, one: tracing.Traced, at_us: int) -> Step | Processed | Told:
    from overlay.systems.silbops.broker import tracing  # only brokers have traces

    if isinstance(one, tracing.Stepped):
        counts = list(one.subscriptions), one.candidates, one.rows
        return Step(one.about, one.step, one.peer, *counts, one.detail, at_us)
    if isinstance(one, tracing.Told):
        return Told(one.publisher, one.kind, one.number, broker, one.to, at_us)
    return Processed(one.publisher, one.kind, one.number, broker, one.sender, at_us)
