"""Executes a batch on this machine, several runs at a time, in a pool of processes."""

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
"""Up to this many runs take no longer than the start of Spark."""


def in_processes(batch: Batch, processes: int | None = None) -> None:
    """Execute the batch. A run that kills its process is retried once, then failed."""
    count = max(1, min(processes or usable_cores(), len(batch.runs)))
    while left := [run for run, told in batch.all_told() if not told.has_ended]:
        with suppress(BrokenProcessPool):
            _carry_out(batch, left, count)


def _carry_out(batch: Batch, runs: list[str], count: int) -> None:
    context = get_context("spawn")  # without the state of this process, especially its threads
    with ProcessPoolExecutor(count, context, initializer=_begin, initargs=(os.getpid(),)) as pool:
        for ended in as_completed([pool.submit(_perform, str(batch.directory), run) for run in runs]):
            ended.result()


def _begin(parent: int) -> None:
    """Initialise a process of the pool: it ends with ``parent``, which handles Ctrl-C."""
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _perform(directory: str, run: str) -> None:
    perform(Batch.read(Path(directory)), run)
