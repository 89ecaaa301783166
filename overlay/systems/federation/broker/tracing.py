"""What happened to single notifications, subscriptions and queries at this broker. Nothing that is sent depends on it.

One in ``trace_one_in`` is traced, by its number, so that all brokers trace the same ones without a field in messages. A
notification is also traced where it satisfies a traced subscription. Counterparts: ``rows.Step`` is what a run records,
``telemetry.systems.federation.ways`` joins the brokers' steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from overlay.core.node import SECOND
from overlay.systems.federation.broker.step_events import Stepped
from overlay.systems.federation.names import query_name
from overlay.systems.federation.tables.destinations import Destination
from overlay.systems.federation.tables.tables import Delivery
from overlay.systems.federation.wire.values import NotificationId, Subscription, SubscriptionId

LISTED_A_SECOND: Final = 10_000
"""Steps and subscriptions listed in a second at most; more are left out."""
MOST_FOLLOWED: Final = 4_096
"""Notifications that are remembered as traced: a stored one may be sent much later."""

MOST_NAMED: Final = 64
"""Subscriptions named by a step."""


def note_name(nid: NotificationId) -> str:
    return f"n|{nid.provider}|{nid.number}"


def subscription_name(sid: SubscriptionId) -> str:
    return f"s|{sid.client}|{sid.number}"


class Tracer:
    """``now`` of the step, ns. ``arrived``: when the message that it answers had arrived."""

    def __init__(self, one_in: int) -> None:
        self._one_in = one_in
        self._followed: dict[NotificationId, None] = {}
        self._second = self._listed = 0
        self._steps: list[Stepped] = []

    def samples(self, number: int) -> bool:
        """Whether what has this number is traced."""
        return number % self._one_in == 0

    # ---- notifications

    def routed(
        self, nid: NotificationId, source: Destination, deliveries: Sequence[Delivery], arrived: int, now: int
    ) -> bool:
        """A notification that came from ``source`` has been matched. Returns whether it is traced."""
        if not (self.samples(nid.number) or self._satisfies(deliveries)):
            return False
        self._follow(nid)
        about = note_name(nid)
        self._add(about, "received" if source.is_neighbour else "published", source.id, arrived, now)
        for one in deliveries:
            if one.destination.is_neighbour:
                self._add(about, "matched", one.destination.id, now, now, one.satisfied)
        return True

    def filtered(self, nid: NotificationId, brokers: Iterable[str], now: int) -> None:
        """Neighbours behind which no subscription wants it."""
        for broker in brokers:
            self._add(note_name(nid), "filtered", broker, now, now)

    def note(
        self, step: str, nid: NotificationId, peer: str, now: int, subscriptions: Sequence[SubscriptionId] = ()
    ) -> None:
        """A later step of a notification, if it is traced."""
        if nid in self._followed:
            self._add(note_name(nid), step, peer, now, now, subscriptions)

    def dropped(self, step: str, nid: NotificationId, peer: str, now: int) -> None:
        """``duplicate`` or ``looped``: it was not routed here."""
        if self.samples(nid.number) or nid in self._followed:
            self._add(note_name(nid), step, peer, now, now)

    # ---- subscriptions

    def subscribed(self, client: str, added: Iterable[Subscription], arrived: int, now: int) -> None:
        """New ones of an own client."""
        self._each(added, "subscribed", client, arrived, now)

    def cached(self, one: Subscription, nid: NotificationId, now: int) -> None:
        """The cache has a notification for it. Its NOTIFY is traced, if it is traced, too."""
        if self.samples(one.id.number):
            self._follow(nid)
            self._add(subscription_name(one.id), "answered", one.id.client, now, now, detail=note_name(nid))

    def told(self, broker: str, added: Iterable[Subscription], now: int) -> None:
        self._each(added, "told", broker, now, now)

    def learned(self, broker: str, added: Iterable[Subscription], arrived: int, now: int) -> None:
        self._each(added, "learned", broker, arrived, now)

    def offered(self, provider: str, added: Iterable[Subscription], now: int) -> None:
        self._each(added, "offered", provider, now, now)

    # ---- queries

    def query(self, step: str, asker: str, req: int, peer: str, arrived: int, now: int, detail: str = "") -> None:
        """``asked``: by ``peer``; ``asks``: ``peer``; ``replied``: with a code. ``detail`` of ``asks``, ``answered``
        and ``timed out`` begins with the scope and the number there; then follow the notifications that go with it, or
        the code. All queries are traced, as their numbers differ on each link."""
        self._add(query_name(asker, req), step, peer, arrived, now, detail=detail)

    # ---- what is reported

    def take(self) -> Sequence[Stepped]:
        steps, self._steps = self._steps, []
        return steps

    # ---- inner

    def _follow(self, nid: NotificationId) -> None:
        self._followed[nid] = None
        if len(self._followed) > MOST_FOLLOWED:
            del self._followed[next(iter(self._followed))]

    def _satisfies(self, deliveries: Sequence[Delivery]) -> bool:
        one_in = self._one_in
        for delivery in deliveries:
            for one in delivery.subscriptions:
                if one.id.number % one_in == 0:
                    return True
        return False

    def _each(self, added: Iterable[Subscription], step: str, peer: str, arrived: int, now: int) -> None:
        for one in added:
            if self.samples(one.id.number):
                self._add(subscription_name(one.id), step, peer, arrived, now)

    def _add(
        self,
        about: str,
        step: str,
        peer: str,
        arrived: int,
        now: int,
        subscriptions: Sequence[SubscriptionId] = (),
        detail: str = "",
    ) -> None:
        if now - self._second >= SECOND:
            self._second, self._listed = now, 0
        if self._listed >= LISTED_A_SECOND:
            return
        named = [f"{sid.client}|{sid.number}" for sid in subscriptions[:MOST_NAMED]]
        self._listed += 1 + len(named)
        self._steps.append(Stepped(now, arrived, about, step, peer, named, detail))
