"""The clients of all networks of federated brokers that applications use by way of HTTP."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from brokerweb.hosting.history import Ending
from brokerweb.hosting.host import Due, Host
from brokerweb.hosting.rows import Tally, add
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.federation.doors import questions, rows
from brokerweb.systems.federation.doors.hosted import Hosted, HostedProvider, hosted_of
from brokerweb.systems.federation.doors.problems import ERRORS
from brokerweb.systems.federation.doors.sending import receiver_of, text_of
from brokerweb.systems.federation.doors.sites import Place, place_of
from brokerweb.systems.federation.models import HostedSubscription, SubscriptionState
from overlay.systems.federation import notification_json
from overlay.systems.federation.clients.events import End, Offered, Queried
from overlay.systems.federation.contextml.xml import InvalidContextML
from overlay.systems.federation.system import SYSTEM
from overlay.systems.federation.wire.values import Notification

STATES = {
    End.SATISFIED: SubscriptionState.SATISFIED,
    End.EXPIRED: SubscriptionState.EXPIRED,
    End.REFUSED: SubscriptionState.REFUSED,
}


class FederationHost(Host[Place]):
    system = SYSTEM.name
    errors = ERRORS

    def is_any(self) -> bool:
        return rows.is_any()

    def due(self, now: datetime, used: Sequence[str]) -> Sequence[Due]:
        return rows.due(now, used)

    def states(self, network: str, account: str, ids: Collection[str]) -> Mapping[str, str]:
        return rows.states(network, account, ids)

    def one_due(self, id: str) -> Due | None:
        return rows.one_due(id)

    def store(self, tallies: Sequence[tuple[str, Tally]], ended: Sequence[Ending]) -> None:
        add(HostedSubscription, tallies)
        for id, state, why in ended:
            rows.end(id, SubscriptionState(state), why, timezone.now())

    def place_of(self, snapshot: NetworkSnapshot | None) -> Place:
        return place_of(snapshot)

    def hosted_of(self, row: Any, place: Place) -> Hosted:
        return hosted_of(row, place.terms, place.site(row.pk, row.broker), self)

    def refused(self, id: str, error: Exception) -> None:
        self.ended(id, End.REFUSED, str(error))

    async def prepare(self, hosted: Any, due: Due, place: Place) -> None:
        if isinstance(hosted, HostedProvider):
            await hosted.settle(due, place)

    async def subscribe(self, snapshot: NetworkSnapshot, client: str, wanted: Sequence[HostedSubscription]) -> None:
        """Returns once the broker has these rows. Raises as ``client``."""
        async with self.client(snapshot, client) as hosted:
            self._rows |= {row.pk: row for row in wanted}
            hosted.renew(wanted)
            await hosted.subscribe(wanted)

    # ---- what happens: implements ``hosted.Watcher``

    def notified(self, subscription: str, notification: Notification, *, is_cached: bool, hops: int) -> None:
        row = self._rows.get(subscription)
        if row is None:
            return
        told = notification_json.written(notification)
        self._history.notified(
            row, {"subscription": subscription, "notification": told, "cached": is_cached, "hops": hops}
        )
        if row.url:
            try:
                self._sender.add(receiver_of(row), text_of(row, notification, told))
            except InvalidContextML as error:  # characters that XML does not have
                self._history.sent(subscription, 0, 1, str(error))

    def ended(self, subscription: str, end: End, words: str) -> None:
        row = self._rows.pop(subscription, None)
        if row is not None and end in STATES:
            body = {"subscription": subscription, "end": str(end), "reason": words}
            self._history.ended(row, STATES[end], body, words)

    def asked(self, provider: HostedProvider, event: Queried | Offered) -> None:
        questions.ask(self._sender, provider, event)


HOST = FederationHost()
