"""The topics to publish: each waits once, however often it changes, and shows its latest value only. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush

from overlay.systems.context_broker.mqtt.topic import Publication, Topic

SPARE_TIMERS = 64
"""Timers that were replaced by earlier ones stay in the heap, up to these and as many as count."""


class Outward:
    """``window`` publications may await the server's receipt."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.is_open = False
        """Whether the server is connected and what it retains has been heard."""
        self._changed: dict[str, Topic] = {}
        self._flying: dict[str, Topic] = {}
        self._timers: list[tuple[int, str]] = []
        self._due: dict[str, int] = {}
        """Of these timers, those that count."""
        self._began: dict[str, int] = {}

    def __len__(self) -> int:
        """Topics that wait or fly."""
        return len(self._changed) + len(self._flying)

    def change(self, topic: Topic, now: int) -> None:
        """Look at a topic again."""
        if topic.name not in self._changed:
            self._changed[topic.name] = topic
            self._began.setdefault(topic.name, now)

    def take(self, decide: Callable[[Topic], Publication | None]) -> list[tuple[Topic, Publication]]:
        """What to publish now, by ``decide``. Topics in flight wait until they are received."""
        held, taken = list[Topic](), list[tuple[Topic, Publication]]()
        while self.is_open and self._changed and len(self._flying) < self.window:
            topic = self._changed.pop(next(iter(self._changed)))
            if topic.flying is not None:
                held.append(topic)
                continue
            publication = decide(topic)
            if publication is None:
                self._began.pop(topic.name, None)
                continue
            topic.flying = publication
            self._flying[topic.name] = topic
            taken.append((topic, publication))
        self._changed.update((topic.name, topic) for topic in held)
        return taken

    def received(self, name: str) -> tuple[Topic, int] | None:
        """The server has received what was published at this topic; the time when it had changed first."""
        topic = self._flying.pop(name, None)
        return None if topic is None else (topic, self._began.pop(name, 0))

    def lose(self) -> list[Topic]:
        """The connection has ended: what was in flight may have been lost."""
        lost = list(self._flying.values())
        self._flying.clear()
        self.is_open = False
        return lost

    def watch(self, topic: Topic, due: int) -> None:
        """Look at it again at this time, Unix ms; 0: no longer."""
        if due and (not topic.due or due < topic.due):
            heappush(self._timers, (due, topic.name))
            topic.due = self._due[topic.name] = due
            if len(self._timers) > 2 * len(self._due) + SPARE_TIMERS:
                self._timers = [(due, name) for name, due in self._due.items()]
                heapify(self._timers)

    def due(self, now_ms: int) -> Iterator[str]:
        """The topics to look at again."""
        while self._timers and self._timers[0][0] <= now_ms:
            due, name = heappop(self._timers)
            if self._due.get(name) == due:
                del self._due[name]
                yield name

    def forget(self, name: str) -> None:
        """There is no such topic any more."""
        self._due.pop(name, None)

    def next_due(self) -> int | None:
        """Unix ms."""
        return self._timers[0][0] if self._timers else None

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        assert self.is_open or not self._flying
        assert set(self._due.items()) <= {(name, due) for due, name in self._timers}
        assert all(topic.flying is not None for topic in self._flying.values())
