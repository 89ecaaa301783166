"""Executes a batch on this machine, several runs at a time, in a pool of processes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.context import BaseContext
from pathlib import Path

from overlay.runtime.lifeline import die_with_parent
from telemetry.errors import TelemetryError
from telemetry.lake.manifest import usable_cores
from telemetry.sweep.batch import Batch, Told
from telemetry.sweep.work import perform

PLAIN = 4
"""Up to this many runs take no longer than the start of Spark."""


def in_processes(batch: Batch, processes: int | None = None) -> None:
    """Execute the batch. A run that kills its process is retried once, then failed. Raises ``TelemetryError`` if
    processes end before they begin a run."""
    count = max(1, min(processes or usable_cores(), len(batch.runs)))
    before: dict[str, Told] = {}
    while left := {run: told for run, told in batch.all_told() if not told.has_ended}:
        if left == before:
            raise TelemetryError("The processes that this sweep starts end before they begin a run. Is memory short?")
        before = left
        with suppress(BrokenProcessPool):
            _carry_out(batch, list(left), count)


def _carry_out(batch: Batch, runs: list[str], count: int) -> None:
    with ProcessPoolExecutor(count, _context(), initializer=_begin, initargs=(os.getpid(),)) as pool:
        with _ctrl_c_waits():
            submitted = [pool.submit(_perform, str(batch.directory), run) for run in runs]
        for ended in as_completed(submitted):
            ended.result()


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Processes that are begun meanwhile never get it, not even while they import what they need."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _context() -> BaseContext:
    """Forks share what is imported, which takes more than a second of each processor; threads would not survive it."""
    forks = sys.platform == "linux" and threading.active_count() == 1
    return get_context("fork" if forks else "spawn")


def _begin(parent: int) -> None:
    """Initialise a process of the pool: it ends with ``parent``, which handles Ctrl-C and SIGTERM."""
    die_with_parent(parent)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _perform(directory: str, run: str) -> None:
    perform(Batch.read(Path(directory)), run)
