"""The retransmission time-out (RTO) of RFC 6298, in integer nanoseconds."""

from __future__ import annotations

from typing import Final

from overlay.core.node import MILLISECOND, SECOND

FIRST: Final = 200 * MILLISECOND
"""Before the first sample. RFC 6298 says 1 s; links between brokers are short, and HELLO waits for it."""
LEAST, MOST = 50 * MILLISECOND, SECOND
"""Above the 20 ms that an acknowledgement may wait."""
LEAST_SPREAD: Final = 10 * MILLISECOND


class RoundTrip:
    """Smoothed round trip and its variation."""

    __slots__ = ("rto", "srtt", "var", "wait")

    def __init__(self) -> None:
        self.srtt = self.var = 0
        """0 before the first sample."""
        self.rto = FIRST
        self.wait = FIRST
        """The RTO with its back-off, which ends when something new is acknowledged."""

    def sample(self, took: int) -> None:
        """Of a record that was sent once (Karn)."""
        srtt, var = self.srtt, self.var
        if srtt:
            var += ((srtt - took if took < srtt else took - srtt) - var) // 4
            srtt += (took - srtt) // 8
        else:
            srtt, var = max(took, 1), took // 2
        self.srtt, self.var = srtt, var
        rto = srtt + (4 * var if 4 * var > LEAST_SPREAD else LEAST_SPREAD)
        self.rto = LEAST if rto < LEAST else MOST if rto > MOST else rto

    def back_off(self) -> None:
        self.wait = min(2 * self.wait, MOST)
