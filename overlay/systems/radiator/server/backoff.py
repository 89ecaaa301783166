"""When a caller that was refused is to come back."""

from __future__ import annotations

from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.radiator.chains.uplink import Uplink
from overlay.systems.radiator.config import Transport

MOST_MS, SHARE_MS = 60_000, 1_000


class Backoff:
    """Busy callers get turns. Who is over its share takes none, so that it delays no other client's."""

    def __init__(self, config: Transport, uplink: Uplink) -> None:
        self._config, self._uplink = config, uplink
        self._turn = 0
        """When the last busy caller was told to come back, ns."""

    def busy_ms(self, accepted: int, now: int) -> int:
        """Turns are apart by the time that the uplink needs for one of the ``accepted`` messages."""
        rate = self._config.uplink_bytes_per_s
        apart = self._uplink.bytes_sent * SECOND // (max(1, accepted) * rate) if rate else 0
        self._turn = max(self._turn, now) + max(apart, MILLISECOND)
        wait_ms = -(-(self._turn - now) // MILLISECOND)
        if not rate:
            wait_ms = max(wait_ms, self._config.rto_ms)
        return min(wait_ms, MOST_MS)

    def over_share_ms(self) -> int:
        return min(max(self._config.rto_ms, SHARE_MS), MOST_MS)
