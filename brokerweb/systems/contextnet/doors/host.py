"""The applications of all networks of ContextNet that are used by way of HTTP."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from brokerweb.front.replies import ENCODER
from brokerweb.hosting.history import Ending
from brokerweb.hosting.host import Due, Host
from brokerweb.hosting.rows import Tally, add, in_thread
from brokerweb.hosting.sending import Receiver
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.contextnet.doors import credentials, naming
from brokerweb.systems.contextnet.doors.hosted import HostedApplication, told
from brokerweb.systems.contextnet.doors.places import Place, place_of
from brokerweb.systems.contextnet.doors.problems import ERRORS
from brokerweb.systems.contextnet.doors.rows import ROWS
from brokerweb.systems.contextnet.models import NodeSecret, Subscription
from overlay.systems.contextnet.applications.application import Heard
from overlay.systems.contextnet.system import SYSTEM


class ContextNetHost(Host[Place]):
    system = SYSTEM.name
    errors = ERRORS

    def is_any(self) -> bool:
        return ROWS.is_any() or naming.is_any() or NodeSecret.objects.exists()

    def due(self, now: datetime, used: Sequence[str]) -> Sequence[Due]:
        return ROWS.due(lambda one, subscriptions: bool(subscriptions) or one.pk in used)

    def states(self, network: str, account: str, ids: Collection[str]) -> Mapping[str, str]:
        return ROWS.states(network, account, ids)

    def one_due(self, id: str) -> Due | None:
        return ROWS.one_due(id)

    def store(self, tallies: Sequence[tuple[str, Tally]], ended: Sequence[Ending]) -> None:
        add(Subscription, tallies)

    def place_of(self, snapshot: NetworkSnapshot | None) -> Place:
        return place_of(snapshot)

    def hosted_of(self, row: Any, place: Place) -> HostedApplication:
        return HostedApplication(row, place, self)

    def refused(self, id: str, error: Exception) -> None:
        """A log refuses no reader."""

    async def look(self) -> None:
        await super().look()
        await in_thread(credentials.tell_all)()
        await in_thread(naming.tell_all)()

    async def prepare(self, hosted: HostedApplication, due: Due, place: Place) -> None:
        if not hosted.is_settled(due, place):
            fresh = await in_thread(self.one_due)(due.client.pk) or due  # another request may have subscribed since
            self._rows |= {row.pk: row for row in fresh.subscriptions}
            await hosted.settle(fresh, place)

    def heard(self, subscription: str, heard: Heard) -> bool:
        """Implements ``hosted.Watcher``."""
        row = self._rows.get(subscription)
        if row is None:
            return False
        body = told(heard)
        self._history.notified(row, {"subscription": subscription, "message": body})
        if row.url:
            self._sender.add(Receiver(row.pk, row.url), ENCODER.encode(body))
        return bool(row.url)

    def sent(self, subscription: str, delivered: int, given_up: int, why: str) -> None:
        super().sent(subscription, delivered, given_up, why)
        row = self._rows.get(subscription)
        if row is not None and row.client_id in self._hosted:
            self._hosted[row.client_id][0].sent(subscription, delivered + given_up)


HOST = ContextNetHost()
