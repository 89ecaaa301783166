"""Changes of a network that concern one selection, encoded once for all its listeners.

Listeners are woken together a moment after a change, so that changes within that moment are one message, and all
listeners that are up to date share its text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from brokerweb.front.replies import ENCODER
from brokerweb.systems.contract import Following

GATHER_S, GATHER_EACH_S = 0.02, 0.0001
"""How long changes are gathered, and how much longer for each listener: those of a thousand take 50 ms to send."""
MOST_CHANGES = 500
"""Of one message."""
KEPT = 4
"""Messages kept for listeners that are a little behind."""


@dataclass(frozen=True, slots=True)
class Event:
    """``id`` is empty if a listener cannot resume behind it."""

    name: str
    body: Mapping[str, Any]
    id: str = ""

    @property
    def sse(self) -> str:
        head = f"id: {self.id}\n" if self.id else ""
        return f"{head}event: {self.name}\ndata: {ENCODER.encode(self.body)}\n\n"

    @property
    def json(self) -> dict[str, Any]:
        return {"event": self.name, "id": self.id or None, "data": self.body}


@dataclass(frozen=True, slots=True)
class Message:
    """Some events in both forms; none: both are empty."""

    upto: int
    """The number of the last change in it, or passed over."""
    sse: bytes
    text: str


def message(upto: int, events: list[Event]) -> Message:
    if not events:
        return Message(upto, b"", "")
    text = ENCODER.encode({"events": [one.json for one in events]})
    return Message(upto, "".join(one.sse for one in events).encode(), text)


class Wakeable(Protocol):
    def wake(self) -> None: ...


class Channel:
    """The changes of one selection."""

    def __init__(self, following: Following, selection: Hashable) -> None:
        self.selection = selection
        self._following = following
        self._kept: dict[tuple[int, int], Message] = {}

    def after(self, position: int, upto: int) -> Message | None:
        """The next changes behind ``position``, none behind ``upto``; ``None`` if some are no longer known."""
        kept = self._kept.get((position, upto))
        if kept is None:
            changes = self._following.changes(position, min(upto - position, MOST_CHANGES))
            if changes is None:
                return None
            kept = message(position + len(changes), self._events(position, changes))
            if len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[position, upto] = kept
        return kept

    def _events(self, position: int, changes: Any) -> list[Event]:
        events = []
        for number, change in enumerate(changes, position + 1):
            found = self._following.event(change, self.selection)
            if found is not None:
                events.append(Event(*found, self._following.id_of(number)))
        return events


class Feed:
    """The listeners of one network."""

    def __init__(self, following: Following) -> None:
        self.following = following
        self.released = following.last
        """The number of the last change that listeners are to send."""
        self.listeners: dict[Wakeable, None] = {}
        self._channels: dict[Hashable, Channel] = {}
        self._stop: Callable[[], None] | None = following.listen(self._changed)
        self._timer: asyncio.TimerHandle | None = None

    def channel(self, selection: Hashable) -> Channel:
        """Shared by listeners with an equal selection."""
        return self._channels.setdefault(selection, Channel(self.following, selection))

    def leave(self, listener: Wakeable, selection: Hashable, is_last_of_it: bool) -> None:
        self.listeners.pop(listener, None)
        if is_last_of_it:
            self._channels.pop(selection, None)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._stop is not None:
            self._stop()
            self._stop = None

    def _changed(self) -> None:
        if self._timer is None:
            after = GATHER_S + GATHER_EACH_S * len(self.listeners)
            self._timer = asyncio.get_running_loop().call_later(after, self._release)

    def _release(self) -> None:
        self._timer = None
        self.released = self.following.last
        for listener in self.listeners:
            listener.wake()
