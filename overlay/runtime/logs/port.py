"""What the loop of a process sees of the log of one node, whatever its engine."""

from __future__ import annotations

from typing import Protocol

from overlay.runtime.polled import Polled


class LogPort(Polled, Protocol):
    """Its counters all begin with ``log_``. Its ``close`` leaves the groups, after what was appended and committed has
    been sent."""

    def set_cut(self, is_cut: bool, now: int) -> None:
        """A fault begins or ends in which this process cannot reach the log."""
        ...

    def set_delay(self, delay_ns: int) -> None:
        """A fault: what is appended leaves so much later."""
        ...
