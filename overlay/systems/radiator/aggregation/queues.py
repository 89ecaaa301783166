"""Messages, queues, and the heap of their deadlines."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

from overlay.systems.radiator.context import Context
from overlay.systems.radiator.language.thresholds import Threshold

SECOND = 1_000_000_000
Owner = TypeVar("Owner")


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """An accepted context. Equal only to itself."""

    number: int
    """Grows with each accepted message."""
    context: Context
    received: int
    """The time of its acceptance, in ns."""


class Queue:
    """The messages of a recipient with one threshold, oldest first."""

    __slots__ = ("messages", "people", "threshold")

    def __init__(self, threshold: Threshold) -> None:
        self.threshold = threshold
        self.messages: list[Message] = []
        self.people: set[str] = set()
        """Distinct people; only with a threshold of people."""

    def append(self, message: Message) -> None:
        self.messages.append(message)
        if self.threshold[0] == "people":
            self.people.update(message.context.people)

    @property
    def is_satisfied(self) -> bool:
        """For a queue with messages."""
        kind, value = self.threshold
        if kind == "volume":
            return len(self.messages) >= value
        if kind == "people":
            return len(self.people) >= value
        return self.messages[-1].received - self.messages[0].received >= value * SECOND

    def copy(self) -> Queue:
        other = Queue(self.threshold)
        other.messages = self.messages[:]
        other.people = set(self.people)
        return other


def pending_of(queues: Iterable[Queue]) -> list[Message]:
    """All their messages, oldest first."""
    return sorted((message for queue in queues for message in queue.messages), key=lambda message: message.number)


def oldest_first(queues: Iterable[Queue]) -> list[Queue]:
    return sorted(queues, key=lambda queue: queue.messages[0].number)


class Deadlines(Generic[Owner]):
    """A heap of ``(deadline, owner, queue)``. A queue that left stays until it comes up, or until most have left."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Owner, Queue]] = []
        self._serial = count()
        self._left = set[Queue]()

    def add(self, deadline: int, owner: Owner, queue: Queue) -> None:
        heapq.heappush(self._heap, (deadline, next(self._serial), owner, queue))

    def discard(self, queue: Queue) -> None:
        """``queue``, which was added, has left."""
        self._left.add(queue)
        if len(self._left) > 64 and 2 * len(self._left) > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[3] not in self._left]
            self._left.clear()
            heapq.heapify(self._heap)

    def first(self) -> int | None:
        """The earliest deadline."""
        while self._heap and self._heap[0][3] in self._left:
            self._left.remove(heapq.heappop(self._heap)[3])
        return self._heap[0][0] if self._heap else None

    def due(self, now: int) -> Iterator[Owner]:
        """Owners of queues with deadlines until ``now``, which stay until they are discarded."""
        unseen = [0] if self._heap else []
        while unseen:
            place = unseen.pop()
            deadline, _, owner, queue = self._heap[place]
            if deadline <= now:  # in a heap, all below are later
                if queue not in self._left:
                    yield owner
                unseen.extend(child for child in (2 * place + 1, 2 * place + 2) if child < len(self._heap))
