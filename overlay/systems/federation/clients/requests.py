"""Requests without an answer yet: by number, each with a deadline, and not more than a bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from overlay.core.timers import Timers


class Request:
    """A message that was sent, or waits until the client is registered."""

    __slots__ = ("context", "is_repeated", "message", "peer", "tries")

    def __init__(self, peer: str, message: Any, context: Any) -> None:
        self.peer, self.message, self.context = peer, message, context
        """``peer`` is empty for the broker, whichever it is."""
        self.tries = 0
        """How often it was sent."""
        self.is_repeated = False
        """Whether it was sent again after a refusal of the client as invalid."""


class Requests:
    """Takes no memory but its own while there are none."""

    __slots__ = ("_last", "_open", "_timers", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self._last = 0
        self._open: dict[int, Request] | None = None
        self._timers: Timers | None = None

    def __len__(self) -> int:
        return len(self._open) if self._open else 0

    def __iter__(self) -> Iterator[tuple[int, Request]]:
        return iter(() if self._open is None else self._open.items())

    @property
    def is_full(self) -> bool:
        return len(self) >= self.most

    def draw(self) -> int:
        """The number of the next request; they only rise."""
        self._last += 1
        return self._last

    def add(self, req: int, request: Request, deadline: int) -> None:
        if self._open is None or self._timers is None:
            self._open, self._timers = {}, Timers()
        self._open[req] = request
        self._timers.set(req, deadline)

    def get(self, req: int) -> Request | None:
        return self._open.get(req) if self._open else None

    def take(self, req: int) -> Request | None:
        """It has ended."""
        if not self._open or self._timers is None or req not in self._open:
            return None
        request = self._open.pop(req)
        self._timers.cancel(req)
        if not self._open:
            self._open = self._timers = None
        return request

    def of(self, peer: str) -> list[tuple[int, Request]]:
        """In the order of their numbers; ``peer`` is empty for the broker."""
        return [(req, one) for req, one in self._open.items() if one.peer == peer] if self._open else []

    def due(self, now: int) -> Iterator[tuple[int, Request]]:
        """Those whose deadline has come; each is removed before it is given."""
        while self._timers is not None and (at := self._timers.next_timer()) is not None and at <= now:
            req = next(self._timers.due(now))
            request = self.take(req)
            assert request is not None, "a deadline without its request"
            yield req, request

    def next_timer(self) -> int | None:
        return None if self._timers is None else self._timers.next_timer()

    def check_invariants(self) -> None:
        assert (self._open is None) == (self._timers is None)
        assert self._open is None or (self._timers is not None and set(self._timers) == set(self._open))
        assert self._open is None or max(self._open) <= self._last
