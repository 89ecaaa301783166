"""Blocking requests to a Valkey or Redis."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from overlay.runtime.logs.valkey.connection import Server
from overlay.runtime.logs.valkey.resp import Answers, EngineError, request


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
                raise found[0]
            return found[0]

        if server.password:
            ask("AUTH", server.password)
        if server.database:
            ask("SELECT", server.database)
        yield ask
