"""Pushes that wait for clients of the gateway, or are remembered for them, within bounds. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import NamedTuple
from weakref import WeakValueDictionary, finalize


class Body:
    """A document, shared by all that have to be sent it. Its bytes are counted until the last one lets it go."""

    def __init__(self, data: bytes) -> None:
        self.data = data


class Bodies:
    """At most ``most`` bytes in all."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._live: WeakValueDictionary[Hashable, Body] = WeakValueDictionary()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._live)

    def share(self, key: Hashable, make: Callable[[], bytes]) -> Body | None:
        """What ``make`` made for this key; ``None`` if there is no room."""
        found = self._live.get(key)
        if found is None:
            data = make()
            if self.bytes + len(data) > self._most:
                return None
            found = self._live[key] = Body(data)
            self.bytes += len(data)
            finalize(found, self._let_go, len(data)).atexit = False
        return found

    def _let_go(self, size: int) -> None:
        self.bytes -= size


class Event(NamedTuple):
    number: int
    """From 1."""
    body: Body


class Events:
    """The latest events of a client. One that was not sent yet is never displaced."""

    def __init__(self, most: int, life: int) -> None:
        """``life`` tells apart the numbers of a client's registrations at this gateway."""
        self._most, self._life = most, life
        self._events: deque[Event] = deque()
        self._newest = self._sent = 0

    def __len__(self) -> int:
        return len(self._events)

    @property
    def unsent(self) -> int:
        return self._newest - self._sent

    def add(self, body: Body) -> bool:
        """Returns whether there is room."""
        if len(self._events) >= self._most:
            if self._events[0].number > self._sent:
                return False
            self._events.popleft()
        self._newest += 1
        self._events.append(Event(self._newest, body))
        return True

    def after(self, number: int) -> Event | None:
        """The first one after a number."""
        return next((event for event in self._events if event.number > number), None)

    def sent(self, number: int) -> None:
        self._sent = max(self._sent, number)

    def clear(self) -> int:
        """Returns how many had not been sent."""
        unsent = self.unsent
        self._events.clear()
        self._sent = self._newest
        return unsent

    def id_of(self, event: Event) -> str:
        return f"{self._life:x}-{event.number}"

    def resume(self, last: str) -> tuple[int, int | None]:
        """The number after which a stream goes on, and how many events before it are lost; ``None`` if that is unknown.

        ``last`` is the ``Last-Event-ID``, empty in a first request: then it goes on with what was never sent.
        """
        if not last:
            return self._sent, 0
        oldest = self._events[0].number if self._events else self._newest + 1
        life, _, digits = last.partition("-")
        is_ours = life == f"{self._life:x}" and digits.isascii() and digits.isdecimal() and len(digits) < 20
        if not is_ours or int(digits) > self._newest:
            return oldest - 1, None
        return max(int(digits), oldest - 1), max(0, oldest - 1 - int(digits))
