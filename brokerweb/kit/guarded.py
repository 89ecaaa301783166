"""A long computation of a worker, as a process group that outlives neither the block that wants it nor this process.

The wrapper of ``overlay.runtime.lifeline`` holds the group: when this process dies, however it does, or closes its end
of the pipe, Python and Java end too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from celery.signals import worker_shutting_down
from django.conf import settings

from overlay.runtime.lifeline import LIFELINE_FD

ending = threading.Event()
"""Set once this worker is told to end."""


@worker_shutting_down.connect
def _set_ending(**_: object) -> None:
    """The house ends: what is computed does not hold it up, and is taken up again when it is back."""
    ending.set()


@contextmanager
def guarded(command: Sequence[str], output: int) -> Iterator[subprocess.Popen[bytes]]:
    """``command`` in a group of its own, its words written to the descriptor ``output``; ended with the block."""
    held, lifeline = os.pipe()
    wrapper = [sys.executable, "-m", "overlay.runtime.lifeline", "--", *command]
    try:
        job = subprocess.Popen(
            wrapper,
            cwd=settings.BASE_DIR,
            env={**os.environ, LIFELINE_FD: str(held)},
            pass_fds=[held],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(held)
    try:
        yield job
    finally:
        os.close(lifeline)  # ends whatever is left of the group, the wrapper last
        job.wait(timeout=30)
