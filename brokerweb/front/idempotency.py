"""Answers kept for requests that are sent again with the same ``Idempotency-Key``. Pure; times are monotonic seconds.

Kept in the web process: after its restart, a request that is sent again is carried out again. Errors are not kept, nor
batches in which an operation failed that may succeed later, so that the request can be tried again.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass

from brokerweb.api.idempotency_key import InProgress, KeyReused
from brokerweb.front.replies import Reply

KEPT_S = 24 * 3600.0
MOST = 20_000
MOST_BYTES = 32_000_000
"""Of all answers together, with their keys."""
FRAME_BYTES = 500
"""What an answer takes beyond its key and body."""


@dataclass(slots=True)
class _Kept:
    fingerprint: bytes
    reply: Reply | None
    """``None`` while the first request is carried out."""
    until: float


class Answers:
    """By token or session, and key. Beyond the bounds, the oldest of whoever has the most bytes is forgotten."""

    def __init__(self, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._kept: dict[str, OrderedDict[str, _Kept]] = {}
        self._bytes = Counter[str]()
        """Of those who have answers."""
        self._count = self._total = 0

    def begin(self, who: str, key: str, fingerprint: bytes, now: float) -> Reply | None:
        """The kept answer; ``None``: carry it out, then call ``end``. Raises ``InProgress``, ``KeyReused``."""
        kept = self._find(who, key)
        if kept is not None and kept.until <= now:
            self._drop(who, key)
            kept = None
        if kept is None:
            self._kept.setdefault(who, OrderedDict())[key] = _Kept(fingerprint, None, now + KEPT_S)
            self._count += 1
            self._grow(who, len(key) + FRAME_BYTES)
            return None
        if kept.fingerprint != fingerprint:
            raise KeyReused
        if kept.reply is None:
            raise InProgress
        return kept.reply

    def end(self, who: str, key: str, fingerprint: bytes, reply: Reply | None) -> None:
        """``None``: it has no answer that would be the same again."""
        kept = self._find(who, key)
        if kept is None or kept.reply is not None or kept.fingerprint != fingerprint:  # forgotten, as others came since
            return
        if reply is None or reply.status >= 400 or not reply.is_final:
            self._drop(who, key)
            return
        kept.reply = reply
        self._grow(who, len(reply.body))

    def _find(self, who: str, key: str) -> _Kept | None:
        own = self._kept.get(who)
        return None if own is None else own.get(key)

    def _grow(self, who: str, size: int) -> None:
        self._bytes[who] += size
        self._total += size
        while self._count > self._most or self._total > self._most_bytes:
            who = max(self._bytes, key=self._bytes.__getitem__)
            self._drop(who, next(iter(self._kept[who])))

    def _drop(self, who: str, key: str) -> None:
        kept = self._kept[who].pop(key)
        size = _size(key, kept)
        self._count -= 1
        self._total -= size
        self._bytes[who] -= size
        if not self._kept[who]:
            del self._kept[who], self._bytes[who]

    def check_invariants(self) -> None:
        assert self._count == sum(map(len, self._kept.values())) <= self._most
        sizes = {who: sum(_size(*one) for one in kept.items()) for who, kept in self._kept.items()}
        assert self._bytes == sizes
        assert self._total == sum(sizes.values()) <= self._most_bytes


def _size(key: str, kept: _Kept) -> int:
    return len(key) + FRAME_BYTES + (len(kept.reply.body) if kept.reply is not None else 0)
