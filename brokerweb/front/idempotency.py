"""Answers kept for requests that are sent again with the same ``Idempotency-Key``. Pure; times are monotonic seconds.

Kept in the web process: after its restart, a request that is sent again is carried out again. Answers from 500 on are
not kept, so that the request can be tried again.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from brokerweb.api.idempotency_key import InProgress, KeyReused
from brokerweb.front.replies import Reply

KEPT_S = 24 * 3600.0
MOST = 20_000
MOST_BYTES = 32_000_000
"""Of all answers together; the oldest go first."""


@dataclass(slots=True)
class _Kept:
    fingerprint: bytes
    reply: Reply | None
    """``None`` while the first request is carried out."""
    until: float


class Answers:
    """By account and key."""

    def __init__(self, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._bytes = 0

    def begin(self, who: str, key: str, fingerprint: bytes, now: float) -> Reply | None:
        """The kept answer; ``None``: carry it out, then call ``end``. Raises ``InProgress``, ``KeyReused``."""
        kept = self._kept.get((who, key))
        if kept is not None and kept.until <= now:
            self._drop((who, key))
            kept = None
        if kept is None:
            self._kept[who, key] = _Kept(fingerprint, None, now + KEPT_S)
            self._shrink()
            return None
        if kept.fingerprint != fingerprint:
            raise KeyReused
        if kept.reply is None:
            raise InProgress
        return kept.reply

    def end(self, who: str, key: str, reply: Reply | None) -> None:
        """``None``: it has no answer that would be the same again."""
        kept = self._kept.get((who, key))
        if kept is None:  # many others came since
            return
        if reply is None or reply.status >= 500:
            self._drop((who, key))
            return
        kept.reply = reply
        self._bytes += len(reply.body)
        self._shrink()

    def _shrink(self) -> None:
        while len(self._kept) > self._most or self._bytes > self._most_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, which: tuple[str, str]) -> None:
        kept = self._kept.pop(which)
        if kept.reply is not None:
            self._bytes -= len(kept.reply.body)

    def check_invariants(self) -> None:
        assert len(self._kept) <= self._most
        assert self._bytes == sum(len(kept.reply.body) for kept in self._kept.values() if kept.reply)
        assert self._bytes <= self._most_bytes
