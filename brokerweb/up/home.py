"""Files of the process manager under ``var/``: the lock and the logs of all parts.

One ``make up`` at a time: its lock is released by the system when the process exits, so a stale pid file is never
mistaken for a running installation.
"""

from __future__ import annotations

import fcntl
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from brokerweb.secret import keep_private, tighten
from overlay.core.errors import WaxwingError
from overlay.runtime.control import lock_path
from overlay.runtime.supervisor_client import SupervisorClient, SupervisorUnavailable

LOG_BYTES = 5_000_000
"""A log is rotated to ``.log.1`` at this size; two files per part."""
DOWN_S = 20.0
_WORTH_A_LOOK = re.compile(r"(?<![%\w])(WARNING|ERROR|CRITICAL)\b|^Traceback ")
# Expected warnings: Redis on memory overcommit (ours makes no snapshots), and readiness checks during start-up.
_KNOWN = re.compile(r"Memory overcommit|Service Unavailable: /readyz")


class AlreadyRunning(WaxwingError):
    """Another ``make up`` holds this ``var/``."""


class Home:
    """The data directory of one installation."""

    def __init__(self, var: Path) -> None:
        self.var = var
        self.pid_file = var / "up.pid"
        self.logs = var / "log"
        self.redis = var / "redis"
        self.redis_of_logs = var / "redis-of-logs"
        self.operator = var / "operator.json"
        self.supervisor_socket = var / "supervisor.sock"

    @contextmanager
    def claim(self) -> Iterator[None]:
        """Hold the lock until the block ends. Raises ``AlreadyRunning``."""
        keep_private(self.var)
        tighten(self.var)
        with self.pid_file.open("a+") as file:
            if not _try_lock(file.fileno()):
                pid = self.pid_file.read_text().strip() or "unknown"
                raise AlreadyRunning(f"Waxwing is already running here (pid {pid}); stop it with `make down`")
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield
            file.truncate(0)

    def owner(self) -> int | None:
        """The pid of the running ``make up``, or ``None``."""
        if not _is_locked(self.pid_file):
            return None
        text = self.pid_file.read_text().strip()
        return int(text) if text.isdigit() else None


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def end_supervisor(socket: Path, seconds: float = 5.0) -> bool:
    """Stop the host's supervisor; returns whether there was one."""
    try:
        client = SupervisorClient(socket, timeout=2.0)
        pid = int(client.hello()["pid"])
        client.shutdown()
    except (SupervisorUnavailable, OSError):
        return False
    # Check its lock, not its pid: an unreaped process keeps its pid.
    if not _released_within(lock_path(socket), seconds):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return True


def _is_locked(path: Path) -> bool:
    try:
        with path.open("a+") as file:
            return not _try_lock(file.fileno())
    except OSError:
        return False


def _released_within(path: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not _is_locked(path):
            return True
        time.sleep(0.02)
    return False


def take_down(home: Home) -> str:
    """Stop the installation; returns a message. Idempotent."""
    pid = home.owner()
    if pid is None:
        if end_supervisor(home.supervisor_socket):
            return "only a supervisor was running; it was stopped"
        return "nothing was running here"
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    if _released_within(home.pid_file, DOWN_S):
        return f"stopped pid {pid} and all its processes"
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    end_supervisor(home.supervisor_socket)
    return f"pid {pid} did not stop within {DOWN_S:.0f} s and was killed; its processes exit by their lifeline"


class PartLog:
    """The output of one part: kept in a bounded file; notable lines are returned.

    Output that a full disk refuses is lost; the log records how much.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIO | None = None
        self._lost = 0
        self._rest = b""
        self.last_line = ""
        with suppress(OSError):  # tried again with the first output
            self._turn_over()

    def add(self, data: bytes) -> list[str]:
        """Append ``data``; returns its lines with warnings and errors."""
        self._keep(data)
        *lines, self._rest = (self._rest + data)[-100_000:].split(b"\n")
        texts = [line.decode(errors="replace").rstrip() for line in lines]
        self.last_line = next((text for text in reversed(texts) if text.strip()), self.last_line)
        return [text for text in texts if _WORTH_A_LOOK.search(text) and not _KNOWN.search(text)]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _keep(self, data: bytes) -> None:
        note = f"[{self._lost} bytes could not be written here]\n".encode() if self._lost else b""
        try:
            self._write(note)
            self._lost = 0
            self._write(data)
        except OSError:
            self._lost += len(data)

    def _write(self, data: bytes) -> None:
        """Unbuffered: a buffer would keep refused output and raise again. Raises ``OSError``."""
        if not data:
            return
        if self._file is None or self._file.tell() + len(data) > LOG_BYTES:
            self._turn_over()
        assert self._file is not None
        while data:
            data = data[self._file.write(data) :]

    def _turn_over(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if self._file is not None:
            with suppress(FileNotFoundError):  # rotated before, when there was no space for a new one
                self._path.replace(self._path.with_suffix(".log.1"))
        fresh = FileIO(self._path, "ab")
        self.close()
        self._file = fresh
