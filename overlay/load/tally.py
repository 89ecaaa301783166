"""The counters of a fleet of clients. Names are those of a client process's ``facts.Tick.counters``."""

from __future__ import annotations

from overlay.core.node import MILLISECOND

LATE_MS = (1, 3, 10, 30, 100, 1000)
"""Bounds of the delay histogram: ``starts_late_<n>_ms`` counts requests sent more than n ms after the intended time."""


class Tally:
    """Shared by all clients of a process, so that a tick reads one dictionary."""

    def __init__(self) -> None:
        self.counters: dict[str, int] = {
            "requests": 0,
            "attempts": 0,
            "outstanding": 0,
            "answered": 0,
            "not_found": 0,
            "refused": 0,
            "timed_out": 0,
            "lateness_max_us": 0,
            **{f"starts_late_{bound}_ms": 0 for bound in LATE_MS},
        }

    def started(self, late_ns: int) -> None:
        """A request was first sent this long after the intended time."""
        counters = self.counters
        counters["requests"] += 1
        counters["outstanding"] += 1
        if late_ns > LATE_MS[0] * MILLISECOND:
            for bound in LATE_MS:
                counters[f"starts_late_{bound}_ms"] += late_ns > bound * MILLISECOND
        if late_ns // 1000 > counters["lateness_max_us"]:
            counters["lateness_max_us"] = late_ns // 1000

    def ended(self, outcome: str, attempts: int) -> None:
        counters = self.counters
        counters["outstanding"] -= 1
        counters["attempts"] += attempts
        counters[outcome] += 1
