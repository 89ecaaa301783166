"""One message's way: who sent it, where it was matched, filtered, stored, and to whom it was delivered. Pure.

Counterparts: ``way_files`` reads the records of a run, ``messages`` has a row for each message, ``query_ways`` joins
the steps of a QUERY. Clients' records are known of every message, brokers' steps of traced ones
(``overlay.systems.federation.broker.tracing``). All processes of a run share one zero, so times can be compared.
Nothing is guessed: a message of which one end is known has no duration.

The way of a subscription goes on with that of its first notification, as far as it leads to this consumer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

from overlay.systems.federation.broker.tracing import MOST_NAMED
from overlay.systems.federation.names import BROKER
from telemetry.charts.sequences import Sent, numbered
from telemetry.systems.federation.messages import SUBSCRIPTION, about_of

SENDINGS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "forwarded": ("FORWARD", ("received", "duplicate", "looped")),
    "sent later": ("FORWARD", ("received", "duplicate", "looped")),
    "told": ("SUBTABLE", ("learned",)),
    "offered": ("OFFER", ()),
    "notified": ("NOTIFY", ()),
}
"""By step that sends a message: its kind, and the steps of the broker that receives it."""


class Step(NamedTuple):
    """At a broker."""

    at_us: int
    broker: str
    """Its name: ``b0``."""
    about: str
    step: str
    """One of ``overlay.systems.federation.broker.step_events.STEPS``."""
    peer: str
    subscriptions: Sequence[str]
    detail: str
    arrived_us: int

    @property
    def waited_us(self) -> int:
        """In the queue and the service of a modelled processor."""
        return self.at_us - self.arrived_us


class Delivery(NamedTuple):
    """A NOTIFY, by the consumer's record."""

    client: str
    number: int
    """Of the subscription."""
    note: str
    """The notification, as ``messages.id_of``."""
    received_us: int
    is_cached: bool
    hops: int


@dataclass(slots=True)
class Records:
    row: Mapping[str, Any]
    """As ``messages.SCHEMA``."""
    sent_us: int
    """When its client sent it first."""
    steps: Sequence[Step] = ()
    """Chronological; of a subscription also those of its first notification."""
    deliveries: Sequence[Delivery] = ()
    """Of a notification all of its own, of a subscription all for it."""
    note_sent_us: int | None = None
    """Of a subscription: when its first notification was published, if that was asked for."""


