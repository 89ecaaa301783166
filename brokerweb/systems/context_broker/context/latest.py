"""Remembers which broker accepted the latest value of an entity through REST, so that older values elsewhere are not
returned.

If a provider's usual broker does not answer, updates go to the next one. When the usual broker returns with its table,
it would serve its older value until that expires, because the protocol has no message about it. The cache keeps the
entry until the value expires; without a cache, answers are those of the brokers. Updates sent to brokers by UDP are not
tracked.
"""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import blake2b
from typing import NamedTuple

from django.core.cache import cache

from brokerweb.kit.cache_breaker import CacheBreaker

Key = tuple[str, str, str]

_breaker = CacheBreaker("the broker with the latest value of an entity is unknown")


class Latest(NamedTuple):
    """The latest stored value."""

    stamp_ms: int
    """Unix milliseconds, not later than the header timestamp of the update."""
    broker: tuple[str, int]


def note(network: Hashable, key: Key, latest: Latest, valid_ms: int) -> None:
    """Record that ``latest.broker`` acknowledged it."""
    _breaker.call(lambda: cache.set(_name(network, key), tuple(latest), timeout=valid_ms / 1000))


def of(network: Hashable, key: Key) -> Latest | None:
    found = _breaker.call(lambda: cache.get(_name(network, key)))
    return None if found is None else Latest(found[0], (found[1][0], found[1][1]))


def _name(network: Hashable, key: Key) -> str:
    return "context:" + blake2b(repr((network, key)).encode(), digest_size=16).hexdigest()
