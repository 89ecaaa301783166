"""The clients of all networks of SilboPS that applications use by way of HTTP."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from brokerweb.front.replies import ENCODER
from brokerweb.hosting.history import Ending
from brokerweb.hosting.host import Due, Host
from brokerweb.hosting.rows import Tally, add
from brokerweb.hosting.sending import Receiver
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.silbops.doors import rows
from brokerweb.systems.silbops.doors.hosted import HostedClient, told
from brokerweb.systems.silbops.doors.problems import ERRORS
from brokerweb.systems.silbops.doors.rows import ROWS
from brokerweb.systems.silbops.doors.sites import Place, place_of
from brokerweb.systems.silbops.models import SilbopsSubscription, State
from overlay.systems.silbops.clients.events import Notified
from overlay.systems.silbops.system import SYSTEM


class SilbopsHost(Host[Place]):
    system = SYSTEM.name
    errors = ERRORS

    def is_any(self) -> bool:
        return ROWS.is_any()

    def due(self, now: datetime, used: Sequence[str]) -> Sequence[Due]:
        return ROWS.due()

    def states(self, network: str, account: str, ids: Collection[str]) -> Mapping[str, str]:
        return ROWS.states(network, account, ids)

    def one_due(self, id: str) -> Due | None:
        return ROWS.one_due(id)

    def store(self, tallies: Sequence[tuple[str, Tally]], ended: Sequence[Ending]) -> None:
        add(SilbopsSubscription, tallies)
        for id, state, why in ended:
            rows.end(id, state, why, timezone.now())

    def place_of(self, snapshot: NetworkSnapshot | None) -> Place:
        return place_of(snapshot)

    def hosted_of(self, row: Any, place: Place) -> HostedClient:
        return HostedClient(row, place, self)

    def refused(self, id: str, error: Exception) -> None:
        row = self._rows.pop(id, None)
        if row is not None:
            body = {"subscription": id, "end": State.REFUSED.value, "reason": str(error)}
            self._history.ended(row, State.REFUSED, body, str(error))

    async def prepare(self, hosted: HostedClient, due: Due, place: Place) -> None:
        if not hosted.is_settled(due, place):
            self._rows |= {row.pk: row for row in due.subscriptions}
            for id, error in (await hosted.settle(due, place)).items():
                self.refused(id, error)

    async def subscribe(self, snapshot: NetworkSnapshot, row: SilbopsSubscription) -> None:
        """Returns once the broker has it. Raises as ``client``, with the broker's refusal of this one."""
        async with self.client(snapshot, row.client_id) as hosted:
            self._rows[row.pk] = row
            try:
                await hosted.subscribe(row)
            except BaseException:
                self._rows.pop(row.pk, None)
                raise

    def number_of(self, row: SilbopsSubscription) -> int | None:
        """As its broker knows it; ``None``: it is not subscribed now."""
        known = self._hosted.get(row.client_id)
        return None if known is None else known[0].number_of(row.pk)

    def notified(self, subscription: str, event: Notified) -> None:
        """Implements ``hosted.Watcher``."""
        row = self._rows.get(subscription)
        if row is None:
            return
        body = told(event)
        self._history.notified(row, {"subscription": subscription, **body})
        if row.url:
            self._sender.add(Receiver(row.pk, row.url), ENCODER.encode(body))


HOST = SilbopsHost()
