"""Which of many sockets have something to read, found out with the precision of ``select``.

A time-out of epoll ticks in milliseconds, and a load generator that is late measures itself. But the descriptor of an
epoll can be selected itself, and that wakes within microseconds.
"""

from __future__ import annotations

import select
import selectors
from collections.abc import Sequence
from typing import Protocol

from overlay.core.node import SECOND

AT_ONCE = 64
"""Sockets named by one call; the others come first in the next. Timers are looked at in between."""


class Ready(Protocol):
    """Sockets by descriptor."""

    def add(self, fd: int) -> None: ...
    def remove(self, fd: int) -> None: ...
    def wait(self, wait_ns: int) -> Sequence[int]:
        """Those that have something to read, after waiting for one of them for at most so long."""
        ...

    def close(self) -> None: ...


def make_ready() -> Ready:
    return EpollReady() if hasattr(select, "epoll") else SelectorReady()


class EpollReady:
    """Linux: a third of the time that ``selectors`` takes, which looks up and wraps each socket that it names."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._poll = self._epoll.poll

    def add(self, fd: int) -> None:
        self._epoll.register(fd, select.EPOLLIN)

    def remove(self, fd: int) -> None:
        self._epoll.unregister(fd)

    def wait(self, wait_ns: int) -> Sequence[int]:
        if wait_ns > 0 and not select.select((self._epoll,), (), (), wait_ns / SECOND)[0]:
            return ()
        return [fd for fd, _ in self._poll(0, AT_ONCE)]

    def close(self) -> None:
        self._epoll.close()


class SelectorReady:
    """Anywhere else."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def add(self, fd: int) -> None:
        self._selector.register(fd, selectors.EVENT_READ)

    def remove(self, fd: int) -> None:
        self._selector.unregister(fd)

    def wait(self, wait_ns: int) -> Sequence[int]:
        return [key.fd for key, _ in self._selector.select(max(wait_ns, 0) / SECOND)]

    def close(self) -> None:
        self._selector.close()
