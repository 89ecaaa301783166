"""When a caller that was refused is to come back.

Busy callers get turns, one after another. A source (``Caller.source``) has at most ``MOST_TURNS`` ahead of it. Until
one of them is over, its calls are refused whether there is room or not, take no turn, and are answered ``MOST_EARLY``
times. So a client that ignores when to come back takes neither the room of others, nor their turns, nor the uplink.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable

from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.radiator.accounting import other_bytes
from overlay.systems.radiator.chains.uplink import Uplink
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.wire.codec import encode
from overlay.systems.radiator.wire.messages import Acceptance, Accepted

MOST_MS, SHARE_MS = 60_000, 1_000
MOST_TURNS, MOST_EARLY = 16, 16
"""More than a client has that waits for its answers, with a call every few seconds."""


class Backoff:
    def __init__(self, config: Transport, uplink: Uplink) -> None:
        self._config, self._uplink = config, uplink
        reply = Accepted(0, Acceptance.BUSY, 0)
        self._answers = 2 * other_bytes(config.accounting, reply, len(encode(reply)))
        self._turn = 0
        """When the last busy caller was told to come back, ns."""
        self._told: deque[tuple[int, Hashable]] = deque()
        """Turns ahead, in chronological order: when, and whose."""
        self._ahead: Counter[Hashable] = Counter()
        """Of these, those of each source."""
        self._early: Counter[Hashable] = Counter()
        """Answers to calls of a source that came before its turns, since it had none ahead."""
        self._last: dict[Hashable, int] = {}
        """The last turn of each source that has any ahead."""

    def must_wait(self, source: Hashable, now: int) -> bool:
        """Whether a call comes too early, though there may be room."""
        self._forget(now)
        return self._ahead[source] >= MOST_TURNS

    def busy_ms(self, source: Hashable, accepted: int, now: int) -> int | None:
        """Turns are apart by what the uplink needs for an accepted message: its pushes, and an answer now and then.

        ``None``: the call is not answered.
        """
        if not self.must_wait(source, now):
            wait_ms = self._next(accepted, now)
            self._told.append((now + wait_ms * MILLISECOND, source))
            self._ahead[source] += 1
            self._last[source] = now + wait_ms * MILLISECOND
            return wait_ms
        if self._early[source] >= MOST_EARLY:
            return None
        self._early[source] += 1
        return -(-(self._last[source] - now) // MILLISECOND)

    def over_share_ms(self) -> int:
        return min(max(self._config.rto_ms, SHARE_MS), MOST_MS)

    def _next(self, accepted: int, now: int) -> int:
        rate = self._config.uplink_bytes_per_s
        needed = self._uplink.bytes_pushed // max(1, accepted) + self._answers
        apart = needed * SECOND // rate if rate else 0
        self._turn = max(self._turn, now) + max(apart, MILLISECOND)
        wait_ms = -(-(self._turn - now) // MILLISECOND)
        if not rate:
            wait_ms = max(wait_ms, self._config.rto_ms)
        return min(wait_ms, MOST_MS)

    def _forget(self, now: int) -> None:
        """Turns that are over."""
        while self._told and self._told[0][0] <= now:
            _, source = self._told.popleft()
            self._ahead[source] -= 1
            if not self._ahead[source]:
                del self._ahead[source], self._last[source]
                self._early.pop(source, None)

    def check_invariants(self) -> None:
        assert list(self._told) == sorted(self._told, key=lambda turn: turn[0])
        assert self._ahead == Counter(source for _, source in self._told)
        assert self._last == {source: at for at, source in self._told}
        assert self._early.keys() <= self._ahead.keys() == self._last.keys()
        assert max(self._ahead.values(), default=0) <= MOST_TURNS
        assert max(self._early.values(), default=0) <= MOST_EARLY
