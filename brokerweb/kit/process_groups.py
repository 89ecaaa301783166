"""Long computations of a worker, in a process group that ends with the calling block or this process.

The wrapper ``overlay.runtime.lifeline`` holds the group: when this process dies, or closes its end of the pipe, Python
and Java exit too.
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
"""Set when this worker should stop."""


@worker_shutting_down.connect
def _set_ending(**_: object) -> None:
    """Shutdown must not wait for computations; they are restarted later."""
    ending.set()


@contextmanager
def guarded(command: Sequence[str], output: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``command`` in its own process group until the block ends; its output goes to the descriptor ``output``."""
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
        os.close(lifeline)  # ends the rest of the group, the wrapper last
        job.wait(timeout=30)
