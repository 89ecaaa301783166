"""What is said to a server, and what it answers. Pure; ``sending`` is the driver, with the socket."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from overlay.core.node import MILLISECOND, SECOND

WAIT = 2 * SECOND
"""How long answers are awaited (ns)."""
LINGER = 50 * MILLISECOND
"""Time to listen after the expected last answer (ns)."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One answer."""

    after_us: float
    """Microseconds after what was sent."""
    data: bytes


class Exchange(ABC):
    """``now`` is in monotonic nanoseconds. A driver sends ``to_send()`` after each call, until ``is_over``."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []

    @abstractmethod
    def start(self, now: int) -> None: ...

    @abstractmethod
    def receive(self, data: bytes, now: int) -> None:
        """One datagram of the server."""

    @abstractmethod
    def handle_timer(self, now: int) -> None: ...

    @abstractmethod
    def next_timer(self) -> int:
        """When ``handle_timer`` is to be called at the latest (ns)."""

    @abstractmethod
    def to_send(self) -> list[bytes]: ...

    @property
    @abstractmethod
    def is_over(self) -> bool: ...


class Once(Exchange):
    """One datagram is sent as it is."""

    def __init__(
        self,
        data: bytes,
        is_last: Callable[[bytes, bytes], bool],
        follow_up: Callable[[bytes, bytes], bytes | None],
    ) -> None:
        """As ``Lab.is_last`` and ``Lab.follow_up``."""
        super().__init__()
        self._data, self._is_last, self._follow_up = data, is_last, follow_up
        self._out = [data]
        self._is_followed = self._is_over = False
        self._started = self._until = 0

    def start(self, now: int) -> None:
        self._started, self._until = now, now + WAIT

    def receive(self, data: bytes, now: int) -> None:
        self.heard.append(Heard((now - self._started) / 1000, data))
        follow_up = None if self._is_followed else self._follow_up(self._data, data)
        if follow_up is not None:
            self._is_followed = True
            self._out.append(follow_up)
        elif self._is_last(self._data, data):
            self._until = min(self._until, now + LINGER)

    def handle_timer(self, now: int) -> None:
        self._is_over = now >= self._until

    def next_timer(self) -> int:
        return self._until

    def to_send(self) -> list[bytes]:
        out, self._out = self._out, []
        return out

    @property
    def is_over(self) -> bool:
        return self._is_over
