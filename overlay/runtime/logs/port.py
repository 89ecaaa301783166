"""What the loop of a process sees of the log of one node, whatever its engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class LogPort(Protocol):
    """A loop polls ``descriptors`` until ``next_timer``, calls ``handle`` and then ``feed``, and after each step of the
    node ``take``. Nothing here waits or raises an exception because the engine is away."""

    counters: dict[str, int]
    """For the ticks of the process, all beginning with ``log_``."""

    def descriptors(self) -> Sequence[tuple[int, bool]]:
        """Descriptors to poll for reading, and whether for writing as well."""
        ...

    def next_timer(self) -> int:
        """When to call ``handle`` at the latest, monotonic ns."""
        ...

    def handle(self, now: int) -> None:
        """Send and receive what is possible, and do what is due."""
        ...

    def feed(self, now: int) -> None:
        """Let the node have what came."""
        ...

    def take(self, now: int) -> None:
        """Take the node's output, and send it."""
        ...

    def set_cut(self, is_cut: bool, now: int) -> None:
        """A fault begins or ends in which this process cannot reach the log."""
        ...

    def set_delay(self, delay_ns: int) -> None:
        """A fault: what is appended leaves so much later."""
        ...

    def close(self, now: int) -> None:
        """Leave the groups, after what was appended and committed has been sent; waits a second at most."""
        ...