@dataclass
class Way:
    records: Records
    is_of_subscription: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_of_subscription = self.records.row["kind"] == SUBSCRIPTION

    @property
    def row(self) -> Mapping[str, Any]:
        return self.records.row

    @property
    def scopes(self) -> Sequence[str]:
        """Of a QUERY, that its broker asked for."""
        return ()

    @property
    def asked(self) -> Sequence[str]:
        """Of a QUERY: the brokers that got it, in this order."""
        return ()

    @cached_property
    def steps(self) -> Sequence[Step]:
        """Without those of a subscription's notification that do not lead to its consumer."""
        if not self.is_of_subscription:
            return self.records.steps
        steps = self.records.steps
        own = [one for one in steps if one.about[0] == "s"]
        onward = _towards(self.row["client"], [one for one in steps if one.about[0] == "n"])
        return sorted([*own, *(one for one in onward if self._is_for_it(one))], key=_time)

    def _is_for_it(self, one: Step) -> bool:
        """A notification may be sent to the same client again, for another subscription."""
        name, named = f"{self.row['client']}|{self.row['number']}", one.subscriptions
        return one.step not in ("notified", "held") or name in named or len(named) == MOST_NAMED

    @cached_property
    def messages(self) -> Sequence[Sent]:
        """Between clients and brokers, in the order of sending."""
        return numbered(self._sent(), is_broker)

    @property
    def passages(self) -> Sequence[Sent]:
        """The messages between brokers, by their numbers of ``passage``."""
        return [one for one in self.messages if one.passage is not None]

    @property
    def entered(self) -> str | None:
        """The broker of its client."""
        step = "subscribed" if self.is_of_subscription else "published"
        return next((one.broker for one in self.steps if one.step == step), None)

    @property
    def delivering(self) -> Sequence[str]:
        """Brokers that notified a client; of a subscription without a notification, those that asked a provider."""
        notified = brokers(self.steps, ("notified",))
        return notified or brokers(self.steps, ("offered",))

    @property
    def storing(self) -> Sequence[str]:
        """Brokers where it waited for a neighbour or a client."""
        return brokers(self.steps, ("stored", "held", "returned"))

    @property
    def filtered(self) -> Sequence[tuple[str, str]]:
        """A broker, and the neighbour to which it was not sent."""
        return [(one.broker, one.peer) for one in self.steps if one.step == "filtered"]

    # ---- inner

    def _sent(self) -> list[Sent]:
        """In any order, without numbers."""
        return [*self._from_clients(), *self._of_steps()]

    def _from_clients(self) -> list[Sent]:
        found = []
        sent = {"s": self.records.sent_us} if self.is_of_subscription else {"n": self.records.sent_us}
        if self.records.note_sent_us is not None:
            sent["n"] = self.records.note_sent_us
        for one in self.steps:
            if one.step in ("published", "subscribed") and (at_us := sent.get(one.about[0])) is not None:
                kind = "PUBLISH" if one.step == "published" else "SUBSCRIBE"
                found.append(Sent(kind, one.peer, one.broker, min(at_us, one.arrived_us), one.arrived_us))
        return found

    def _of_steps(self) -> list[Sent]:
        arrivals: dict[tuple[str, str, str], list[Step]] = {}
        for one in reversed(self.steps):
            arrivals.setdefault((one.about, one.peer, one.broker), []).append(one)
        received: dict[tuple[str, str], list[int]] = {}
        for delivery in reversed(self.records.deliveries):
            times = received.setdefault((about_of(delivery.note), delivery.client), [])
            if delivery.received_us not in times[-1:]:  # a NOTIFY may name several subscriptions
                times.append(delivery.received_us)
        found = []
        for one in self.steps:
            if one.step not in SENDINGS:
                continue
            kind, entries = SENDINGS[one.step]
            arrived_us: int | None = None
            if kind == "NOTIFY":
                times = received.get((one.about, one.peer), [])
                arrived_us = times.pop() if times and times[-1] >= one.at_us else None
            elif entries:
                there = arrivals.get((one.about, one.broker, one.peer), [])
                arrived_us = _first(there, entries, one.at_us, self._returned_us(one))
            is_lost = arrived_us is None and kind == "FORWARD"
            found.append(Sent(kind, one.broker, one.peer, one.at_us, arrived_us, is_lost))
        return found

    def _returned_us(self, sent: Step) -> float:
        """When the session by which it was sent ended without an acknowledgement: what arrives later was sent again."""
        same = (one for one in self.steps if one.step == "returned" and one.about == sent.about)
        times = (one.at_us for one in same if (one.broker, one.peer) == (sent.broker, sent.peer))
        return min((at_us for at_us in times if at_us >= sent.at_us), default=inf)


def _first(steps: list[Step], entries: Sequence[str], at_us: int, until_us: float) -> int | None:
    """When the first of these steps arrived, from ``at_us`` to before ``until_us``; it and earlier ones are taken from
    the end."""
    while steps and steps[-1].arrived_us < until_us:
        one = steps.pop()
        if one.step in entries and one.arrived_us >= at_us:
            return one.arrived_us
    return None


def _towards(client: str, steps: Sequence[Step]) -> list[Step]:
    """The steps of a notification at the brokers on its way to a client, without others that it went to."""
    came = {one.broker: one.peer for one in steps if one.step == "received"}
    at = next((one.broker for one in steps if one.step == "notified" and one.peer == client), None)
    onward: dict[str, str] = {}
    goal = client
    while at is not None and at not in onward:
        onward[at] = goal
        goal, at = at, came.get(at)
    return [
        one
        for one in steps
        if one.broker in onward and (one.step in ("published", "received") or one.peer == onward[one.broker])
    ]


def brokers(steps: Sequence[Step], names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(one.broker for one in steps if one.step in names))


def is_broker(name: object) -> bool:
    return isinstance(name, str) and name[:1] == BROKER[0] and name[1:].isdigit()


def _time(one: Step) -> int:
    return one.at_us
