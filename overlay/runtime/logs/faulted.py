"""Faults of the log while real processes run: each process cuts itself off from the log, or appends later.

The engine is shared by all deployments of a host, so a log that is down is one that no process of the run reaches.
Counterparts: ``overlay.faults.of_log`` declares the faults, ``overlay.sim.log`` applies them in virtual time, and
``overlay.runtime.own_faults`` sees in shared memory which have begun or ended.
"""

from __future__ import annotations

from overlay.core.node import MILLISECOND, SECOND
from overlay.faults.faults import Fault
from overlay.faults.of_log import RESTARTED, SLOW
from overlay.runtime.logs.port import LogPort
from overlay.runtime.own_faults import LOOK_NS, Look


class FaultedLog:
    """A ``LogPort`` with the faults that ``watcher`` sees."""

    def __init__(self, port: LogPort, watcher: Look) -> None:
        self.counters, self.denied = port.counters, port.denied
        self._port = port
        self._watcher = watcher
        self._next_look = 0
        self._cuts = 0
        """Active faults in which it cannot reach the log."""
        self._up_at = 0
        """When the log is up again after restarts."""
        self._delay_ns = 0
        self._is_cut = False
        self.descriptors, self.feed, self.take, self.close = port.descriptors, port.feed, port.take, port.close
        self.set_cut, self.set_delay = port.set_cut, port.set_delay

    def next_timer(self) -> int:
        return min(self._port.next_timer(), self._next_look)

    def handle(self, now: int) -> None:
        if now >= self._next_look:
            self._look(now)
        self._port.handle(now)

    def _look(self, now: int) -> None:
        self._next_look = now + LOOK_NS
        before = self._delay_ns
        for fault, begins in self._watcher.look():
            self._turn(fault, begins, now)
        if self._delay_ns != before:
            self._port.set_delay(self._delay_ns)
        is_cut = bool(self._cuts) or now < self._up_at
        if is_cut != self._is_cut:
            self._is_cut = is_cut
            self._port.set_cut(is_cut, now)

    def _turn(self, fault: Fault, begins: bool, now: int) -> None:
        if fault.what == SLOW:
            self._delay_ns += round(fault.values["delay_ms"] * MILLISECOND) * (1 if begins else -1)
        elif fault.what == RESTARTED:
            self._up_at = max(self._up_at, now + round(fault.values["down_s"] * SECOND))
        else:
            self._cuts += 1 if begins else -1
