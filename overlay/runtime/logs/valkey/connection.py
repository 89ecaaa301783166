"""One non-blocking connection to a Valkey or Redis. Each answer goes to the call of its request, in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from overlay.core.errors import WaxwingError
from overlay.runtime.logs.valkey.resp import Answers, BadAnswer, EngineError, request
from overlay.runtime.logs.wire import LostConnection, NotAdmitted, Wire

OnAnswer = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Server:
    """Where an engine listens."""

    host: str
    port: int
    password: str = ""
    database: int = 0
    user: str = ""
    """Empty: the engine's default user."""

    @classmethod
    def of(cls, url: str) -> Server:
        """From ``redis://user:password@host:port/0``, where the user may be missing. Raises ``WaxwingError``."""
        try:
            parts = urlsplit(url)
            user, password = unquote(parts.username or ""), unquote(parts.password or "")
            if parts.scheme not in ("redis", "valkey") or not parts.hostname or (user and not password):
                raise ValueError
            return cls(parts.hostname, parts.port or 6379, password, int(parts.path.strip("/") or 0), user)
        except ValueError:
            shape = "redis://user:password@host:port/0, where the user may be missing"
            raise WaxwingError(f"the address of the log must be as {shape}") from None

    def url_of(self, user: str, password: str) -> str:
        """Its address for another user."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"redis://{quote(user, safe='')}:{quote(password, safe='')}@{host}:{self.port}/{self.database}"

    @property
    def login(self) -> tuple[str, ...]:
        """What AUTH is told; empty: nothing, there is no password."""
        return tuple(filter(None, (self.user, self.password)))

    @property
    def named(self) -> str:
        """The user, in sentences."""
        return f"user {self.user}" if self.user else "the default user"


class Connection(Wire):
    def __init__(self, server: Server) -> None:
        """Raises ``LostConnection``."""
        super().__init__(server.host, server.port)
        self._answers = Answers()
        self._waiting: deque[OnAnswer] = deque()
        if server.login:
            self.ask(partial(_admitted, server), "AUTH", *server.login)
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


def _admitted(server: Server, answer: Any) -> None:
    if isinstance(answer, EngineError):
        raise NotAdmitted(f"{server.named} is not known, or has another password")


def accepted(answer: Any) -> Any:
    """What must not be refused. Raises ``LostConnection``."""
    if isinstance(answer, EngineError):
        raise LostConnection(str(answer))
    return answer
