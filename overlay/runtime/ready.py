"""Waits for readable sockets among many, with the precision of ``select``.

Time-outs of epoll have a resolution of milliseconds, and a delayed load generator would measure itself. But ``select``
works on the descriptor of an epoll and wakes up within microseconds.
"""

from __future__ import annotations

import select
import selectors
from collections.abc import Sequence
from typing import Protocol

from overlay.core.node import SECOND

AT_ONCE = 64
"""Maximum sockets returned by a call; the others are first in the next one. Timers run in between."""


class Ready(Protocol):
    """Sockets by descriptor."""

    def add(self, fd: int) -> None: ...
    def remove(self, fd: int) -> None: ...
    def wait(self, wait_ns: int) -> Sequence[int]:
        """Readable sockets, after waiting for at most this long."""
        ...

    def close(self) -> None: ...


def make_ready() -> Ready:
    return EpollReady() if hasattr(select, "epoll") else SelectorReady()


class EpollReady:
    """Linux: takes a third of the time of ``selectors``, which looks up and wraps each socket."""

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
