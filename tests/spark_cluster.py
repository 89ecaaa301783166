"""A real Spark master with workers on loopback, on ports of their own, gone with the block."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Empty, Queue

from overlay.runtime.lifeline import LIFELINE_FD
from tests.waiting import BOUND_S

ROOT = Path(__file__).resolve().parents[1]


class _Part:
    """``python -m telemetry spark ...`` under a lifeline, and what it says."""

    def __init__(self, lifeline: int, *arguments: str, var: Path) -> None:
        self._lines: Queue[str] = Queue()
        self._said: list[str] = []
        command = [sys.executable, "-m", "telemetry", "spark", "--var", str(var), *arguments]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "overlay.runtime.lifeline", "--", *command],
            cwd=ROOT,
            env={**os.environ, LIFELINE_FD: str(lifeline), "SPARK_LOCAL_IP": "127.0.0.1", "TMPDIR": str(var)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            pass_fds=[lifeline],
            start_new_session=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def says(self, pattern: str) -> re.Match[str]:
        """The first line from now on that holds ``pattern``."""
        while True:
            try:
                self._said.append(self._lines.get(timeout=BOUND_S))
            except Empty:
                raise AssertionError(f"it did not say {pattern!r}: {''.join(self._said)[-2000:]}") from None
            if found := re.search(pattern, self._said[-1]):
                return found

    def end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(BOUND_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def cluster(var: Path, workers: int = 2) -> Iterator[str]:
    """``SPARK_MASTER`` of a cluster of so many workers with a core each."""
    lifeline, held = os.pipe()
    with ExitStack() as stack:
        stack.callback(os.close, lifeline)
        stack.callback(os.close, held)
        master = _Part(lifeline, "master", "--port", "0", var=var)
        stack.callback(master.end)
        url = master.says(r"Starting Spark master at (spark://\S+)")[1]
        for _ in range(workers):
            worker = _Part(lifeline, "worker", url, "--cores", "1", "--memory", "768m", var=var)
            stack.callback(worker.end)
            worker.says("Successfully registered with master")
        yield url
