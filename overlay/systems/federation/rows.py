"""What clients and brokers report of a run, as rows of ``TABLES``. The measures are made of those of clients.

Counterparts: the clients in ``load`` write them, ``measuring`` reads them, with the events of brokers. Times ``*_us``
are µs since the zero of the deployment, ``*_ms`` Unix milliseconds; both are 0 for what did not happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from overlay.journal.facts import Row
from overlay.journal.own_rows import Rows

if TYPE_CHECKING:
    from overlay.systems.federation.broker.step_events import Stepped

US = 1_000
"""Nanoseconds."""


@dataclass(frozen=True, slots=True)
class Subscribed:
    """A subscription of a consumer, written when it ended, or at the end of the run."""

    client: str
    """Its name: ``c0``."""
    number: int
    """Of its sid."""
    scopes: list[str]
    once: bool
    """Whether it is a query."""
    intended_us: int
    sent_us: int
    expires_ms: int
    accepted_us: int
    """When its broker acknowledged it first."""
    first_us: int
    """Receipt of the first NOTIFY with it."""
    cached: bool
    """Whether that was from a broker's cache."""
    hops: int
    """Of that notification."""
    ended_us: int
    """When it was satisfied, had expired or was withdrawn, for the consumer."""
    reason: str
    """Why it ended, one of ``REASONS``; empty: it had not."""
    expression: str = ""
    """JSON, as in messages; empty: true of every notification."""


@dataclass(frozen=True, slots=True)
class Queried:
    """A QUERY of a consumer, written when it ended, or at the end of the run."""

    client: str
    number: int
    """Among the queries of the run."""
    req: int
    """Its number in messages; 0 if it was not sent. A client that returns begins with 1 again."""
    scopes: list[str]
    intended_us: int
    sent_us: int
    deadline_us: int
    ended_us: int
    """When it was answered, refused or given up; 0: it had not ended."""
    code: int
    """Of the answer; TIMEOUT without one."""
    notes: list[str]
    """What the answer has, as ``p3|17``."""


@dataclass(frozen=True, slots=True)
class Replied:
    """A provider's answer to a QUERY."""

    about: str
    """``q|b1|9``: by the peer that asked, as ``Step.about``."""
    provider: str
    asked_us: int
    """When the QUERY arrived."""
    replied_us: int
    code: int
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Noted:
    """A notification that a provider published, written when it was answered, or at the end of the run."""

    provider: str
    """Its name: ``p3``."""
    number: int
    """Of its nid."""
    scope: str
    entity: str
    """``type|id``."""
    published_us: int
    """Its timestamp, which is when it was first sent."""
    accepted_us: int
    """When its broker acknowledged it."""
    code: int
    """Of the NACK that refused it."""
    satisfied: list[str]
    """Subscriptions that the provider was asked for and that it satisfies, as ``c0|17``: those named in PUBLISH."""


@dataclass(frozen=True, slots=True)
class Notified:
    """A subscription named by a NOTIFY that a consumer received. One that names several has a row for each."""

    client: str
    number: int
    """Of the sid."""
    provider: str
    note: int
    """Of the nid."""
    received_us: int
    cached: bool
    hops: int


@dataclass(frozen=True, slots=True)
class Step:
    """What happened to a traced notification, subscription or query at a broker (``broker.step_events.STEPS``)."""

    about: str
    """``n|p3|17``, ``s|c0|5`` or, of a query by the peer that sent it, ``q|c0|9``."""
    step: str
    peer: str
    """The broker or client at the other end."""
    subscriptions: list[str]
    """That are satisfied there, as ``c0|5``."""
    detail: str
    arrived_us: int
    """When the message that led to it had arrived: before it waited for a modelled processor."""


SATISFIED, EXPIRED, WITHDRAWN, REFUSED = "satisfied", "expired", "withdrawn", "refused"
REASONS = (SATISFIED, EXPIRED, WITHDRAWN, REFUSED)

TABLES: Mapping[str, type] = {
    "subscriptions": Subscribed,
    "notes": Noted,
    "notifies": Notified,
    "queries": Queried,
    "replies": Replied,
    "steps": Step,
}
row: Final = Rows(TABLES).row


def steps(process: str, traced: Iterable[Stepped], zero_ns: int) -> list[Row]:
    """Of a broker, since the last call."""
    return [
        Row(
            process,
            (one.at - zero_ns) // US,
            "steps",
            [one.about, one.step, one.peer, one.subscriptions, one.detail, (one.arrived - zero_ns) // US],
        )
        for one in traced
    ]
