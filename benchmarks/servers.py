"""The measured servers: brokers and C programs as processes, with their processor time and memory.

Every server is a context manager. Each process ends with its parent, even if the parent is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import Unavailable
from benchmarks.programs import program
from benchmarks.record import ROOT
from overlay.runtime.own_supervisor import document_of, own_supervisor
from overlay.runtime.supervisor_client import SupervisorClient, SupervisorRefused, SupervisorUnavailable, reason_of
from overlay.runtime.usage import sizes_in

SERVER_CORE, CLIENT_CORE = 1, 0
START_S = 20.0
SEED = 2018
"""Seed of the runs whose brokers are measured."""


@dataclass(frozen=True)
class Server:
    """A process that answers at ``address`` (``host:port``)."""

    address: str
    pid: int

    def processor_ns(self) -> int:
        """Processor time so far, user and system."""
        return int(Path(f"/proc/{self.pid}/schedstat").read_text(encoding="ascii").split()[0])

    def memory_kib(self) -> tuple[int, int, int]:
        """The current RSS, PSS and USS."""
        rss, pss, uss = sizes_in(Path(f"/proc/{self.pid}/smaps_rollup").read_bytes())
        return rss // 1024, pss // 1024, uss // 1024

    def pin(self, core: int) -> None:
        """Pin it to ``core`` if the machine has several cores."""
        if len(cores()) > 1:
            os.sched_setaffinity(self.pid, {core})


@contextmanager
def brokers(count: int = 1, settings: Mapping[str, Any] | None = None, **environment: str) -> Iterator[list[Server]]:
    """Brokers with journals and without neighbours, on the server's core. Their supervisor has ``environment``.

    They belong to a run whose only client sends one request a day. Raises ``Unavailable`` if they do not start.
    """
    workload = {"providers": 0, "consumers": 1, "request_interval_s": 86_400, "duration_s": 86_400}
    run = {"brokers": count, "settings": {"monitoring": False, **(settings or {})}, "workload": workload}
    with deployed(run, **environment) as (servers, _):
        for server in servers:
            server.pin(SERVER_CORE)
        yield servers


@contextmanager
def deployed(run: Mapping[str, Any], **environment: str) -> Iterator[tuple[list[Server], Path]]:
    """The brokers of a run of ``own_supervisor.document_of``, once its clients start, and the directory of the run.
    Raises ``Unavailable``."""
    with scratch() as directory, supervisor(**environment) as client:
        document = document_of("bench", directory, seed=SEED, **run)
        deadline = time.monotonic() + START_S
        try:
            status = client.deploy(document)
            while status["phase"] not in ("warming", "measuring"):
                if status["phase"] == "failed" or time.monotonic() > deadline:
                    why = reason_of(status) or f"still {status['phase']} after {START_S:g} s"
                    raise Unavailable(f"brokers did not start: {why}")
                time.sleep(0.02)
                status = client.status("bench")
        except SupervisorRefused as refusal:
            raise Unavailable(f"brokers did not start: {refusal}") from None
        yield [Server(broker["address"], broker["pid"]) for broker in status["brokers"]], directory


@contextmanager
def supervisor(**environment: str) -> Iterator[SupervisorClient]:
    """``own_supervisor``; raises ``Unavailable`` if it does not answer."""
    try:
        with own_supervisor(**environment) as client:
            yield client
    except SupervisorUnavailable as reason:
        raise Unavailable(str(reason)) from None


@contextmanager
def c_server(*options: str) -> Iterator[Server]:
    """``benchmarks/c/server.c`` with ``options``, on the server's core. Raises ``Unavailable`` without a compiler."""
    with announced([str(program("server")), *options]) as server:
        yield server


@contextmanager
def bare_server(kind: str, *options: str) -> Iterator[Server]:
    """``benchmarks.bare`` with ``options``, on the server's core. Raises ``Unavailable`` if ``kind`` is unsupported."""
    with announced([sys.executable, "-m", "benchmarks.bare", kind, *options]) as server:
        yield server


@contextmanager
def announced(command: list[str]) -> Iterator[Server]:
    """A process whose first line of output is its address."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        address = process.stdout.readline().strip()
        if not address:
            raise Unavailable(f"{' '.join(command)} exited immediately")
        server = Server(address, process.pid)
        server.pin(SERVER_CORE)
        yield server
    finally:
        process.kill()
        process.wait()


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary directory."""
    # A killed process may still be writing; that must not lose the results.
    with tempfile.TemporaryDirectory(prefix="waxwing-bench-", ignore_cleanup_errors=True) as directory:
        yield Path(directory)


def cores() -> set[int]:
    """The cores that this process may use. Raises ``Unavailable`` on systems without this information."""
    if not hasattr(os, "sched_getaffinity"):
        raise Unavailable("needs Linux: cores, /proc/PID/schedstat and smaps_rollup")
    return os.sched_getaffinity(0)


def busy_s() -> float:
    """Busy time of all cores since the machine started, in seconds."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(
        int, Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    )
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
