"""A batch on this machine, several runs at a time, each in a process that is used again."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

from overlay.runtime.lifeline import die_with_parent
from telemetry.lake.manifest import usable_cores
from telemetry.sweep.batch import Batch
from telemetry.sweep.work import perform

PLAIN = 4
"""Up to so many runs are done by then, or nearly, when Spark has started."""


def in_processes(batch: Batch, processes: int | None = None) -> None:
    """Carry the batch out. A run that ends its process is tried once more, then told as failed."""
    count = max(1, min(processes or usable_cores(), len(batch.runs)))
    while left := [run for run, told in batch.all_told() if not told.has_ended]:
        with suppress(BrokenProcessPool):
            _carry_out(batch, left, count)


def _carry_out(batch: Batch, runs: list[str], count: int) -> None:
    context = get_context("spawn")  # nothing of this process, its threads above all, comes along
    with ProcessPoolExecutor(count, context, initializer=_begin, initargs=(os.getpid(),)) as pool:
        for ended in as_completed([pool.submit(_perform, str(batch.directory), run) for run in runs]):
            ended.result()


def _begin(parent: int) -> None:
    """In a process of the pool: it ends with ``parent``, and leaves Ctrl-C to it."""
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _perform(directory: str, run: str) -> None:
    perform(Batch.read(Path(directory)), run)
