"""What clients in Python share: bursts on request, and their JSON. Counterpart: ``benchmarks.peers.processes.Load``."""

from __future__ import annotations

import json
import resource
import sys
from array import array
from collections.abc import Iterator
from time import perf_counter_ns

LEAST_BYTES = 1000
MOST_NS = 10_000_000_000
"""A burst without a single answer ends after so long."""


def wanted() -> Iterator[float]:
    """Say that this client is ready, then yield the seconds of each burst, until the parent closes the pipe."""
    print("ready", flush=True)
    for line in sys.stdin:
        yield float(line)


class Burst:
    """One burst: samples are round trips in ns. Prints itself when it is left."""

    def __init__(self, seconds: float) -> None:
        self.samples = array("Q")
        self.late = self.bad = self.lost = 0
        self._cpu = _cpu_seconds()
        self._began = perf_counter_ns()
        self._end = self._began + round(seconds * 1e9)

    def goes_on(self) -> bool:
        """Whether to ask on: until the end, and until something has been answered, which may be later."""
        now = perf_counter_ns()
        return now < self._end or (not self.samples and now < self._began + MOST_NS)

    def note(self, sent_ns: int, size: int) -> None:
        """An answer of ``size`` bytes to what was asked at ``sent_ns``."""
        now = perf_counter_ns()
        if size < LEAST_BYTES:
            self.bad += 1
        elif now < self._end or not self.samples:
            self.samples.append(now - sent_ns)
            self._end = max(self._end, now)
        else:
            self.late += 1

    def close(self) -> None:
        """Print the burst, once all that was in flight has been answered."""
        if not self.samples:
            sys.exit("not a single answer")
        ordered = sorted(self.samples)
        print(
            json.dumps(
                {
                    "requests": len(self.samples),
                    "seconds": (self._end - self._began) / 1e9,
                    "cpu_seconds": _cpu_seconds() - self._cpu,
                    "p50_us": ordered[len(ordered) // 2] / 1e3,
                    "p99_us": ordered[len(ordered) * 99 // 100] / 1e3,
                    "late": self.late,
                    "bad": self.bad,
                    "lost": self.lost,
                }
            ),
            flush=True,
        )


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
