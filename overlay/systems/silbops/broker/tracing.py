"""What happened to single publications at this broker. Nothing that is sent depends on it.

One in ``trace_one_in`` is traced, by its number, so that all brokers trace the same ones without a field in messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from overlay.core.node import SECOND
from overlay.systems.silbops.broker.client import publisher_key
from overlay.systems.silbops.broker.outcomes import Outcome
from overlay.systems.silbops.tables import Kind, Link
from overlay.systems.silbops.wire import messages as m

LISTED_A_SECOND: Final = 10_000
"""Steps listed in a second at most; more are left out."""
MOST_NAMED: Final = 64
"""Subscriptions named by a step."""
STEPS = (
    "published",  # by an own client, and allowed
    "received",  # from a neighbour
    "matched",  # so many subscriptions by its content
    "forwarded",  # to a neighbour
    "filtered",  # not sent to a neighbour
    "withheld",  # from an own client: its content matches, and a function of context says no
    "notified",  # to an own client
    "kept",  # for an own client that is away
    "returned",  # the client was lost before it acknowledged it; it is kept
    "sent later",  # what was kept, to its client that is back
    "handed over",  # what was kept, to the broker where its client is now
    "passed on",  # to the broker of a client that has moved, as its rows are still here
    "brought",  # by the old broker of an own client
    "repeated",  # it came before, and was dropped
    "dropped",  # kept no longer, or its context is not known
)


@dataclass(frozen=True, slots=True)
class Stepped:
    at: int
    """ns."""
    about: str
    """The publication: the key of its publisher in hexadecimal, and its number, as ``0123456789abcdef|17``."""
    step: str
    """One of ``STEPS``."""
    peer: str
    """A broker or a client."""
    subscriptions: tuple[int, ...] = ()
    """Of the client, that it satisfies."""
    candidates: int = 0
    """Subscriptions of the peer, or of all, that match its content."""
    rows: int = 0
    """Of which they are some."""
    detail: str = ""
    """What says no."""


@dataclass(frozen=True, slots=True)
class Processed:
    """A message about what a client has set, or published, was processed here."""

    at: int
    """ns."""
    publisher: str
    """The key of the client that it is about."""
    kind: str
    """``context``, ``subscription``, ``unsubscription``, ``advertisement``, ``unadvertisement``, ``publication``."""
    number: int
    """The version of the context, the id, or the number of the publication."""
    sender: str
    """The broker that it came from; empty: that client."""


@dataclass(frozen=True, slots=True)
class Told:
    """A message about what a client has set was sent to a neighbour."""

    at: int
    """ns. What was processed here at that instant, about the same client, is why."""
    publisher: str
    kind: str
    number: int
    """As in ``Processed``."""
    to: str


Traced = Stepped | Processed | Told


class Tracer:
    def __init__(self, one_in: int, *, is_following: bool = False) -> None:
        """``one_in`` 0: no publication is traced. ``is_following``: all that is processed and told is listed, without
        bound, for simulated runs."""
        self._one_in = one_in
        self.is_following = is_following
        self._second = self._listed = 0
        self._steps: list[Traced] = []

    def traces(self, number: int) -> bool:
        """Whether publications with this number are traced."""
        return self._one_in > 0 and number % self._one_in == 0

    def routed(self, link: Link, pub: m.Pub, outcomes: Iterable[Outcome], now: int) -> None:
        """A publication that came by ``link`` was matched. It is traced."""
        about = _name(publisher_key(pub.publisher), pub.number)
        self._add(Stepped(now, about, "received" if link.kind is Kind.BROKER else "published", link.name))
        for one in outcomes:
            counts = one.subscriptions[:MOST_NAMED], one.candidates, one.rows
            self._add(Stepped(now, about, one.step, one.peer, *counts, one.detail))

    def note(self, step: str, note: m.Notify, peer: str, now: int, detail: str = "") -> None:
        if self.traces(note.number):
            about = _name(note.publisher, note.number)
            self._add(Stepped(now, about, step, peer, note.ids[:MOST_NAMED], detail=detail))

    def dropped(self, pub: m.Pub, neighbour: str, now: int, detail: str) -> None:
        """It was not matched."""
        if self.traces(pub.number):
            about = _name(publisher_key(pub.publisher), pub.number)
            self._add(Stepped(now, about, "dropped", neighbour, detail=detail))

    def processed(self, message: Any, sender: str, owner: bytes | None, version: int, now: int) -> None:
        """``sender``: a broker; empty: a client, whose ``owner`` is this, with the ``version`` of its context."""
        if isinstance(message, m.Notify):  # an old broker of a client has passed it on
            self._steps.append(Processed(now, f"{message.publisher:016x}", "publication", message.number, sender))
            return
        found = _subject(message, owner or b"", version)
        if found is not None:
            of, kind, number = found
            self._steps.append(Processed(now, f"{publisher_key(of):016x}", kind, number, sender))

    def told(self, message: Any, to: str, now: int) -> None:
        """A neighbour is told a difference."""
        found = _subject(message, b"", 0) if self.is_following else None
        if found is not None:
            of, kind, number = found
            self._steps.append(Told(now, f"{publisher_key(of):016x}", kind, number, to))

    def take(self) -> Sequence[Traced]:
        steps, self._steps = self._steps, []
        return steps

    def _add(self, step: Stepped) -> None:
        if step.at - self._second >= SECOND:
            self._second, self._listed = step.at, 0
        if self._listed < LISTED_A_SECOND:
            self._listed += 1
            self._steps.append(step)


def _subject(message: Any, owner: bytes, version: int) -> tuple[bytes, str, int] | None:
    match message:
        case m.SetCtx():
            return owner, "context", version
        case m.Ctx():
            return message.owner, "context", message.context.version
        case m.Subscribe():
            return owner, "subscription", message.id
        case m.Sub():
            return message.subscription.key.owner, "subscription", message.subscription.key.number
        case m.Unsubscribe():
            return owner, "unsubscription", message.id
        case m.Unsub():
            return message.key.owner, "unsubscription", message.key.number
        case m.Advertise():
            return owner, "advertisement", message.id
        case m.Adv():
            return message.advertisement.key.owner, "advertisement", message.advertisement.key.number
        case m.Unadvertise():
            return owner, "unadvertisement", message.id
        case m.Unadv():
            return message.key.owner, "unadvertisement", message.key.number
        case m.Publish():
            return owner, "publication", message.number
        case m.Pub():
            return message.publisher, "publication", message.number
    return None


def _name(publisher: int, number: int) -> str:
    return f"{publisher:016x}|{number}"
