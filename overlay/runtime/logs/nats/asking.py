"""Blocking requests to JetStream."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from select import select
from typing import Any

from overlay.runtime.logs.nats.connection import Connection, Server, Stored, accepted


class Asking:
    def __init__(self, wire: Connection, timeout_s: float) -> None:
        self.wire = wire
        self._until = time.monotonic() + timeout_s

    def answer(self, what: str, **about: Any) -> Any:
        """Of JetStream's interface."""
        found: list[Any] = []
        self.wire.api(found.append, what, **about)
        self.wait(lambda: bool(found))
        return found[0]

    def last(self, stream: str, subject: str) -> Stored:
        found: list[Stored] = []
        self.wire.last(found.append, stream, subject)
        self.wait(lambda: bool(found))
        return found[0]

    def publish(self, subject: str, payload: bytes) -> None:
        """Until it is durable."""
        found: list[Any] = []
        self.wire.ask(found.append, subject, payload)
        self.wait(lambda: bool(found))
        accepted(found[0])

    def wait(self, is_done: Callable[[], bool]) -> None:
        while not is_done():
            left = self._until - time.monotonic()
            if left <= 0:
                raise TimeoutError("it does not answer")
            wire = self.wire
            select([wire.descriptor], [wire.descriptor] if wire.wants_to_write else [], [], left)
            wire.write()
            wire.read()


@contextmanager
def asking(server: Server, timeout_s: float) -> Iterator[Asking]:
    """Of the first server that can be reached."""
    wire = Connection(server)
    try:
        yield Asking(wire, timeout_s)
    finally:
        wire.close()
