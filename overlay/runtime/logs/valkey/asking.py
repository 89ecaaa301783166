"""Blocking requests to a Valkey or Redis."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from overlay.runtime.logs.port import Denied
from overlay.runtime.logs.valkey.connection import Server
from overlay.runtime.logs.valkey.resp import Answers, EngineError, is_about_rights, request


class NotAllowed(EngineError, Denied):
    """The same, where it is about rights, with the user."""


def _refused(error: EngineError, server: Server) -> EngineError:
    return NotAllowed(f"{error} ({server.named})") if is_about_rights(error) else error


@contextmanager
def asking(server: Server, timeout_s: float) -> Iterator[Any]:
    """A function that asks and waits for the answer."""
    reader = Answers()
    with socket.create_connection((server.host, server.port), timeout_s) as sock:

        def ask(*arguments: bytes | str | int) -> Any:
            sock.sendall(request(*arguments))
            found: list[Any] = []
            while not found:
                if not (data := sock.recv(1 << 16)):
                    raise OSError("it closed the connection")
                found = reader.feed(data)
            if isinstance(found[0], EngineError):
                raise _refused(found[0], server)
            return found[0]

        if server.login:
            ask("AUTH", *server.login)
        if server.database:
            ask("SELECT", server.database)
        yield ask
