"""The fullest of many queues that change."""

from __future__ import annotations

from collections.abc import Callable, Collection
from heapq import heapify, heappop, heappush, heapreplace


class Fullest:
    """A heap in which each queue has at least one entry that says as much as it has, or more."""

    def __init__(self, names: Collection[bytes], size: Callable[[bytes], int]) -> None:
        """``names``: of the queues there are, live. ``size``: bytes of a queue; 0: there is none."""
        self._names, self._size = names, size
        self._heap: list[tuple[int, bytes]] = []

    def grown(self, name: bytes, size: int) -> None:
        heappush(self._heap, (-size, name))
        if len(self._heap) > 64 + 2 * len(self._names):
            self._heap = [(-self._size(one), one) for one in self._names]
            heapify(self._heap)

    def first(self) -> bytes:
        """The fullest; of several, that with the lowest name. There is one."""
        heap = self._heap
        while True:
            said, name = heap[0]
            size = self._size(name)
            if size == -said:
                return name
            if size:
                heapreplace(heap, (-size, name))
            else:
                heappop(heap)
