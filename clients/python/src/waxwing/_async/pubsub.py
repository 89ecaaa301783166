"""A network of SilboPS: contexts, subscriptions, publications, who would get one, and notifications."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any

from waxwing import hosted, pubsubs
from waxwing._async import lists, streams
from waxwing._async.transport import AsyncTransport
from waxwing.calls import call
from waxwing.pubsubs import Constraint, Notified, Published, PubsubClient, PubsubSubscription, Why, path
from waxwing.records import Records


class AsyncPubsubOf:
    """The network ``network`` of SilboPS, by its id. Clients are of this account, and made at their first use."""

    def __init__(self, transport: AsyncTransport, network: str) -> None:
        self._transport = transport
        self.network = network

    async def set_client(
        self,
        name: str,
        context: Mapping[str, Any] | None = None,
        *,
        broker: int | None = None,
        anywhere: bool = False,
    ) -> PubsubClient:
        """Set the context of a client, without another subscription; or move it to another broker, by its index, with
        all that is kept for it. ``anywhere``: to any. Returns once its broker has it."""
        asked = pubsubs.setting(self.network, name, context, broker, anywhere=anywhere)
        return PubsubClient.of((await self._transport.send(asked)).data)

    async def clients(self, *, limit: int | None = lists.LIMIT) -> Records[PubsubClient]:
        """Those of this account."""
        there = path(self.network, "clients")
        return await lists.listed(self._transport, PubsubClient, there, limit, {}, cursor=False)

    async def client(self, name: str) -> PubsubClient:
        return PubsubClient.of((await self._transport.send(call("GET", path(self.network, "clients", name)))).data)

    async def end_client(self, name: str) -> None:
        """With its subscriptions."""
        await self._transport.send(call("DELETE", path(self.network, "clients", name)))

    async def subscribe(
        self,
        where: Iterable[Constraint] = (),
        scope: str | None = None,
        *,
        client: str | None = None,
        context: Mapping[str, Any] | None = None,
        url: str | None = None,
        key: str = "",
    ) -> PubsubSubscription:
        """``where``: constraints such as ``("kind", "=", "fire")``. ``scope``: a function of context,
        ``this.x - 20 <= pub.x <= this.x + 20``. ``context``: of its client from now on. ``url`` is sent notifications
        by POST. ``key``: the idempotency key, if your program may repeat the call."""
        more = {"scope": scope, "client": client, "context": context, "url": url}
        asked = pubsubs.subscribing(self.network, where, more, key)
        return PubsubSubscription.of((await self._transport.send(asked)).data)

    async def subscriptions(self, *, limit: int | None = lists.LIMIT) -> Records[PubsubSubscription]:
        """Those of this account."""
        there = path(self.network, "subscriptions")
        return await lists.listed(self._transport, PubsubSubscription, there, limit, {}, cursor=False)

    async def subscription(self, id: str) -> PubsubSubscription:
        asked = call("GET", path(self.network, "subscriptions", id))
        return PubsubSubscription.of((await self._transport.send(asked)).data)

    async def unsubscribe(self, subscription: PubsubSubscription | str) -> None:
        """``subscription``: what ``subscribe`` returned, or its id."""
        there = path(self.network, "subscriptions", hosted.id_of(subscription))
        await self._transport.send(call("DELETE", there))

    async def publish(
        self,
        notification: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        *,
        scope: str | None = None,
        client: str | None = None,
        key: str = "",
    ) -> Published:
        """Returns once a broker has received it. ``context``: of its publisher, as it is now. ``scope``: a function of
        subscribers' contexts, ``this.age > 17``, in networks with ``publisher_scope``. ``key``: its idempotency key,
        with which it is sent again after a broken connection; none by default."""
        more = {"context": context, "scope": scope, "client": client}
        asked = pubsubs.publishing(self.network, notification, more, key)
        return Published.of((await self._transport.send(asked)).data)

    async def why(
        self,
        notification: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        *,
        scope: str | None = None,
        client: str | None = None,
        subscription: str | None = None,
    ) -> Why:
        """Who would get it, and which constraint or function says no; nothing is sent or changed, so the client must
        have published with these variables once. ``subscription``: one of this
        account, whose client is followed through the network; ``says_no`` has its objections only."""
        more = {"context": context, "scope": scope, "client": client, "subscription": subscription}
        asked = pubsubs.asking(self.network, notification, more)
        return Why.of((await self._transport.send(asked)).data, subscription=subscription or "")

    async def watch(
        self,
        subscriptions: PubsubSubscription | str | Sequence[PubsubSubscription | str],
        *,
        last_id: str = "",
        silence_s: float = 60.0,
    ) -> AsyncGenerator[Notified, None]:
        """Notifications of these (at most 100, also their ids) as they come, until all of them have ended.

        Begins with the first notification of the first one if it is what ``subscribe`` returned, else now; ``last_id``
        resumes after the event with that ``id``. A connection that breaks, or is silent for ``silence_s``, is
        replaced. After ``reset``, as after a restart of the server, events are missing.
        Raises ``ApiError`` for what the server refuses, ``NoConnection`` after ``Retry.attempts`` failures in a row.
        """
        begins = hosted.ids_of(subscriptions)
        found = streams.hosted(self._transport, self.network, begins, last_id=last_id, silence_s=silence_s)
        async with contextlib.aclosing(found) as events:
            async for event in events:
                yield pubsubs.event(event)
