"""The retransmission time-out (RTO) of RFC 6298, in integer nanoseconds.

Samples come from the echo of a packet number, of which each transmission has its own; so repeats give samples too.
"""

from __future__ import annotations

from overlay.systems.contextnet.transport.settings import FIRST_RTO, MOST_WAIT


class RoundTrip:
    __slots__ = ("_backoff", "_least", "_peer_delay", "_var", "rto", "srtt")

    def __init__(self, least: int, peer_delay: int) -> None:
        """``least`` RTO; ``peer_delay``: how long the peer's acknowledgements may wait."""
        self._least, self._peer_delay = least, peer_delay
        self.reset()

    def reset(self) -> None:
        """The path is another one."""
        self.srtt = self._var = self._backoff = 0
        """``srtt`` is 0 before the first sample."""
        self.rto = max(FIRST_RTO, self._least)

    def sample(self, took: int) -> None:
        if self.srtt:
            self._var += (abs(self.srtt - took) - self._var) // 4
            self.srtt += (took - self.srtt) // 8
        else:
            self.srtt, self._var = max(took, 1), took // 2
        self.rto = min(max(self._least, self.srtt + 4 * self._var + self._peer_delay), max(MOST_WAIT, self._least))

    @property
    def wait(self) -> int:
        """The RTO with its back-off."""
        return min(self.rto << self._backoff, max(MOST_WAIT, self.rto))

    def back_off(self) -> None:
        self._backoff = min(self._backoff + 1, 16)

    def progress(self) -> None:
        """Something new was acknowledged."""
        self._backoff = 0
