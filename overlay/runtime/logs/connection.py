"""One non-blocking connection to a Valkey or Redis. Each answer goes to the call of its request, in their order."""

from __future__ import annotations

import errno
import os
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from overlay.core.errors import WaxwingError
from overlay.runtime.logs.resp import Answers, BadAnswer, EngineError, request

READ_BYTES = 1 << 18

OnAnswer = Callable[[Any], None]


class LostConnection(WaxwingError):
    """The engine is away, or refused a request that it must not refuse. The message says why."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Where an engine listens."""

    host: str
    port: int
    password: str = ""
    database: int = 0

    @classmethod
    def of(cls, url: str) -> Engine:
        """From ``redis://:password@host:port/0``. Raises ``WaxwingError``."""
        try:
            parts = urlsplit(url)
            if parts.scheme not in ("redis", "valkey") or not parts.hostname:
                raise ValueError
            database = int(parts.path.strip("/") or 0)
            return cls(parts.hostname, parts.port or 6379, unquote(parts.password or ""), database)
        except ValueError:
            raise WaxwingError("the address of the log must be as redis://:password@host:port/0") from None


class Connection:
    """Begins to connect when made."""

    def __init__(self, engine: Engine) -> None:
        """Raises ``LostConnection``."""
        self._answers = Answers()
        self._waiting: deque[OnAnswer] = deque()
        self._out = bytearray()
        family = socket.AF_INET6 if ":" in engine.host else socket.AF_INET
        self._sock = socket.socket(family, socket.SOCK_STREAM)
        self._sock.setblocking(False)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        code = self._sock.connect_ex((engine.host, engine.port))
        if code not in (0, errno.EINPROGRESS):
            self._sock.close()
            raise LostConnection(os.strerror(code))
        self._is_open = False
        if engine.password:
            self.ask(_required, "AUTH", engine.password)
        if engine.database:
            self.ask(_required, "SELECT", engine.database)

    @property
    def descriptor(self) -> int:
        return self._sock.fileno()

    @property
    def wants_to_write(self) -> bool:
        """Whether to call ``write`` when its socket becomes writable."""
        return bool(self._out) or not self._is_open

    @property
    def under_way(self) -> int:
        """Requests without an answer."""
        return len(self._waiting)

    def ask(self, on_answer: OnAnswer, *arguments: bytes | str | int) -> None:
        """Queue a request. ``on_answer`` gets its answer, also an ``EngineError``."""
        self._out += request(*arguments)
        self._waiting.append(on_answer)

    def write(self) -> None:
        """Send what is queued, as far as possible. Raises ``LostConnection``."""
        try:
            while self._out:
                sent = self._sock.send(self._out)
                self._is_open = True
                del self._out[:sent]
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            if error.errno == errno.ENOTCONN:  # still connecting
                return
            raise LostConnection(error.strerror or "it is away") from None

    def read(self) -> None:
        """Pass on all answers that are there. Raises ``LostConnection``."""
        while True:
            try:
                data = self._sock.recv(READ_BYTES)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                raise LostConnection(error.strerror or "it is away") from None
            if not data:
                raise LostConnection("it closed the connection")
            try:
                answers = self._answers.feed(data)
            except BadAnswer as error:
                raise LostConnection(str(error)) from None
            for answer in answers:
                if not self._waiting:
                    raise LostConnection("it answered what was not asked")
                self._waiting.popleft()(answer)
            if len(data) < READ_BYTES:
                return

    def close(self) -> None:
        self._sock.close()


def _required(answer: Any) -> None:
    if isinstance(answer, EngineError):
        raise LostConnection(str(answer))
