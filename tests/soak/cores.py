"""Work over all cores, in processes that end with whoever asked for it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
AT_ONCE = 4
"""Queued seeds for each core: no core idles, and few seeds are lost on interruption."""


def over_cores(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], processes: int) -> Iterator[Any]:
    """Results as they come. Whoever stops listening stops what is under way: Ctrl-C ends it within a seed."""
    with ProcessPoolExecutor(processes, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        waiting: set[Future[Any]] = set()
        rest = iter(arguments)
        try:
            while True:
                waiting |= {pool.submit(function, *one) for one in islice(rest, AT_ONCE * processes - len(waiting))}
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def commit() -> str:
    """The one that is checked out, marked where files were changed since."""
    command = ["git", "describe", "--always", "--dirty"]
    try:
        described = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # there is no git
        described = ""
    return described or "no commit"
