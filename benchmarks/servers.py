"""What is measured: brokers and C programs as processes, their processor time and their memory.

Everything is a context manager, and each process dies with the one that started it even where that was killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import Unavailable
from benchmarks.programs import program

SERVER_CORE, CLIENT_CORE = 1, 0


@dataclass(frozen=True)
class Server:
    """A process that answers at ``address`` (``host:port``)."""

    address: str
    pid: int

    def processor_ns(self) -> int:
        """Time on a processor so far, user and system."""
        return int(Path(f"/proc/{self.pid}/schedstat").read_text(encoding="ascii").split()[0])

    def memory_kib(self) -> tuple[int, int, int]:
        """RSS, PSS and USS now."""
        lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
        sizes = {line.partition(":")[0]: int(line.split()[1]) for line in lines}
        return sizes["Rss"], sizes["Pss"], sizes["Private_Clean"] + sizes["Private_Dirty"]

    def pin(self, core: int) -> None:
        """Let it run on ``core`` only, where the machine has several."""
        if len(cores()) > 1:
            os.sched_setaffinity(self.pid, {core})


class Zygote:
    """Where brokers are forked from; see ``benchmarks.zygote``."""

    def __init__(self, process: subprocess.Popen[str], directory: Path) -> None:
        self._process = process
        self._directory = directory
        self._started = 0

    def broker(self, settings: Mapping[str, Any] | None = None) -> Server:
        """A broker with its journal on, on the server's core. Raises ``Unavailable`` with its last words."""
        assert self._process.stdin and self._process.stdout
        self._started += 1
        wanted = {"settings": dict(settings or {}), "journal": str(self._directory / f"{self._started}.journal")}
        self._process.stdin.write(json.dumps(wanted) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        reply: dict[str, Any] = json.loads(line) if line else {"error": "the zygote has died"}
        if "error" in reply:
            raise Unavailable(f"no broker: {reply['error']}")
        server = Server(reply["address"], reply["pid"])
        server.pin(SERVER_CORE)
        return server


@contextmanager
def zygote(**environment: str) -> Iterator[Zygote]:
    """A process to fork brokers from, with ``environment`` added; at the end it and they are gone."""
    with tempfile.TemporaryDirectory(prefix="waxwing-bench-") as directory:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )
        try:
            yield Zygote(process, Path(directory))
        finally:
            assert process.stdin
            process.stdin.close()
            process.wait()


@contextmanager
def c_server(*options: str) -> Iterator[Server]:
    """``benchmarks/c/server.c`` with ``options``, on the server's core. Raises ``Unavailable`` without a compiler."""
    command = [str(program("server")), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        address = process.stdout.readline().strip()
        if not address:
            raise Unavailable(f"{' '.join(command)} ended at once")
        server = Server(address, process.pid)
        server.pin(SERVER_CORE)
        yield server
    finally:
        process.kill()
        process.wait()


def cores() -> set[int]:
    """The processor's cores that this process may use. Raises ``Unavailable`` where the system does not tell."""
    if not hasattr(os, "sched_getaffinity"):
        raise Unavailable("needs Linux: cores, /proc/PID/schedstat and smaps_rollup")
    return os.sched_getaffinity(0)


def busy_s() -> float:
    """Seconds that all cores together have been busy since the machine was started."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(
        int, Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    )
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
