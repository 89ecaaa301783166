"""What was read of journals, kept between two looks: of the last few things that somebody looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
W = TypeVar("W")
R = TypeVar("R")


class Following(Generic[K, W]):
    """Followers of growing files, ``most`` at a time; those that nobody looked at for longest go first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._windows: OrderedDict[K, W] = OrderedDict()
        self._lock = Lock()

    def look(self, key: K, make: Callable[[], W], read: Callable[[W], R]) -> R:
        """What ``read`` says of the follower of ``key``, which ``make`` makes if there is none. One reads at a time."""
        with self._lock:
            window = self._windows.pop(key) if key in self._windows else make()
            self._windows[key] = window
            while len(self._windows) > self._most:
                self._windows.popitem(last=False)
            return read(window)
