"""One request on the context of a network, whoever passed it on: the system's operation, and what HTTP adds to it."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from urllib.parse import urlencode

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
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.contract import Absent, Context, Held, How, Key
from brokerweb.systems.registry import web_of
from overlay.core.errors import InvalidSetting, shown

ONE, BATCH, LIST, STREAM = "one", "batch", "list", "stream"
"""What a URL names."""
PARAMETERS = {
    (ONE, "GET"): frozenset({"broker", "trace", "dry"}),
    (ONE, "PUT"): frozenset({"broker"}),
    (ONE, "DELETE"): frozenset(),
    (BATCH, "POST"): frozenset(),
    (LIST, "GET"): frozenset({"cursor", "page_size", "fields"}),
    (STREAM, "GET"): frozenset({"last_event_id", "snapshot"}),
}
"""By what is named and method, next to those of the system; others are refused."""
PAGE_SIZE, MOST_PAGE_SIZE = 100, 500
LARGEST_PUT = 1_000_000
"""Bytes of its body: what servers store at most takes a third of it with every character escaped."""


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A request that is permitted."""

    method: str
    snapshot: NetworkSnapshot
    who: str
    """The token or session, whose limits and idempotency keys count."""
    account: str
    """The user's id, whose waiting requests count."""
    kind: str
    """``ONE``, ``BATCH``, ``LIST`` or ``STREAM``."""
    key: Key | None
    """Of ``ONE``."""
    parameters: Mapping[str, str]
    headers: Mapping[str, str]
    """By lower-case name; those of ``HEADERS`` at least."""
    data: Any = None
    """The body, parsed."""
    raw: bytes = b""
    """The same as it came."""
    here: str = ""
    """Its URL without the query."""
    headers_to_send: Sequence[tuple[bytes, bytes]] = ()
    """Of the answer, whatever it is."""


HEADERS = frozenset({*conditions.NAMES, "prefer", "idempotency-key", "last-event-id", "accept-encoding"})


class Service:
    """The data plane of one process, in one event loop."""

    def __init__(self) -> None:
        self.locks = Locks()
        self.waiters = Waiters()
        self.answers = Answers()
        self._watched: set[str] = set()
        """Systems that tell of new data."""

    async def get(self, asked: ContextRequest) -> Reply:
        """Status 200 or 304. Raises errors of services and of REST."""
        assert asked.key is not None
        context, how = context_of(asked.snapshot, "get"), how_of(asked)
        waits, applied = wait_s(asked.headers.get("prefer", "")), {}
        try:
            if waits:
                applied = {"Preference-Applied": f"wait={waits}"}
                about = asked.snapshot.network, asked.key

                async def look() -> Held:
                    assert asked.key is not None
                    return await context.get(asked.snapshot, asked.key, how)

                held = await self.waiters.until(look, asked.account, about, waits)
            else:
                held = await context.get(asked.snapshot, asked.key, how)
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

    async def put(self, asked: ContextRequest) -> Reply:
        """Status 200. Raises errors of services and of REST."""
        assert asked.key is not None
        check_size(asked.raw)
        context, how = context_of(asked.snapshot, "put"), how_of(asked)
        change = context.read(asked.key, asked.data)
        async with self.locks.of((asked.snapshot.network, asked.key)):
            if conditions.are_given(asked.headers):
                await self._check(asked, context, how)
            taken = await context.put(asked.snapshot, change, how)
        self.waiters.stored((asked.snapshot.network, asked.key))
        return reply(200, taken.body, {"ETag": conditions.tag(taken.version)} if taken.version else None)

    async def delete(self, asked: ContextRequest) -> Reply:
        """Status 200. Raises errors of services and of REST."""
        assert asked.key is not None
        context, how = context_of(asked.snapshot, "delete"), How(settings.CONTEXT_DEADLINE_SECONDS)

        def check(version: str | None, changed_ms: int) -> None:
            if conditions.check(asked.headers, version, changed_ms, is_safe=False) != conditions.GO_ON:
                raise PreconditionFailed

        try:
            async with self.locks.of((asked.snapshot.network, asked.key)):
                taken = await context.delete(asked.snapshot, asked.key, asked.parameters, how, check)
        except Absent as absent:
            raise NotFound(str(absent)) from None
        return reply(200, taken.body)

    async def list(self, asked: ContextRequest) -> Reply:
        """Status 200 with one page. Raises errors of services and of REST."""
        context, parameters = context_of(asked.snapshot, "list"), asked.parameters
        size = _page_size(parameters.get("page_size", ""))
        wanted = _fields(parameters.get("fields", ""), context.fields)
        selection = selection_of(context, parameters)
        self.watch(asked.snapshot.system, context)
        listed = await context.list(asked.snapshot, selection, parameters.get("cursor", ""), size)
        rows = listed.rows if not wanted else [{name: row[name] for name in wanted} for row in listed.rows]
        said = {name: text for name, text in parameters.items() if name != "format"}
        following = f"{asked.here}?{urlencode({**said, 'cursor': listed.following})}" if listed.following else None
        body = {
            "next": following,
            "complete": not listed.missing,
            "missing": listed.missing,
            "last_event_id": listed.last_event_id,
            "results": rows,
        }
        return reply(200, body)

    def watch(self, system: str, context: Context) -> None:
        """Data that are stored in a followed network end waiting, however they came."""
        if system not in self._watched:
            self._watched.add(system)
            context.when_stored(lambda network, key: self.waiters.stored((network, key)))

    async def once(self, asked: ContextRequest, carry_out: Any) -> Reply:
        """``carry_out(asked)``, or the answer that it got when it was first sent with this ``Idempotency-Key``."""
        header = asked.headers.get("idempotency-key")
        if header is None:
            result: Reply = await carry_out(asked)
            return result
        key, fingerprint = read_key(header), _fingerprint(asked)
        kept = self.answers.begin(asked.who, key, fingerprint, time.monotonic())
        if kept is not None:
            return Reply(kept.status, kept.body, {**kept.headers, REPLAYED: "true"})
        done: Reply | None = None
        try:
            done = await carry_out(asked)
        finally:
            self.answers.end(asked.who, key, fingerprint, done)
        return done

    async def _check(self, asked: ContextRequest, context: Context, how: How) -> None:
        """Raises ``PreconditionFailed``."""
        assert asked.key is not None
        version: str | None = None
        changed_ms = 0
        try:
            held = await context.get(asked.snapshot, asked.key, How(how.deadline_s))
            version, changed_ms = held.version, held.changed_ms
        except Absent:
            pass
        if conditions.check(asked.headers, version, changed_ms, is_safe=False) != conditions.GO_ON:
            raise PreconditionFailed


