"""Waits for a condition, with a limit; tests of real processes never wait for a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 3
"""A busy machine takes so many times as long as a quiet one, for which each wait's limit is written."""


def wait_for(
    condition: Callable[[], T], what: str | Callable[[], str], seconds: float = 20.0, every: float = 0.01
) -> T:
    """The first true value of ``condition()``; an error that says ``what`` did not happen within ``seconds``.

    The limit is ``PATIENCE`` times as long. A callable ``what`` is asked at the end, to say how far things came.
    """
    seconds *= PATIENCE
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what if isinstance(what, str) else what()}")
        time.sleep(every)


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
