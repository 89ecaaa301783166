"""One request on the context of a network, whoever passed it on: the system's operation, and what HTTP adds to it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from django.conf import settings
from rest_framework.exceptions import NotFound

from brokerweb.api.errors import PreconditionFailed, TooLarge
from brokerweb.api.idempotency_key import REPLAYED, read_key
from brokerweb.front import conditions
from brokerweb.front.idempotency import Answers
from brokerweb.front.locks import Locks
from brokerweb.front.preferences import wait_s
from brokerweb.front.replies import Reply, reply
from brokerweb.front.waiting import Waiters
from brokerweb.kit.errors import NotPossible
from brokerweb.networks import broker_index
from brokerweb.networks.sight import Sight
from brokerweb.systems.contract import Absent, Context, Held, How, Key
from brokerweb.systems.registry import web_of
from overlay.core.errors import InvalidSetting

PARAMETERS = {"GET": frozenset({"broker", "trace", "format"}), "PUT": frozenset({"broker", "format"})}
"""By method; others are refused."""
LARGEST_PUT = 1_000_000
"""Bytes of its body: what servers store at most takes a third of it with every character escaped."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that is permitted."""

    method: str
    sight: Sight
    who: str
    """The token or session, whose limits and idempotency keys count."""
    key: Key | None
    """``None``: a batch."""
    parameters: Mapping[str, str]
    headers: Mapping[str, str]
    """By lower-case name; those of ``HEADERS`` at least."""
    data: Any = None
    """The body, parsed."""
    raw: bytes = b""
    """The same as it came."""


HEADERS = frozenset({*conditions.NAMES, "prefer", "idempotency-key"})


class Service:
    """The data plane of one process, in one event loop."""

    def __init__(self) -> None:
        self.locks = Locks()
        self.waiters = Waiters()
        self.answers = Answers()

    async def get(self, asked: Asked) -> Reply:
        """Status 200 or 304. Raises errors of services and of REST."""
        assert asked.key is not None
        context, how = context_of(asked.sight, "get"), how_of(asked)
        waits, applied = wait_s(asked.headers.get("prefer", "")), {}
        try:
            if waits:
                applied = {"Preference-Applied": f"wait={waits}"}
                about = asked.sight.network, asked.key

                async def look() -> Held:
                    assert asked.key is not None
                    return await context.get(asked.sight, asked.key, how)

                held = await self.waiters.until(look, asked.who, about, waits)
            else:
                held = await context.get(asked.sight, asked.key, how)
        except Absent as absent:
            if conditions.check(asked.headers, None, 0, is_safe=True) == conditions.FAILED:
                raise PreconditionFailed from None
            raise NotFound(str(absent)) from None
        headers = {
            "ETag": conditions.tag(held.version),
            "Last-Modified": conditions.date(held.changed_ms),
            **applied,
        }
        status = conditions.check(asked.headers, held.version, held.changed_ms, is_safe=True)
        if status == conditions.FAILED:
            raise PreconditionFailed
        if status == conditions.NOT_MODIFIED:
            return Reply(status, b"", headers)
        return reply(200, held.body, headers)

    async def put(self, asked: Asked) -> Reply:
        """Status 200. Raises errors of services and of REST."""
        assert asked.key is not None
        check_size(asked.raw)
        context, how = context_of(asked.sight, "put"), how_of(asked)
        change = context.read(asked.key, asked.data)
        async with self.locks.of((asked.sight.network, asked.key)):
            if conditions.are_given(asked.headers):
                await self._check(asked, context, how)
            taken = await context.put(asked.sight, change, how)
        self.waiters.stored((asked.sight.network, asked.key))
        return reply(200, taken.body, {"ETag": conditions.tag(taken.version)} if taken.version else None)

    async def once(self, asked: Asked, carry_out: Any) -> Reply:
        """``carry_out(asked)``, or the answer that it got when it was first sent with this ``Idempotency-Key``."""
        header = asked.headers.get("idempotency-key")
        if header is None:
            result: Reply = await carry_out(asked)
            return result
        key = read_key(header)
        kept = self.answers.begin(asked.who, key, _fingerprint(asked), time.monotonic())
        if kept is not None:
            return Reply(kept.status, kept.body, {**kept.headers, REPLAYED: "true"})
        done: Reply | None = None
        try:
            done = await carry_out(asked)
        finally:
            self.answers.end(asked.who, key, done)
        return done

    async def _check(self, asked: Asked, context: Context, how: How) -> None:
        """Raises ``PreconditionFailed``."""
        assert asked.key is not None
        version: str | None = None
        changed_ms = 0
        try:
            held = await context.get(asked.sight, asked.key, How(how.deadline_s))
            version, changed_ms = held.version, held.changed_ms
        except Absent:
            pass
        if conditions.check(asked.headers, version, changed_ms, is_safe=False) != conditions.GO_ON:
            raise PreconditionFailed


def check_size(raw: bytes) -> None:
    """Of the body of a ``put``. Raises ``TooLarge``."""
    if len(raw) > LARGEST_PUT:
        raise TooLarge(f"The body has {len(raw):,} bytes; the limit is {LARGEST_PUT:,}.")


def context_of(sight: Sight, operation: str) -> Context:
    """The operations of the network's system. Raises ``NotPossible`` if this is none of them."""
    context = web_of(sight.system).context
    if context is None:
        raise NotPossible(f"This network is of the system {sight.system}, which has no context to store or query.")
    if operation not in context.operations:
        raise NotPossible(f"This network is of the system {sight.system}, which has no operation {operation}.")
    return context


def how_of(asked: Asked) -> How:
    """From the parameters. Raises ``InvalidSetting``."""
    parameters = asked.parameters
    if not parameters:
        return How(settings.CONTEXT_DEADLINE_SECONDS)
    said = parameters.get("trace", "false")
    if said not in ("true", "false"):
        raise InvalidSetting("trace", f"must be true or false, not {said!r:.40}")
    text = parameters.get("broker", "")
    server = broker_index.below(asked.sight.servers, broker_index.number(text)) if text else None
    return How(settings.CONTEXT_DEADLINE_SECONDS, server, said == "true")


def _fingerprint(asked: Asked) -> bytes:
    what = asked.method, asked.sight.network, asked.key, sorted(asked.parameters.items())
    return blake2b(asked.raw, key=blake2b(repr(what).encode(), digest_size=16).digest(), digest_size=16).digest()
