"""The context of one network: get, put, delete, list, batch, watch."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

from waxwing import contexts
from waxwing._async import lists, streams
from waxwing._async.transport import AsyncTransport
from waxwing.calls import Call, call
from waxwing.contexts import Change, Operation
from waxwing.errors import NotFound
from waxwing.payloads import Payload
from waxwing.records import Context, Records, Result, Stored, all_of


class AsyncContextOf:
    """The context of ``network``, by its id."""

    def __init__(self, transport: AsyncTransport, network: str) -> None:
        self._transport = transport
        self.network = network

    async def get(
        self,
        type: str,
        entity: str,
        scope: str,
        *,
        wait_s: float | None = None,
        broker: int | None = None,
        trace: bool | None = None,
        dry: bool | None = None,
    ) -> Context:
        """Valid data. ``wait_s``: how long to wait until there is some, at most 60 s. ``trace``: every broker records
        the query, and ``walk`` of the answer leads to its way; ``dry``: that, without a mark in figures and logs.

        Raises ``NotFound`` if no broker has any, ``NotAnswered`` if none answered in time.
        """
        path = contexts.path(self.network, type, entity, scope)
        asked = call(
            "GET", path, query={"broker": broker, "trace": trace, "dry": dry}, headers=contexts.waiting(wait_s)
        )
        return contexts.context(type, entity, scope, await self._transport.send(asked, contexts.patience_s(wait_s)))

    async def find(self, type: str, entity: str, scope: str, *, wait_s: float | None = None) -> Context | None:
        """The same; ``None`` if no broker has valid data."""
        try:
            return await self.get(type, entity, scope, wait_s=wait_s)
        except NotFound:
            return None

    async def put(
        self,
        type: str,
        entity: str,
        scope: str,
        payload: Payload,
        *,
        provider: str,
        valid_ms: int | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        broker: int | None = None,
        key: str | None = None,
    ) -> Stored:
        """Store data, valid for ``valid_ms`` (120,000). ``payload``: pairs, or a text.

        ``if_match`` is an ``etag``, ``if_none_match="*"`` stores only where nothing is: raises ``PreconditionFailed``.
        ``key``: the idempotency key, if your program may repeat the call; this client repeats with the same one.
        """
        asked = call(
            "PUT",
            contexts.path(self.network, type, entity, scope),
            query={"broker": broker},
            body=contexts.body(payload, provider, valid_ms),
            key=key or True,
            headers=contexts.conditions(if_match, if_none_match),
        )
        answer = await self._transport.send(asked)
        return Stored.of(answer.data, etag=answer.headers.get("etag", ""))

    async def delete(
        self, type: str, entity: str, scope: str, *, provider: str | None = None, if_match: str | None = None
    ) -> Result:
        """Delete the data of ``provider``, which is needed if several have data; ``raw`` has the brokers ``pending``.

        Raises ``NotFound`` if there is nothing to delete.
        """
        path = contexts.path(self.network, type, entity, scope)
        asked = call("DELETE", path, query={"provider": provider}, key=True, headers=contexts.conditions(if_match))
        answer = await self._transport.send(asked)
        return Result.of(answer.data or {}, status=answer.status)

    async def batch(
        self, operations: Sequence[Operation], *, atomic: bool = False, key: str | None = None
    ) -> Records[Result]:
        """Up to 1,000 operations (``waxwing.put``, ``get``, ``delete``), each with the status of its own.

        Raises ``ApiError`` if a batch that is ``atomic`` is refused; its sentence says what stays stored.
        """
        path = contexts.batch_path(self.network)
        asked = call("POST", path, body={"atomic": atomic, "operations": list(operations)}, key=key or True)
        return all_of(Result, (await self._transport.send(asked)).data["results"])

    async def list(self, *, limit: int | None = lists.LIMIT, **filters: Any) -> Records[Context]:
        """What the network has under ``filters``: ``type``, ``id_pattern``, ``q`` and others."""
        return await lists.listed(self._transport, Context, contexts.list_path(self.network), limit, filters)

    async def each(self, **filters: Any) -> AsyncIterator[Context]:
        """The same without a limit, page by page."""
        async for row in lists.rows(self._transport, contexts.list_path(self.network), filters):
            yield Context.of(row)

    async def watch(
        self, *, last_id: str = "", snapshot: bool = False, silence_s: float = 60.0, **filters: Any
    ) -> AsyncGenerator[Change, None]:
        """Changes as they come, for ever. A connection that breaks, or is silent for ``silence_s``, is replaced.

        ``last_id`` resumes after the change with that ``id``. A change of the kind ``reset`` says that those before it
        are lost, as after a restart of the server: list again. With ``snapshot`` the stream begins with what there is,
        also after each ``reset``. Raises ``ApiError`` for what the server refuses, ``NoConnection`` after
        ``Retry.attempts`` failures in a row.
        """

        def asked(after: str) -> Call:
            return contexts.watching(self.network, filters, after, snapshot=snapshot)

        found = streams.events(
            self._transport,
            asked,
            contexts.CHANGES,
            last_id=last_id,
            silence_s=silence_s,
            restarting=("reset",) if snapshot else (),
        )
        async with contextlib.aclosing(found) as events:
            async for event in events:
                yield contexts.change(event)
