"""A network of federated brokers: subscribe, provide, publish, query, look up, watch."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from waxwing import federations, hosted
from waxwing._async import lists, streams
from waxwing._async.transport import AsyncTransport
from waxwing.calls import call
from waxwing.federations import Found, Moment, Notification, Provider, Subscription, Told
from waxwing.hosted import path
from waxwing.records import Records, all_of


class AsyncFederationOf:
    """The federated brokers of ``network``, by its id. An error has the ``code`` of its broker, such as no_provider."""

    def __init__(self, transport: AsyncTransport, network: str) -> None:
        self._transport = transport
        self.network = network

    async def subscribe(
        self,
        scopes: Sequence[str],
        expression: str | Sequence[Any] | None = None,
        *,
        expires: Moment,
        kind: str | None = None,
        priority: str | None = None,
        url: str | None = None,
        client: str | None = None,
        key: str = "",
    ) -> Subscription:
        """``expression``: ``temperature > 25``, or nested lists; without one, all notifications of these scopes.

        ``kind``: stream, or once, which ends with its first notification. ``url`` is sent notifications by POST.
        ``client``: a consumer of this account. ``key``: the idempotency key, if your program may repeat the call.
        Raises ``TooMany`` if the broker is at a limit, ``NotAnswered`` if none answered.
        """
        more = {"kind": kind, "priority": priority, "url": url, "client": client}
        asked = federations.subscribing(self.network, scopes, expression, expires, more, key)
        return Subscription.of((await self._transport.send(asked)).data)

    async def subscriptions(self, *, limit: int | None = lists.LIMIT) -> Records[Subscription]:
        """Those of this account: active ones, and those that ended within a day."""
        there = path(self.network, "subscriptions")
        return await lists.listed(self._transport, Subscription, there, limit, {}, cursor=False)

    async def subscription(self, id: str) -> Subscription:
        asked = call("GET", path(self.network, "subscriptions", id))
        return Subscription.of((await self._transport.send(asked)).data)

    async def unsubscribe(self, subscription: Subscription | str) -> None:
        """``subscription``: what ``subscribe`` returned, or its id."""
        there = path(self.network, "subscriptions", hosted.id_of(subscription))
        await self._transport.send(call("DELETE", there))

    async def register(
        self,
        name: str,
        scopes: Sequence[str],
        *,
        needs: Mapping[str, Sequence[str]] | None = None,
        url: str | None = None,
        broker: int | None = None,
        key: str = "",
    ) -> Provider:
        """Register a provider, or change what it advertises; kept until ``unregister``.

        ``needs``: by scope, those whose data it needs first. ``url`` is asked by GET when context is queried.
        """
        more = {"needs": needs, "url": url, "broker": broker}
        asked = federations.registering(self.network, name, scopes, more, key)
        return Provider.of((await self._transport.send(asked)).data)

    async def providers(self, *, limit: int | None = lists.LIMIT) -> Records[Provider]:
        """Those of this account."""
        there = path(self.network, "providers")
        return await lists.listed(self._transport, Provider, there, limit, {}, cursor=False)

    async def provider(self, name: str) -> Provider:
        return Provider.of((await self._transport.send(call("GET", path(self.network, "providers", name)))).data)

    async def unregister(self, name: str) -> None:
        await self._transport.send(call("DELETE", path(self.network, "providers", name)))

    async def publish(
        self,
        type: str,
        entity: str,
        scope: str,
        data: Mapping[str, Any],
        *,
        provider: str,
        valid_ms: int | None = None,
        expires: Moment | None = None,
        timestamp: Moment | None = None,
        key: str = "",
    ) -> Notification:
        """As a registered provider; returns once its broker has accepted it. Valid for ``valid_ms``, or until
        ``expires``; without both for 120,000 ms. ``data``: texts, numbers, booleans, mappings and lists by name.
        ``key``: its idempotency key, with which it is sent again after a broken connection; none by default.
        """
        if valid_ms is None and expires is None:
            valid_ms = federations.VALID_MS
        names = {"entity_type": type, "entity_id": entity, "scope": scope}
        body = {**names, "data": data, "provider": provider, "valid_ms": valid_ms}
        asked = federations.publishing(self.network, body, expires=expires, timestamp=timestamp, key=key)
        return Notification.of((await self._transport.send(asked)).data)

    async def query(
        self,
        scopes: Sequence[str],
        *,
        type: str | None = None,
        entity: str | None = None,
        deadline_ms: int | None = None,
    ) -> Records[Notification]:
        """Context now, of the providers of these scopes, within ``deadline_ms`` (5,000). Raises ``NotFound`` if there
        are none, ``NotAnswered`` without an answer in time."""
        more = {"entity_type": type, "entity_id": entity, "deadline_ms": deadline_ms}
        answer = await self._transport.send(federations.querying(self.network, scopes, more))
        return all_of(Notification, answer.data["notifications"])

    async def lookup(self, scope: str) -> Records[Found]:
        """The providers of a scope, at most 64."""
        asked = call("GET", path(self.network, "lookup"), query={"scope": scope})
        return all_of(Found, (await self._transport.send(asked)).data["results"])

    async def watch(
        self,
        subscriptions: Subscription | str | Sequence[Subscription | str],
        *,
        last_id: str = "",
        silence_s: float = 60.0,
    ) -> AsyncGenerator[Told, None]:
        """Notifications of these (at most 100, also their ids) as they come, until all of them have ended.

        Begins with the first notification of the first one if it is what ``subscribe`` returned, else now; ``last_id``
        resumes after the event with that ``id``. A connection that breaks, or is silent for ``silence_s``, is
        replaced. After ``reset``, as after a restart of the server, events are missing: ``subscription`` has the state.
        Raises ``ApiError`` for what the server refuses, ``NoConnection`` after ``Retry.attempts`` failures in a row.
        """
        begins = hosted.ids_of(subscriptions)
        found = streams.hosted(self._transport, self.network, begins, last_id=last_id, silence_s=silence_s)
        async with contextlib.aclosing(found) as events:
            async for event in events:
                yield federations.event(event)
