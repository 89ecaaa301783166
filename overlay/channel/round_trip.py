"""The retransmission time-out (RTO) of RFC 6298, in integer nanoseconds."""

from __future__ import annotations

from overlay.core.node import MILLISECOND, SECOND

FIRST = 200 * MILLISECOND
"""Before the first sample. RFC 6298 says 1 s; links between brokers are short, and HELLO waits for it."""
LEAST, MOST = 50 * MILLISECOND, SECOND
"""Above the 20 ms that an acknowledgement may wait."""
LEAST_SPREAD = 10 * MILLISECOND


class RoundTrip:
    """Smoothed round trip and its variation."""

    __slots__ = ("rto", "srtt", "var", "wait")

    def __init__(self) -> None:
        self.srtt = self.var = 0
        """0 before the first sample."""
        self.rto = FIRST
        self.wait = FIRST
        """The RTO with its back-off."""

    def sample(self, took: int) -> None:
        """Of a record that was sent once (Karn)."""
        if self.srtt:
            self.var += (abs(self.srtt - took) - self.var) // 4
            self.srtt += (took - self.srtt) // 8
        else:
            self.srtt, self.var = max(took, 1), took // 2
        self.rto = min(max(self.srtt + max(LEAST_SPREAD, 4 * self.var), LEAST), MOST)

    def back_off(self) -> None:
        self.wait = min(2 * self.wait, MOST)

    def advance(self) -> None:
        """Something new was acknowledged, which ends the back-off."""
        self.wait = self.rto
