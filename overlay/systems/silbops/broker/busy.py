"""Processor time of a broker by kind of message, from the decoded message to all that follows from it here.

Live, it is that of the thread. Simulated, the time that the service-time model charges for a service is shared evenly
among the messages handled in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from overlay.systems.silbops.wire.codec import SILBOPS

_NAMES = {layout.message: layout.name.lower() for layout in SILBOPS.layouts}


class Busy:
    def __init__(self) -> None:
        self.clock: Callable[[], int] | None = None
        """Processor time of this thread, ns; ``None``: nothing is timed."""
        self._ns: Counter[type] = Counter()
        self._handled: Counter[type] = Counter()
        """Since the last charge."""

    def begin(self) -> int:
        """A message is taken. Returns what ``end`` wants."""
        return 0 if self.clock is None else self.clock()

    def end(self, message: type, begun: int) -> None:
        if self.clock is None:
            self._handled[message] += 1
        else:
            self._ns[message] += self.clock() - begun

    def charge(self, ns: int) -> None:
        """Of the service that has ended, in virtual time."""
        total = self._handled.total()
        for message, count in self._handled.items():
            self._ns[message] += ns * count // total
        self._handled.clear()

    def statistics(self) -> Mapping[str, int]:
        """``busy_KIND_us``; empty if nothing was timed."""
        return {f"busy_{_NAMES[message]}_us": ns // 1_000 for message, ns in self._ns.items()}
