"""The base of servers that live on the log: their datagrams are only operators'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.node import NodeEvent
from overlay.core.timers import Timers
from overlay.peers.operators import Operators
from overlay.systems.contextnet.log_member import LogMember


class LogServer(LogMember):
    """A ``Server`` and ``LogNode``. A role overrides ``subscriptions``, ``read``, and ``due`` if it sets ``timers``."""

    def __init__(self, name: str, address: Address, chances: Chances, wall_offset_ns: int) -> None:
        super().__init__(name, wall_offset_ns)
        self.address = address
        self.timers = Timers()
        self.noted: list[NodeEvent] = []
        """For ``events``."""
        self._operators = Operators(name.encode(), address, chances, self.counters, lambda: self.statistics(self.now))

    # ---- what a role does

    def due(self, key: Any) -> None:
        """A deadline of ``timers`` has come. For roles that set some."""
        raise AssertionError(f"{self.name} sets no deadlines")

    def gauges(self) -> dict[str, int]:
        """Current values, for ``statistics``."""
        return {}

    # ---- a Server

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        self.now = now
        for data, source in datagrams:
            if not self._operators.receive(data, source):
                self.counters["malformed_loose"] += 1

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return self._operators.datagrams_to_send()

    def handle_timer(self, now: int) -> None:
        self.now = now
        for key in self.timers.due(now):
            self.due(key)

    def next_timer(self) -> int | None:
        return self.timers.next_timer()

    def events(self) -> Sequence[NodeEvent]:
        noted, self.noted = self.noted, []
        return noted

    def traces(self) -> Sequence[Any]:
        return ()

    @property
    def knows(self) -> Callable[[Address], bool]:
        """No address: its peers are on the log."""
        return lambda address: False

    def statistics(self, now: int) -> dict[str, int]:
        return {**self.counters, "unsettled": self.progress.unsettled(), **self.gauges()}

    def leave(self, now: int) -> int:
        """At once: what it has not settled, the next owner reads."""
        return 0
