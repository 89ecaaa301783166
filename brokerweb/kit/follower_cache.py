"""A cache of journal followers between requests, for the most recently viewed objects."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
W = TypeVar("W")
R = TypeVar("R")


class Following(Generic[K, W]):
    """An LRU cache of at most ``most`` followers of growing files."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._windows: OrderedDict[K, W] = OrderedDict()
        self._lock = Lock()

    def look(self, key: K, make: Callable[[], W], read: Callable[[W], R]) -> R:
        """The result of ``read`` for the follower of ``key``, created by ``make`` if missing. Serialised."""
        with self._lock:
            window = self._windows.pop(key) if key in self._windows else make()
            self._windows[key] = window
            while len(self._windows) > self._most:
                self._windows.popitem(last=False)
            return read(window)
