"""Web, livefeed and Redis as started by ``make up``, with separate data, for the sections that measure them."""

from __future__ import annotations

import http.client
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from benchmarks.figures import Unavailable
from benchmarks.record import ROOT
from brokerweb.up import redis
from brokerweb.up.parts import house as parts_of
from overlay.runtime.lifeline import die_with_parent
from overlay.runtime.redis_server import NoEngine, free_port

HOST = "bench"
READY_S = 60.0
END_S = 10.0


@dataclass
class House:
    """An installation with its data in ``var``. ``cookie`` is the operator's session after ``furnish`` created it."""

    var: Path
    port: int
    environment: dict[str, str]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    cookie: str = ""

    def furnish(self, *what: str) -> dict[str, Any]:
        """Create rows and files in a separate process; see ``benchmarks.rows`` for the kinds."""
        command = [sys.executable, "-m", "benchmarks.rows", *what]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, check=True)
        made: dict[str, Any] = json.loads(done.stdout)
        self.cookie = made["cookie"]
        return made

    def start(self, name: str) -> None:
        """Start the process ``name`` of ``make up``."""
        commands = {part.name: part.command for part in parts_of(self.port, HOST)}
        self._run(name, commands[name])

    def _run(self, name: str, command: Sequence[str]) -> None:
        with (self.var / f"{name}.log").open("ab") as said:
            self.processes[name] = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                preexec_fn=partial(die_with_parent, os.getpid()),
            )

    def serve(self, name: str, application: str, port: int) -> None:
        """Start ``application`` (``MODULE:NAME``) as ``name``, with uvicorn's options of the web process."""
        (web,) = [part.command for part in parts_of(port, HOST) if part.name == "web"]
        self._run(name, [application if one == "brokerweb.asgi:application" else one for one in web])
        _until(lambda: _listens(port), f"{application} does not listen")

    def start_redis(self) -> None:
        """Start a separate Redis. Raises ``Unavailable`` if Redis is not installed."""
        try:
            chosen = redis.choose({name: value for name, value in os.environ.items() if name == "PATH"}, self.var)
        except NoEngine as reason:
            raise Unavailable(str(reason)) from None
        assert chosen.command is not None
        self.environment["REDIS_URL"] = chosen.url
        self._run("redis", chosen.command)
        _until(lambda: redis.answers(chosen.url), "Redis does not answer")

    def start_etcd(self, port: int) -> bool:
        """Start an etcd that serves clients at ``port``; whether it is installed."""
        if (program := shutil.which("etcd")) is None:
            return False
        clients, peers = (f"http://127.0.0.1:{one}" for one in (port, free_port()))
        command = [program, "--data-dir", str(self.var / "etcd"), "--log-level", "error"]
        command += ["--listen-client-urls", clients, "--advertise-client-urls", clients]
        command += ["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers]
        self._run("etcd", [*command, "--initial-cluster", f"default={peers}"])
        _until(lambda: _listens(port), "etcd does not listen")
        return True

    def start_web(self) -> None:
        """Start the web process and wait until it answers."""
        self.start("web")
        _until(self._answers, "the web does not answer")

    def _answers(self) -> bool:
        try:
            return self.connection().get("/healthz")[0] == 200
        except OSError:
            return False

    def connection(self) -> Connection:
        """A connection with the operator's session."""
        return Connection(self.port, self.cookie)

    def cpu_s(self, name: str) -> float:
        """Processor time of the process, user and system, including ended threads."""
        pid = self.processes[name].pid
        if platform.system() == "Linux":
            # As clock_getcpuclockid(3) computes it from a pid. In nanoseconds; /proc and psutil have ticks of 10 ms.
            return time.clock_gettime_ns((~pid << 3) | 2) / 1e9
        used = psutil.Process(pid).cpu_times()
        return float(used.user + used.system)


class Connection:
    """A keep-alive HTTP connection to an installation."""

    def __init__(self, port: int, cookie: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"Cookie": cookie, "Accept-Encoding": "gzip", "Accept": "text/html,application/json"}

    def get(self, address: str) -> tuple[int, bytes]:
        """The status and the raw body."""
        self._connection.request("GET", address, headers=self._headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()


@contextmanager
def house() -> Iterator[House]:
    """An empty installation without processes. At the end its processes are stopped and its data is deleted."""
    with TemporaryDirectory(prefix="waxwing-bench-") as directory:
        var = Path(directory)
        environment = {**os.environ, "WAXWING_VAR": str(var), "WAXWING_HOST": HOST}
        environment |= {"DJANGO_SETTINGS_MODULE": "brokerweb.settings", "PYTHONUNBUFFERED": "1"}
        environment.pop("REDIS_URL", None)
        made = House(var, free_port(), environment)
        try:
            yield made
        finally:
            _end(made.processes.values())


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def _end(processes: Collection[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        process.kill()
        process.wait()


def _until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + READY_S
    while not condition():
        if time.monotonic() > deadline:
            raise Unavailable(f"{what} within {READY_S:.0f} s")
        time.sleep(0.05)
