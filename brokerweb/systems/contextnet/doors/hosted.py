"""One hosted application in the log of its network, in an event loop. ``settle`` makes it what its rows say.

A message is settled in the log when every subscription has it: streams at once, a URL when its server has accepted it,
or it was given up. What is not settled comes again to the next web process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from time import monotonic_ns
from typing import Any, Final, Protocol

from brokerweb.hosting.host import Due
from brokerweb.systems.contextnet.doors.places import Place
from brokerweb.systems.contextnet.models import Application as Row
from brokerweb.systems.contextnet.models import Subscription
from overlay.programs.contextnet.application import Application
from overlay.programs.questions import NoAnswer
from overlay.systems.contextnet.applications.application import Heard
from overlay.systems.contextnet.message_json import written

WITHIN_S = 8.0
"""For the log's answer."""
SKEW_US: Final = 5_000_000
"""By which the clock of a gateway may be behind ours: what came to the log earlier than that before a subscription is
none of its messages."""


class Watcher(Protocol):
    def heard(self, subscription: str, heard: Heard) -> bool:
        """At once; it does not wait. Returns whether its URL is to have it: ``HostedApplication.sent`` is told then."""
        ...


class HostedApplication:
    def __init__(self, row: Row, place: Place, watcher: Watcher) -> None:
        self.row = row
        name = f"web-{row.pk}"
        self.client = Application(
            place.log,
            name,
            group=name,
            topics=(),
            allowed=place.settings.topics_allowed,
            settings=place.settings,
            on_heard=self._deliver,
            within_s=WITHIN_S,
        )
        self._watcher = watcher
        self._wanted: dict[str, Subscription] = {}
        self._unsent: dict[str, deque[Heard]] = {}
        """By subscription, on their way to its URL, in their order."""
        self._missing: dict[bytes, int] = {}
        """By id of a message, how many URLs do not have it yet."""

    @property
    def subscriptions(self) -> frozenset[str]:
        return frozenset(self._wanted)

    def is_settled(self, due: Due, place: Place) -> bool:
        return self.subscriptions == {one.pk for one in due.subscriptions}

    async def settle(self, due: Due, place: Place) -> Mapping[str, Exception]:
        """Returns once messages of its topics come. Raises ``NoAnswer``."""
        self.row, wanted = due.client, {one.pk: one for one in due.subscriptions}
        for id in self._wanted.keys() - wanted.keys():
            self._forget(id)
        self._wanted = wanted
        if not await self.client.listen(sorted({one.topic for one in wanted.values()})):
            raise NoAnswer(f"The log at {self.client.log.where} did not answer within {WITHIN_S:g} s.")
        return {}

    async def withdraw(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._wanted.pop(id, None)
            self._forget(id)
        await self.client.listen(sorted({one.topic for one in self._wanted.values()}))

    def sent(self, subscription: str, count: int) -> None:
        """So many of the oldest on their way to its URL are there, or given up."""
        waiting = self._unsent.get(subscription, deque())
        for _ in range(min(count, len(waiting))):
            self._arrived(waiting.popleft())

    # ---- what comes

    def _deliver(self) -> None:
        core = self.client.core
        while core.waiting:
            heard = core.waiting.popleft()
            if heard.message.id in self._missing or not core.take_up(heard, monotonic_ns()):
                continue  # the log gave it again while it was on its way, or later
            self._missing[heard.message.id] = 1  # not to be settled before all subscriptions were looked at
            for id, one in self._wanted.items():
                if _is_for(one, heard) and self._watcher.heard(id, heard):
                    self._missing[heard.message.id] += 1
                    self._unsent.setdefault(id, deque()).append(heard)
            self._arrived(heard)

    def _arrived(self, heard: Heard) -> None:
        id = heard.message.id
        self._missing[id] -= 1
        if not self._missing[id]:
            del self._missing[id]
            self.client.settle(heard)

    def _forget(self, subscription: str) -> None:
        for heard in self._unsent.pop(subscription, ()):
            self._arrived(heard)


def _is_for(one: Subscription, heard: Heard) -> bool:
    is_new = heard.record.appended_us + SKEW_US >= one.created.timestamp() * 1_000_000
    return is_new and one.topic == heard.topic and one.node in ("", heard.message.source)


def told(heard: Heard) -> Mapping[str, Any]:
    """A message in JSON."""
    return {**written(heard.message), "topic": heard.topic, "gateway": heard.gateway}
