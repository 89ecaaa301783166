"""One publication's way: published, matched, filtered, passed on, kept, and to whom it was delivered. Pure.

Counterparts: ``way_files`` reads the records of a run, ``messages`` has a row for each publication. Clients' records
are known of every publication, brokers' steps of traced ones (``overlay.systems.silbops.broker.tracing``). All
processes of a run share one zero, so times can be compared. Nothing is guessed: a message of which one end is known has
no duration.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from telemetry.charts.sequences import Sent, numbered

PUB, TAKE, NOTIFY, PUBLISH = "PUB", "TAKE", "NOTIFY", "PUBLISH"
TO_BROKERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "forwarded": (PUB, ("received", "dropped")),
    "handed over": (TAKE, ("brought",)),
    "passed on": (NOTIFY, ("brought",)),
}
"""By step that sends a message to a broker: its kind, and the steps of the broker that receives it."""
TO_CLIENTS = ("notified", "sent later")
_BROKER = re.compile(r"b[0-9]+")


class Step(NamedTuple):
    """At a broker."""

    at_us: int
    broker: str
    """Its name: ``b0``."""
    step: str
    """One of ``overlay.systems.silbops.broker.tracing.STEPS``."""
    peer: str
    """The broker or client at the other end; empty without one."""
    subscriptions: Sequence[int]
    """Of the client, by their numbers on the wire; at most 64."""
    candidates: int
    """Subscriptions of the peer, or of all, that match its content."""
    rows: int
    """Of which they are some."""
    detail: str
    """What says no."""


class Delivery(NamedTuple):
    """To an application, by the client's record."""

    client: str
    subscriptions: Sequence[int]
    received_us: int


@dataclass(frozen=True, slots=True)
class Records:
    row: Mapping[str, Any]
    """As ``messages.SCHEMA``."""
    sent_us: int
    """When the application called ``publish``."""
    notification: Mapping[str, Any]
    context: Mapping[str, Any]
    """All of the publisher's."""
    scope: str
    """The publisher's function; empty: it has none."""
    steps: Sequence[Step] = ()
    """Chronological."""
    deliveries: Sequence[Delivery] = ()


@dataclass(frozen=True)
class Way:
    records: Records

    @property
    def row(self) -> Mapping[str, Any]:
        return self.records.row

    @property
    def steps(self) -> Sequence[Step]:
        return self.records.steps

    @cached_property
    def messages(self) -> Sequence[Sent]:
        """Between clients and brokers, in the order of sending."""
        return numbered([*self._published(), *self._of_steps()], is_broker)

    @property
    def passages(self) -> Sequence[Sent]:
        """The messages between brokers."""
        return [one for one in self.messages if one.passage is not None]

    @property
    def entered(self) -> str | None:
        """The broker of its publisher."""
        return next((one.broker for one in self.steps if one.step == "published"), None)

    @property
    def delivering(self) -> Sequence[str]:
        """Brokers that notified a client."""
        return _brokers(self.steps, TO_CLIENTS)

    @property
    def keeping(self) -> Sequence[str]:
        """Brokers that kept it for a client."""
        return _brokers(self.steps, ("kept", "returned"))

    @property
    def filtered(self) -> Sequence[tuple[str, str]]:
        """A broker, and the neighbour to which it was not sent."""
        return [(one.broker, one.peer) for one in self.steps if one.step == "filtered"]

    # ---- inner

    def _published(self) -> list[Sent]:
        sent_us = self.records.sent_us
        return [
            Sent(PUBLISH, one.peer, one.broker, min(sent_us, one.at_us), one.at_us)
            for one in self.steps
            if one.step == "published"
        ]

    def _of_steps(self) -> Iterator[Sent]:
        """A NOTIFY that its client did not get, or dropped as a repeat, has no arrival."""
        entries: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        """By sender, receiver and step; the first one last."""
        for one in reversed(self.steps):
            entries[one.peer, one.broker, one.step].append(one.at_us)
        received: dict[str, list[int]] = defaultdict(list)
        for delivery in reversed(self.records.deliveries):
            received[delivery.client].append(delivery.received_us)
        for one in self.steps:
            if one.step in TO_BROKERS:
                kind, steps = TO_BROKERS[one.step]
                several = (entries[one.broker, one.peer, entry] for entry in steps)
                arrived_us = next((at for times in several if (at := _next(times, one.at_us)) is not None), None)
                yield Sent(kind, one.broker, one.peer, one.at_us, arrived_us, arrived_us is None)
            elif one.step in TO_CLIENTS:
                yield Sent(NOTIFY, one.broker, one.peer, one.at_us, _next(received[one.peer], one.at_us))


def in_order(steps: Sequence[Step]) -> list[Step]:
    """Chronologically; of simultaneous ones, those of the brokers that had it first."""
    came = {one.broker: one.peer for one in steps if one.step == "received"}

    def depth(broker: str) -> int:
        passed = {broker}
        while (before := came.get(broker)) is not None and before not in passed:
            passed.add(before)
            broker = before
        return len(passed)

    return sorted(steps, key=lambda one: (one.at_us, depth(one.broker)))


def is_broker(name: object) -> bool:
    return isinstance(name, str) and _BROKER.fullmatch(name) is not None


def _next(times: list[int], at_us: int) -> int | None:
    """The first of these not before ``at_us``; it and earlier ones are taken from the end."""
    while times:
        time = times.pop()
        if time >= at_us:
            return time
    return None


def _brokers(steps: Sequence[Step], names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(one.broker for one in steps if one.step in names))
