"""Waits for events; no test waits for a time.

Each event has the same bound, which says nothing about how fast anything is: it only ends a test whose event never
comes, on a machine that others keep busy, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

BOUND_S = 240
BOUND_MS = 1000 * BOUND_S


def wait_for(condition: Callable[[], T], what: str | Callable[[], str], every: float = 0.1) -> T:
    """The first true value of ``condition()``, or an error that says ``what`` did not happen.

    A callable ``what`` is asked at the end, to say how far things came. The pause between looks grows with the wait,
    from 10 ms to ``every`` s: a look through REST costs the installation 10 ms of a processor.
    """
    began = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - began
        if waited > BOUND_S:
            raise AssertionError(f"not within {BOUND_S:g} s: {what if isinstance(what, str) else what()}")
        time.sleep(min(every, max(0.01, waited / 20)))


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # reaped just now, or a system that has no /proc
        return not Path("/proc/self/stat").exists()
