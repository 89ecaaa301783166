"""A network of ContextNet: its mobile nodes, messages to them, and what they send."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence

from waxwing import contextnets, hosted
from waxwing._async import lists, streams
from waxwing._async.transport import AsyncTransport
from waxwing.calls import call
from waxwing.contextnets import (
    ApplicationUser,
    DiscardedMessage,
    Heard,
    MobileNode,
    MobileSubscription,
    Payload,
    SentMessage,
    path,
)
from waxwing.hosted import told
from waxwing.records import Records


class AsyncContextNetOf:
    """The mobile nodes of ``network``, by its id. Names of applications are those of this account."""

    def __init__(self, transport: AsyncTransport, network: str) -> None:
        self._transport = transport
        self.network = network

    async def nodes(
        self, *, connected: bool | None = None, gateway: str | None = None, limit: int | None = lists.LIMIT
    ) -> Records[MobileNode]:
        """Those that were ever connected."""
        filters = {"connected": None if connected is None else str(connected).lower(), "gateway": gateway}
        there = path(self.network, "nodes")
        return await lists.listed(self._transport, MobileNode, there, limit, filters, cursor=False)

    async def node(self, node: str) -> MobileNode:
        """Raises ``NotFound`` if it was never connected."""
        return MobileNode.of((await self._transport.send(call("GET", path(self.network, "nodes", node)))).data)

    async def secret(self, node: str) -> str:
        """For the device of a node, in hexadecimal digits; after ``revoke`` another one. Needs the right to change."""
        answer = await self._transport.send(call("POST", path(self.network, "nodes", node, "secret")))
        return str(answer.data["secret"])

    async def revoke(self, node: str) -> None:
        """The secret of a node. Gateways close its connection."""
        await self._transport.send(call("DELETE", path(self.network, "nodes", node, "secret")))

    async def discarded(
        self, *, node: str | None = None, reason: str | None = None, limit: int | None = lists.LIMIT
    ) -> Records[DiscardedMessage]:
        """Messages that did not reach their node, the newest first, at most 1,000. ``reason``: expired or evicted."""
        filters = {"node": node, "reason": reason}
        there = path(self.network, "discarded")
        return await lists.listed(self._transport, DiscardedMessage, there, limit, filters, cursor=False)

    async def users(self, *, limit: int | None = lists.LIMIT) -> Records[ApplicationUser]:
        """Those that applications have in the network's log. Needs the operator role."""
        return await lists.listed(
            self._transport, ApplicationUser, path(self.network, "users"), limit, {}, cursor=False
        )

    async def grant_user(
        self,
        application: str,
        *,
        topics: Sequence[str] | None = None,
        group: str | None = None,
        to: Sequence[str] | None = None,
    ) -> ApplicationUser:
        """A user of its own in the log, which listens to ``topics`` (inbound) in ``group`` and sends to ``to`` (nodes).

        ``log`` of the answer is told once. One that there is gets these rights and another password. Needs the right
        to change.
        """
        body = told({"topics": topics, "group": group, "to": to})
        answer = await self._transport.send(call("PUT", path(self.network, "users", application), body=body))
        return ApplicationUser.of(answer.data)

    async def revoke_user(self, application: str) -> None:
        """Its connections to the log end."""
        await self._transport.send(call("DELETE", path(self.network, "users", application)))

    async def send(
        self, node: str, payload: Payload, *, ttl_s: int | None = None, application: str | None = None, key: str = ""
    ) -> SentMessage:
        """To a node. Returns once the network's log has it; a node that is away gets it when it returns, within
        ``ttl_s``. ``key``: its idempotency key, with which it is sent again after a broken connection; none by default.
        """
        return await self._send({"node": node}, payload, ttl_s, application, key)

    async def send_to_group(
        self, group: str, payload: Payload, *, application: str | None = None, key: str = ""
    ) -> SentMessage:
        """To the nodes of a group that are connected: ``DEFINER/GROUP`` or ``GROUP``."""
        return await self._send({"group": group}, payload, None, application, key)

    async def send_to_all(self, payload: Payload, *, application: str | None = None, key: str = "") -> SentMessage:
        """To all nodes that are connected."""
        return await self._send({"all": True}, payload, None, application, key)

    async def subscribe(
        self,
        topic: str | None = None,
        *,
        node: str | None = None,
        url: str | None = None,
        application: str | None = None,
        key: str = "",
    ) -> MobileSubscription:
        """To messages of nodes, or of one. Returns once they come.

        ``topic``: inbound by default. ``url`` is sent messages by POST. ``key``: the idempotency key, if your program
        may repeat the call.
        """
        more = {"topic": topic, "node": node, "url": url, "application": application}
        asked = contextnets.subscribing(self.network, more, key)
        return MobileSubscription.of((await self._transport.send(asked)).data)

    async def subscriptions(self, *, limit: int | None = lists.LIMIT) -> Records[MobileSubscription]:
        """Those of this account."""
        there = path(self.network, "subscriptions")
        return await lists.listed(self._transport, MobileSubscription, there, limit, {}, cursor=False)

    async def subscription(self, id: str) -> MobileSubscription:
        asked = call("GET", path(self.network, "subscriptions", id))
        return MobileSubscription.of((await self._transport.send(asked)).data)

    async def unsubscribe(self, subscription: MobileSubscription | str) -> None:
        """``subscription``: what ``subscribe`` returned, or its id."""
        there = path(self.network, "subscriptions", hosted.id_of(subscription))
        await self._transport.send(call("DELETE", there))

    async def unregister(self, application: str) -> None:
        """An application, with its subscriptions."""
        await self._transport.send(call("DELETE", path(self.network, "applications", application)))

    async def watch(
        self,
        subscriptions: MobileSubscription | str | Sequence[MobileSubscription | str],
        *,
        last_id: str = "",
        silence_s: float = 60.0,
    ) -> AsyncGenerator[Heard, None]:
        """Messages of these (at most 100, also their ids) as they come, for ever.

        Begins with the first message of the first one if it is what ``subscribe`` returned, else now; ``last_id``
        resumes after the event with that ``id``. A connection that breaks, or is silent for ``silence_s``, is
        replaced. Raises ``ApiError`` for what the server refuses, ``NoConnection`` after ``Retry.attempts`` failures in
        a row.
        """
        begins = hosted.ids_of(subscriptions)
        found = streams.hosted(self._transport, self.network, begins, last_id=last_id, silence_s=silence_s)
        async with contextlib.aclosing(found) as events:
            async for event in events:
                yield contextnets.event(event)

    async def _send(
        self, to: dict[str, object], payload: Payload, ttl_s: int | None, application: str | None, key: str
    ) -> SentMessage:
        more = {"ttl_s": ttl_s, "application": application}
        asked = contextnets.sending(self.network, to, payload, more, key)
        return SentMessage.of((await self._transport.send(asked)).data)
