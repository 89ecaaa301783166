"""Processes of a comparison: servers and loads, each on the core it is put on, none of which outlives this one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from select import select
from typing import IO

from overlay.runtime.lifeline import die_with_parent
from overlay.runtime.usage import sizes_in

STARTS_WITHIN_S = 20.0
ENDS_WITHIN_S = 3.0


class Failed(Exception):
    """A process did not start, ended early, or answered with something else; the text says which, in its last words."""


def free_port() -> int:
    """A free loopback port, for TCP and UDP."""
    while True:
        with socket.socket() as stream, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
            stream.bind(("127.0.0.1", 0))
            port = int(stream.getsockname()[1])
            with suppress(OSError):
                datagrams.bind(("127.0.0.1", port))
                return port


class Threads:
    """The threads of the process ``pid``."""

    def __init__(self, pid: int) -> None:
        self._threads = Path(f"/proc/{pid}/task")
        self._memory = Path(f"/proc/{pid}/smaps_rollup")

    def put_on(self, core: int) -> None:
        """Move all of them to ``core``."""
        for thread in self._threads.iterdir():
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), {core})

    def cpu_seconds(self) -> float:
        """Processor time of all of them so far, to the nanosecond."""
        spent = 0
        for thread in self._threads.iterdir():
            with suppress(OSError):  # a thread that has just ended
                spent += int((thread / "schedstat").read_text().split()[0])
        return spent / 1e9

    def resident_bytes(self) -> int:
        """Memory of the process (RSS)."""
        return sizes_in(self._memory.read_bytes())[0]


class Process(Threads):
    """A child that dies with this process. What it says on stderr goes to ``words``, a file."""

    def __init__(self, command: Sequence[str], words: Path) -> None:
        parent = os.getpid()
        self.words = words
        with words.open("wb") as said:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                start_new_session=True,  # Ctrl-C is for whoever measures; it ends its children itself
                preexec_fn=lambda: die_with_parent(parent),
            )
        super().__init__(self._child.pid)

    def line(self, within_s: float = STARTS_WITHIN_S) -> str:
        """The next line it prints. Raises ``Failed`` where none comes."""
        output = self._pipe(self._child.stdout)
        if not select([output], [], [], within_s)[0]:
            raise Failed(f"{self._named} said nothing for {within_s:g} s")
        line = output.readline().decode().strip()
        if not line:
            raise Failed(f"{self._named} ended: {self.words.read_text(errors='replace').strip()[-300:]}")
        return line

    def tell(self, line: str) -> None:
        """Write ``line`` to its standard input."""
        pipe = self._pipe(self._child.stdin)
        pipe.write(f"{line}\n".encode())
        pipe.flush()

    def wait_until_it_listens(self, port: int) -> None:
        """Until TCP ``port`` is served. Raises ``Failed``."""
        deadline = time.monotonic() + STARTS_WITHIN_S
        while time.monotonic() < deadline and self._child.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            time.sleep(0.02)
        raise Failed(f"{self._named}: {self.words.read_text(errors='replace').strip()[-300:]}")

    def end(self) -> None:
        """SIGTERM, and SIGKILL for who does not hear it."""
        self._child.terminate()
        try:
            self._child.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._pipe(self._child.stdin).close()
        self._pipe(self._child.stdout).close()

    @property
    def _named(self) -> str:
        return str(self._child.args)

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


@dataclass(frozen=True)
class Burst:
    """What a load measured: answers, the time they took, what the asking side spent, round trips in µs.

    ``late`` answers came after the end, ``bad`` ones were not what had been asked for, ``lost`` were asked for again.
    """

    requests: int
    seconds: float
    cpu_seconds: float
    p50_us: float
    p99_us: float
    late: int
    bad: int
    lost: int

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


class Load(Process):
    """A program that asks: it prints ``ready``, then a burst's JSON for each number of seconds it is told."""

    def __init__(self, command: Sequence[str], words: Path, *, is_serial: bool) -> None:
        super().__init__(command, words)
        self.is_serial = is_serial
        try:
            if self.line() != "ready":
                raise Failed(f"{self._named} is not ready")
        except BaseException:
            self.end()
            raise

    def burst(self, seconds: float) -> Burst:
        """Ask for ``seconds``. Raises ``Failed`` where the program gave up, and for answers that are none."""
        self.tell(str(seconds))
        burst = Burst(**json.loads(self.line(seconds + STARTS_WITHIN_S)))
        if burst.bad > burst.lost:  # what was asked for again may be answered twice
            raise Failed(f"{self._named}: {burst.bad} of {burst.requests} answers are not what was asked for")
        return burst
