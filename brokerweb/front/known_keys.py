"""Whether tokens and sessions exist, found for many requests with one query.

A token begins with a key, which is stored; the rest is checked by its digest only if the key exists. A session has
nothing but its key. Whoever sends random ones therefore causes ten short queries a second, however many are sent, and
no client is refused: a new one is looked for within ``EVERY_S``.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection

from channels.db import database_sync_to_async
from django.contrib.sessions.models import Session
from knox.settings import CONSTANTS

from brokerweb.accounts.models import Token

EVERY_S = 0.1
"""Between two queries."""
MOST = 1_000
"""Keys of one query."""
MOST_FOUND = 10_000
"""Keys that are known to exist; 2 MB."""

Read = Callable[[Collection[str]], Collection[str]]


def key_in(authorization: str) -> str | None:
    """The key of the token in the header ``Authorization``; ``None`` if this is no token."""
    words = authorization.encode("latin1", "replace").split()  # as ``knox`` does it
    if len(words) != 2 or words[0].lower() != b"bearer" or not words[1].isascii():
        return None
    return words[1].decode()[: CONSTANTS.TOKEN_KEY_LENGTH]


def tokens(keys: Collection[str]) -> Collection[str]:
    """Those that exist, from the database."""
    return set(Token.objects.filter(token_key__in=keys).values_list("token_key", flat=True))


def sessions(keys: Collection[str]) -> Collection[str]:
    """The same for sessions."""
    return set(Session.objects.filter(session_key__in=keys).values_list("session_key", flat=True))


class _Query:
    """One that is about to be sent."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.answer: asyncio.Task[Collection[str]] | None = None


class KnownKeys:
    """Those that one process has met. ``read`` finds those that exist."""

    def __init__(self, read: Read) -> None:
        self._read = database_sync_to_async(read, thread_sensitive=False)
        self._found: OrderedDict[str, None] = OrderedDict()
        self._next: _Query | None = None
        self._not_before = 0.0

    async def exists(self, key: str) -> bool:
        """Raises ``DatabaseError``."""
        if key in self._found:
            return True
        while len((query := self._query()).keys) >= MOST:
            assert query.answer is not None
            await asyncio.shield(query.answer)
        query.keys.add(key)
        assert query.answer is not None
        return key in await asyncio.shield(query.answer)

    def forget(self, key: str) -> None:
        """It may have been deleted."""
        self._found.pop(key, None)

    def _query(self) -> _Query:
        """The next one that will be sent."""
        loop, query = asyncio.get_running_loop(), self._next
        if query is None or query.answer is None or query.answer.get_loop() is not loop:
            query = self._next = _Query()
            query.answer = loop.create_task(self._send(query))
        return query

    async def _send(self, query: _Query) -> Collection[str]:
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(max(0.0, self._not_before - loop.time()))
        finally:
            if self._next is query:
                self._next = None
        self._not_before = loop.time() + EVERY_S
        found = await self._read(query.keys)
        self._found |= dict.fromkeys(found)
        while len(self._found) > MOST_FOUND:
            self._found.popitem(last=False)
        return found
