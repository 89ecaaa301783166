"""Reports of a hop to the server: repeated, ``tries`` in all, until NOTED."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overlay.core.addresses import Address
from overlay.core.timers import Timers
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.wire.messages import Noted, Report, noted


class Reports:
    """Those that are not noted yet."""

    def __init__(self, config: Transport, send: Callable[[Any, Address], None]) -> None:
        self._config, self._send = config, send
        self._open: dict[Noted, tuple[Report, Address, int]] = {}
        """By the answer that ends it: report, server, and how often it was sent."""
        self._timers = Timers()

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, report: Report, server: Address, now: int) -> None:
        self._emit(noted(report), report, server, 1, now)

    def note(self, answer: Noted) -> None:
        self._open.pop(answer, None)
        self._timers.cancel(answer)

    def handle_timer(self, now: int) -> None:
        for answer in self._timers.due(now):
            report, server, tries = self._open.pop(answer)
            if tries < self._config.tries:
                self._emit(answer, report, server, tries + 1, now)

    def next_timer(self) -> int | None:
        return self._timers.next_timer()

    def _emit(self, answer: Noted, report: Report, server: Address, tries: int, now: int) -> None:
        self._open[answer] = report, server, tries
        self._timers.set(answer, now + self._config.repeat_after(tries))
        self._send(report, server)
