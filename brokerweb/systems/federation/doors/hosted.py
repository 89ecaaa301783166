"""One hosted client at its broker, in an event loop. ``settle`` makes its subscriptions those of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from brokerweb.hosting.host import Due
from brokerweb.kit.moments import now_ms
from brokerweb.systems.federation.doors import rows
from brokerweb.systems.federation.doors.sites import Place
from brokerweb.systems.federation.models import ClientRole, HostedClient, HostedSubscription
from overlay.programs.federation.client import ConsumerClient, ProviderClient, Refused
from overlay.systems.federation.clients.events import End, Ended, Event, Notified, Offered, Queried
from overlay.systems.federation.clients.newest import Newest
from overlay.systems.federation.clients.provider import Content
from overlay.systems.federation.clients.terms import Site, Terms
from overlay.systems.federation.wire.values import Notification

WITHIN_S = 8.0
"""For the answer of a broker."""
AT_ONCE = 50
"""Subscriptions of one message when many are taken up again."""


class Watcher(Protocol):
    """Is told what happens, at once, and does not wait."""

    def notified(self, subscription: str, notification: Notification, *, is_cached: bool, hops: int) -> None: ...

    def ended(self, subscription: str, end: End, words: str) -> None: ...

    def asked(self, provider: HostedProvider, event: Queried | Offered) -> None: ...


class HostedConsumer:
    def __init__(self, row: HostedClient, terms: Terms, site: Site, watcher: Watcher) -> None:
        self.row = row
        self.client = ConsumerClient(terms, row.name, self._see, site=site, within_s=WITHIN_S)
        self._watcher = watcher
        self._numbers: dict[str, int] = {}
        """By id, the number of a subscription in the network."""
        self._ids: dict[int, str] = {}
        self._expires: dict[str, int] = {}

    @property
    def subscriptions(self) -> frozenset[str]:
        return frozenset(self._numbers)

    async def subscribe(self, wanted: Sequence[HostedSubscription]) -> None:
        """Those that it has not yet. All of them or none. Raises as ``ConsumerClient.subscribe``."""
        new = [row for row in wanted if row.pk not in self._numbers]
        # A notification out of the broker's cache may come before the acknowledgement.
        first = self.client.core.next_number
        for number, row in enumerate(new, first):
            self._numbers[row.pk], self._ids[number] = number, row.pk
            self._expires[row.pk] = rows.wanted(row).expires
        try:
            if new:
                await self.client.subscribe([rows.wanted(row) for row in new])
        except BaseException:
            for row in new:
                self._forget(row.pk)
            raise

    async def withdraw(self, ids: Iterable[str]) -> None:
        """Raises ``NoAnswer``; it is then told again by itself."""
        numbers = [number for id in ids if (number := self._forget(id)) is not None]
        if numbers:
            await self.client.withdraw(numbers)

    def is_settled(self, due: Due, place: Place) -> bool:
        return self._expires == {row.pk: rows.wanted(row).expires for row in due.subscriptions}

    async def settle(self, due: Due, place: Place) -> dict[str, Refused]:
        """Have exactly these. Returns those that the broker refused. Raises ``NoAnswer`` and others."""
        wanted = due.subscriptions
        await self.withdraw(self.subscriptions - {row.pk for row in wanted})
        self.renew(wanted)
        refused: dict[str, Refused] = {}
        for begin in range(0, len(wanted), AT_ONCE):
            several = wanted[begin : begin + AT_ONCE]
            try:
                await self.subscribe(several)
            except Refused:
                refused |= await self._one_by_one(several)
        return refused

    async def _one_by_one(self, several: Sequence[HostedSubscription]) -> dict[str, Refused]:
        refused = {}
        for row in several:
            try:
                await self.subscribe([row])
            except Refused as error:
                refused[row.pk] = error
        return refused

    def renew(self, wanted: Iterable[HostedSubscription]) -> None:
        """Those that expire at another time by now."""
        for row in wanted:
            expires = rows.wanted(row).expires
            if self._expires.get(row.pk, expires) != expires:
                self._expires[row.pk] = expires
                self.client.renew(self._numbers[row.pk], expires)

    def _forget(self, id: str) -> int | None:
        self._expires.pop(id, None)
        number = self._numbers.pop(id, None)
        if number is not None:
            del self._ids[number]
        return number

    def _see(self, event: Event) -> None:
        match event:
            case Notified(notification, receipts, is_cached, hops):
                for number, _, _ in receipts:
                    if (id := self._ids.get(number)) is not None:
                        self._watcher.notified(id, notification, is_cached=is_cached, hops=hops)
            case Ended(number, end, _, words) if (id := self._ids.get(number)) is not None:
                self._forget(id)
                self._watcher.ended(id, end, words)
            case _:
                pass


class HostedProvider:
    def __init__(self, row: HostedClient, terms: Terms, site: Site, watcher: Watcher) -> None:
        self.row = row
        self.client = ProviderClient(
            terms,
            row.name,
            row.scopes,
            self._see,
            needs=_needs(row.needs),
            url=row.url,
            answers_later=True,
            site=site,
            within_s=WITHIN_S,
        )
        self._watcher = watcher
        self._newest = Newest()

    @property
    def subscriptions(self) -> frozenset[str]:
        return frozenset()

    async def publish(self, content: Content) -> Notification:
        """Raises as ``ProviderClient.publish``."""
        made = await self.client.publish(content)
        self._newest.add(made, now_ms())
        return made

    def published(self, asked: Queried) -> list[Notification]:
        """What it has published that is asked for and still valid."""
        return self._newest.find(asked.scopes, asked.entity_type, asked.entity_id, now_ms())

    def is_settled(self, due: Due, place: Place) -> bool:
        row = due.client
        return (row.url, row.scopes, row.needs) == (self.row.url, self.row.scopes, self.row.needs)

    async def settle(self, due: Due, place: Place) -> dict[str, Refused]:
        """Advertise what its row says."""
        if not self.is_settled(due, place):
            self.row = due.client
            await self.client.advertise(self.row.scopes, self.row.needs, self.row.url)
        return {}

    async def withdraw(self, ids: Iterable[str]) -> None:
        """It has no subscriptions."""

    def _see(self, event: Event) -> None:
        if isinstance(event, Queried | Offered):
            self._watcher.asked(self, event)


Hosted = HostedConsumer | HostedProvider


def hosted_of(row: HostedClient, terms: Terms, site: Site, watcher: Watcher) -> Hosted:
    kind = HostedProvider if row.role == ClientRole.PROVIDER else HostedConsumer
    return kind(row, terms, site, watcher)


def _needs(stored: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {scope: tuple(needed) for scope, needed in stored.items()}