def unconditional(version: str | None, changed_ms: int) -> None:
    """The check of a deletion without conditions."""


def check_size(raw: bytes) -> None:
    """Of the body of a ``put``. Raises ``TooLarge``."""
    if len(raw) > LARGEST_PUT:
        raise TooLarge(f"The body has {len(raw):,} bytes; the limit is {LARGEST_PUT:,}.")


def context_of(snapshot: NetworkSnapshot, operation: str) -> Context:
    """The operations of the network's system. Raises ``NotPossible`` if this is none of them."""
    context = web_of(snapshot.system).context
    if context is None:
        raise NotPossible(f"This network is of the system {snapshot.system}, which has no context to store or query.")
    if operation not in context.operations:
        raise NotPossible(f"This network is of the system {snapshot.system}, which has no operation {operation}.")
    return context


def selection_of(context: Context, parameters: Mapping[str, str]) -> Hashable:
    """What the parameters of a list or stream select. Raises ``InvalidSetting``."""
    return context.selection({name: text for name, text in parameters.items() if name in context.filters})


def known_parameters(system: str, kind: str, method: str) -> Sequence[str] | None:
    """Of the operation, first the system's; ``None``: it has no context."""
    context = web_of(system).context
    if context is None:
        return None
    own = context.filters if kind in (LIST, STREAM) else context.of_delete if method == "DELETE" else frozenset()
    return [*sorted(own), *sorted(PARAMETERS[kind, method])]


def unknown_parameters(parameters: Mapping[str, str], system: str, kind: str, method: str) -> Sequence[str]:
    """Those that the operation does not have. For a system without context, all are known."""
    known = known_parameters(system, kind, method)
    return () if known is None else [name for name in parameters if name not in known]


def _page_size(text: str) -> int:
    """Raises ``InvalidSetting``."""
    if not text:
        return PAGE_SIZE
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        raise InvalidSetting("page_size", f"must be a whole number from 1 to {MOST_PAGE_SIZE}, not {shown(text, 40)}")
    return min(int(text), MOST_PAGE_SIZE)


def _fields(text: str, known: Sequence[str]) -> Sequence[str]:
    """Those named; none: all. Raises ``InvalidSetting``."""
    wanted = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in wanted:
        if name not in known:
            raise InvalidSetting("fields", f"unknown field {shown(name, 40)}; known fields: {', '.join(known)}")
    return wanted


def how_of(asked: ContextRequest) -> How:
    """From the parameters. Raises ``InvalidSetting``."""
    parameters = asked.parameters
    if not parameters:
        return How(settings.CONTEXT_DEADLINE_SECONDS)
    is_dry = _is_true(parameters, "dry")
    is_traced = _is_true(parameters, "trace") or is_dry
    text = parameters.get("broker", "")
    server = broker_index.below(asked.snapshot.servers, broker_index.number(text)) if text else None
    return How(settings.CONTEXT_DEADLINE_SECONDS, server, is_traced, is_dry)


def _is_true(parameters: Mapping[str, str], name: str) -> bool:
    """Raises ``InvalidSetting``."""
    said = parameters.get(name, "false")
    if said not in ("true", "false"):
        raise InvalidSetting(name, f"must be true or false, not {said!r:.40}")
    return said == "true"


def _fingerprint(asked: ContextRequest) -> bytes:
    what = asked.method, asked.snapshot.network, asked.key, sorted(asked.parameters.items())
    return blake2b(asked.raw, key=blake2b(repr(what).encode(), digest_size=16).digest(), digest_size=16).digest()
