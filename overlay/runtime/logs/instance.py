"""An instance of Valkey for logs, started with a lifeline; and erasing a deployment's keys."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from overlay.core.errors import WaxwingError
from overlay.runtime.lifeline import LIFELINE_FD
from overlay.runtime.logs.connection import Engine
from overlay.runtime.logs.resp import Answers, EngineError, request
from overlay.runtime.redis_server import NoEngine, find_server, prepare, rules

VARIABLE = "WAXWING_LOG_URL"
"""The environment variable with the address of the log's engine: ``redis://:password@host:port/0``."""
START_S, ANSWER_S = 20.0, 5.0
RULES = rules("1gb")
"""When its memory is full it refuses records, which then wait where they are, and none is dropped unread."""


@contextmanager
def own_instance() -> Iterator[str]:
    """The URL of a temporary instance, which ends with this process. Raises ``NoEngine``."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="waxwing-log-", ignore_cleanup_errors=True)))
        instance = Instance(home)
        stack.callback(instance.end)
        instance.start()
        yield instance.url


class Instance:
    """A process in ``directory``, at a free port with a random password. It keeps both when started again."""

    def __init__(self, directory: Path) -> None:
        """Raises ``NoEngine``."""
        self.url, self._command = prepare(find_server(VARIABLE), directory, RULES, "log")
        self._process: subprocess.Popen[bytes] | None = None
        self._lifeline: int | None = None

    def start(self) -> None:
        """Until it answers. Raises ``NoEngine``."""
        read, self._lifeline = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "overlay.runtime.lifeline", "--", *self._command],
            env=os.environ | {LIFELINE_FD: str(read)},
            pass_fds=[read],
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C goes to this program, which then ends it
        )
        os.close(read)
        deadline = time.monotonic() + START_S
        while not answers(self.url):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise NoEngine("the instance for the log does not start.")
            time.sleep(0.02)

    def end(self) -> None:
        """At once, as when killed."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, 9)
        self._process.wait()
        self._process = None
        if self._lifeline is not None:
            os.close(self._lifeline)


def answers(url: str) -> bool:
    """Whether an engine answers there."""
    with suppress(OSError, WaxwingError), asking(Engine.of(url), 1.0) as ask:
        return bool(ask("PING") == b"PONG")
    return False


def erase(url: str, deployment: str) -> int:
    """Delete all keys of a deployment; returns how many. Raises ``OSError`` or ``WaxwingError`` if the engine is
    away."""
    erased, cursor = 0, b"0"
    with asking(Engine.of(url), ANSWER_S) as ask:
        while True:
            cursor, keys = ask("SCAN", cursor, "MATCH", f"{escaped(deployment)} *", "COUNT", 1_000)
            if keys:
                erased += ask("UNLINK", *keys)
            if cursor == b"0":
                return erased


def escaped(text: str) -> str:
    """As a part of a pattern that SCAN takes."""
    return "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in text)


@contextmanager
def asking(engine: Engine, timeout_s: float) -> Iterator[Any]:
    """A function that asks and waits for the answer."""
    reader = Answers()
    with socket.create_connection((engine.host, engine.port), timeout_s) as sock:

        def ask(*arguments: bytes | str | int) -> Any:
            sock.sendall(request(*arguments))
            found: list[Any] = []
            while not found:
                if not (data := sock.recv(1 << 16)):
                    raise OSError("it closed the connection")
                found = reader.feed(data)
            if isinstance(found[0], EngineError):
                raise found[0]
            return found[0]

        if engine.password:
            ask("AUTH", engine.password)
        if engine.database:
            ask("SELECT", engine.database)
        yield ask
