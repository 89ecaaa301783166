"""How many messages of one peer are served: ``RATE`` a second, and ``BURST`` at once. Pure."""

from __future__ import annotations

from overlay.core.node import SECOND

RATE, BURST = 50, 200
_EACH = SECOND // RATE


class Quota:
    """The generic cell rate algorithm (ITU-T I.371): of each peer, the instant at which all that it sent is paid for.
    ``forget`` peers whose session has ended."""

    def __init__(self) -> None:
        self._paid_at: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._paid_at)

    def admits(self, peer: str, now: int) -> bool:
        """Whether one more is served at ``now``."""
        paid_at = max(self._paid_at.get(peer, 0), now)
        if paid_at + _EACH > now + BURST * _EACH:
            return False
        self._paid_at[peer] = paid_at + _EACH
        return True

    def forget(self, peer: str) -> None:
        self._paid_at.pop(peer, None)
