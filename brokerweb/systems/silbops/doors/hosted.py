"""One hosted client at its broker, in an event loop. ``settle`` makes it what its rows say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from brokerweb.hosting.host import Due
from brokerweb.systems.silbops.doors.sites import Place
from brokerweb.systems.silbops.models import SilbopsClient, SilbopsSubscription
from overlay.programs.silbops.client import SETTLES_S, Client, Refused
from overlay.systems.silbops.clients.attaching import State
from overlay.systems.silbops.clients.events import Event, Notified
from overlay.systems.silbops.content.values import Values, is_same

WITHIN_S = 8.0
"""For the answer of a broker."""
ADVERTISED = 1
"""The number of its advertisement."""
FOR_EVER = 0
"""Validity in ms: the host ends what is over."""


class Watcher(Protocol):
    def notified(self, subscription: str, event: Notified) -> None:
        """At once; it does not wait."""
        ...


class HostedClient:
    def __init__(self, row: SilbopsClient, place: Place, watcher: Watcher) -> None:
        self.row = row
        self.site = place.site(row.pk, row.broker)
        identity = bytes.fromhex(row.identity)
        self.client = Client(self.site, place.settings, id=identity, on_event=self._see, within_s=WITHIN_S)
        self._watcher = watcher
        self._has_scopes = place.settings.has_publisher_scope
        self._context: Values | None = None
        self._offered: tuple[list[str], list[str]] | None = None
        self._numbers: dict[str, int] = {}
        """By id, the number of a subscription."""
        self._ids: dict[int, str] = {}
        self._last = 0

    @property
    def subscriptions(self) -> frozenset[str]:
        return frozenset(self._numbers)

    def is_settled(self, due: Due, place: Place) -> bool:
        row = due.client
        has_context = row.context is None or (self._context is not None and is_same(row.context, self._context))
        has_place = self.site == place.site(row.pk, row.broker, self.site) and self.client.core.state is not State.OUT
        has_rest = self._offered == _offer(row) and self.subscriptions == {one.pk for one in due.subscriptions}
        return has_context and has_place and has_rest

    async def settle(self, due: Due, place: Place) -> dict[str, Exception]:
        """Returns subscriptions that the broker refused. Raises ``Refused`` and ``NoAnswer``."""
        row, refused = due.client, dict[str, Exception]()
        self.row = row
        site = place.site(row.pk, row.broker, self.site)
        if site != self.site or self.client.core.state is State.OUT:
            await self.client.move(site)
            self.site = site
        if row.context is not None:
            await self._set_context(row.context)
        await self._offer(row)
        await self.withdraw(self.subscriptions - {one.pk for one in due.subscriptions})
        for one in due.subscriptions:
            try:
                await self.subscribe(one)
            except Refused as error:
                refused[one.pk] = error
        return refused

    async def publish(self, notification: Values, context: Values, scope: str) -> None:
        """With this context, whichever another request has set meanwhile. Raises ``Refused`` and ``NoAnswer``."""
        await self._set_context(context)
        await self.client.publish(notification, scope)

    async def subscribe(self, one: SilbopsSubscription) -> None:
        """Unless it is. Raises ``Refused`` and ``NoAnswer``."""
        if one.pk in self._numbers:
            return
        self._last += 1
        number = self._numbers[one.pk] = self._last
        self._ids[number] = one.pk  # a notification may come before the answer
        try:
            await self.client.subscribe(one.where, one.scope, FOR_EVER, number)
        except BaseException:
            self._forget(one.pk)
            raise

    async def withdraw(self, ids: Iterable[str]) -> None:
        """Raises ``NoAnswer``."""
        for id in ids:
            if (number := self._forget(id)) is not None:
                await self.client.unsubscribe(number)

    async def _set_context(self, values: Values) -> None:
        if self._context is None or not is_same(values, self._context):
            await self.client.set_context(values)
            self._context = values

    async def _offer(self, row: SilbopsClient) -> None:
        wanted = _offer(row)
        if wanted is None or wanted == self._offered:
            return
        variables, readable = wanted
        read = readable if self._has_scopes and readable else None
        await self.client.advertise(variables, ttl_ms=FOR_EVER, number=ADVERTISED, readable=read)
        self._offered = wanted
        await asyncio.sleep(SETTLES_S)

    def _forget(self, id: str) -> int | None:
        number = self._numbers.pop(id, None)
        if number is not None:
            del self._ids[number]
        return number

    def number_of(self, subscription: str) -> int | None:
        return self._numbers.get(subscription)

    def _see(self, event: Event) -> None:
        if isinstance(event, Notified):
            for number in event.ids:
                if (id := self._ids.get(number)) is not None:
                    self._watcher.notified(id, event)


def told(event: Notified) -> Mapping[str, Any]:
    """A notification in JSON."""
    return {
        "publisher": f"{event.publisher:016x}",
        "number": event.number,
        "notification": dict(event.notification),
    }


def _offer(row: SilbopsClient) -> tuple[list[str], list[str]] | None:
    return (row.variables, row.readable) if row.is_publisher else None
