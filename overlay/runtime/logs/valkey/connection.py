"""One non-blocking connection to a Valkey or Redis. Each answer goes to the call of its request, in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from overlay.core.errors import WaxwingError
from overlay.runtime.logs.valkey.resp import Answers, BadAnswer, EngineError, request
from overlay.runtime.logs.wire import LostConnection, Wire

OnAnswer = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Server:
    """Where an engine listens."""

    host: str
    port: int
    password: str = ""
    database: int = 0

    @classmethod
    def of(cls, url: str) -> Server:
        """From ``redis://:password@host:port/0``. Raises ``WaxwingError``."""
        try:
            parts = urlsplit(url)
            if parts.scheme not in ("redis", "valkey") or not parts.hostname:
                raise ValueError
            database = int(parts.path.strip("/") or 0)
            return cls(parts.hostname, parts.port or 6379, unquote(parts.password or ""), database)
        except ValueError:
            raise WaxwingError("the address of the log must be as redis://:password@host:port/0") from None


class Connection(Wire):
    def __init__(self, server: Server) -> None:
        """Raises ``LostConnection``."""
        super().__init__(server.host, server.port)
        self._answers = Answers()
        self._waiting: deque[OnAnswer] = deque()
        if server.password:
            self.ask(accepted, "AUTH", server.password)
        if server.database:
            self.ask(accepted, "SELECT", server.database)

    @property
    def under_way(self) -> int:
        return len(self._waiting)

    def ask(self, on_answer: OnAnswer, *arguments: bytes | str | int) -> None:
        """Queue a request. ``on_answer`` gets its answer, also an ``EngineError``."""
        self.out += request(*arguments)
        self._waiting.append(on_answer)

    def received(self, data: bytes) -> None:
        try:
            answers = self._answers.feed(data)
        except BadAnswer as error:
            raise LostConnection(str(error)) from None
        for answer in answers:
            if not self._waiting:
                raise LostConnection("it answered what was not asked")
            self._waiting.popleft()(answer)


def accepted(answer: Any) -> Any:
    """What must not be refused. Raises ``LostConnection``."""
    if isinstance(answer, EngineError):
        raise LostConnection(str(answer))
    return answer
