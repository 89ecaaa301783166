"""What happened to single publications at this broker. Nothing that is sent depends on it.

One in ``trace_one_in`` is traced, by its number, so that all brokers trace the same ones without a field in messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from overlay.core.node import SECOND
from overlay.systems.silbops.broker.client import publisher_key
from overlay.systems.silbops.tables import Delivery, Kind, Link
from overlay.systems.silbops.wire import messages as m

LISTED_A_SECOND: Final = 10_000
"""Steps listed in a second at most; more are left out."""
MOST_NAMED: Final = 64
"""Subscriptions named by a step."""
STEPS = (
    "published",  # by an own client, and allowed
    "received",  # from a neighbour
    "forwarded",  # to a neighbour
    "notified",  # to an own client
    "kept",  # for an own client that is away
    "passed on",  # to the new broker of a client that has moved
    "repeated",  # it came before, and was dropped
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


class Tracer:
    def __init__(self, one_in: int) -> None:
        self._one_in = one_in
        self._second = self._listed = 0
        self._steps: list[Stepped] = []

    def routed(self, link: Link, pub: m.Pub, deliveries: Sequence[Delivery], now: int) -> None:
        """A publication that came by ``link`` was matched."""
        if pub.number % self._one_in:
            return
        about = _name(publisher_key(pub.publisher), pub.number)
        self._add(now, about, "received" if link.kind is Kind.BROKER else "published", link.name)
        for to, _ in deliveries:
            if to.kind is Kind.BROKER:
                self._add(now, about, "forwarded", to.name)

    def note(self, step: str, note: m.Notify, client: str, now: int) -> None:
        if note.number % self._one_in == 0:
            self._add(now, _name(note.publisher, note.number), step, client, note.ids)

    def take(self) -> Sequence[Stepped]:
        steps, self._steps = self._steps, []
        return steps

    def _add(self, now: int, about: str, step: str, peer: str, ids: tuple[int, ...] = ()) -> None:
        if now - self._second >= SECOND:
            self._second, self._listed = now, 0
        if self._listed < LISTED_A_SECOND:
            self._listed += 1
            self._steps.append(Stepped(now, about, step, peer, ids[:MOST_NAMED]))


def _name(publisher: int, number: int) -> str:
    return f"{publisher:016x}|{number}"
