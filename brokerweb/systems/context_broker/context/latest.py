"""Which broker took the latest value of an entity through REST, so that an older one elsewhere is not answered.

A provider's updates go to the next broker where the usual one does not answer. If that one comes back with its table,
after a pause or a cut, it has an older value, which it would serve until its ValidEnd: no message of the protocol tells
it that its provider went elsewhere. Kept in the cache until the value's ValidEnd; without the cache nothing is known,
and answers are those of the brokers. Providers that speak UDP to brokers themselves are not seen here.
"""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import blake2b
from typing import NamedTuple

from django.core.cache import cache

from brokerweb.kit.cache_breaker import CacheBreaker

Key = tuple[str, str, str]

_breaker = CacheBreaker("which broker took the latest value of an entity is not known")


class Latest(NamedTuple):
    """The latest value that was provided."""

    stamp_ms: int
    """Unix milliseconds, no later than the header timestamp of the update."""
    broker: tuple[str, int]


def note(network: Hashable, key: Key, latest: Latest, valid_ms: int) -> None:
    """``latest.broker`` has acknowledged it."""
    _breaker.call(lambda: cache.set(_name(network, key), tuple(latest), timeout=valid_ms / 1000))


def of(network: Hashable, key: Key) -> Latest | None:
    found = _breaker.call(lambda: cache.get(_name(network, key)))
    return None if found is None else Latest(found[0], (found[1][0], found[1][1]))


def _name(network: Hashable, key: Key) -> str:
    return "context:" + blake2b(repr((network, key)).encode(), digest_size=16).hexdigest()
