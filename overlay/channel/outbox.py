"""Messages of one peer that are not acknowledged: how many there are, and those that wait for a number.

Beyond the bound the oldest waiting message of the lowest class is dropped. What has a number is never dropped, so a
drop leaves no gap. A message in several records has its number when its first record has.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from overlay.channel.records import GOES_ON, cut, joined, record
from overlay.channel.settings import MOST_QUEUED

CLASSES: Final = 3
"""Drop classes: 0 low, 1 normal, 2 high. Messages without one are never dropped."""
_COMPACT: Final = 64
"""Entries that were taken or dropped are removed from the list when so many of them are more than half of it."""


class Droppable:
    """A waiting message that may be dropped; ``None`` once it was."""

    __slots__ = ("drop", "message")

    def __init__(self, message: bytes, drop: int) -> None:
        self.message: bytes | None = message
        self.drop = drop


class Outbox:
    __slots__ = (
        *("_bound", "_classes", "_dead", "_head", "_most"),
        *("accepted", "acknowledged", "bytes", "dropped", "messages", "parts", "rest", "waiting"),
    )

    def __init__(self, bound: int, most: int) -> None:
        """``bound`` is in messages, ``most`` in bytes of a message in one record."""
        self._bound, self._most = bound, most
        self.waiting: list[bytes | Droppable] = []
        """Empty if none waits; some may have been dropped."""
        self._head = 0
        """Before it, all were taken."""
        self._dead = 0
        """Dropped ones from ``_head`` on."""
        self._classes: list[deque[Droppable]] | None = None
        """Waiting ones by class, from the first that had no room to the end of the queue."""
        self.rest: list[bytes] = []
        """The records of the message that is being sent which have no number yet, the next one last."""
        self.accepted = self.acknowledged = self.dropped = 0
        """Messages."""
        self.messages = 0
        """Not acknowledged."""
        self.bytes = 0
        """Of ``messages``, without those that were acknowledged."""
        self.parts: list[bytes] = []
        """The acknowledged records of the message that is not acknowledged as a whole."""

    @property
    def is_full(self) -> bool:
        return self.messages >= self._bound or self.bytes >= MOST_QUEUED

    @property
    def is_overflown(self) -> bool:
        return self.messages >= 2 * self._bound or self.bytes >= 2 * MOST_QUEUED

    def push(self, message: bytes, drop: int | None) -> bool:
        """Returns whether twice the bound is reached."""
        self.accepted += 1
        self.messages += 1
        self.bytes += len(message)
        if drop is None:
            self.waiting.append(message)
        else:
            entry = Droppable(message, drop)
            self.waiting.append(entry)
            if self._classes is not None:
                self._classes[drop].append(entry)
        if self.messages <= self._bound and self.bytes <= MOST_QUEUED:
            return False
        self._make_room()
        return self.is_overflown

    def take(self, count: int, space: int) -> list[bytes]:
        """The next records, at most ``count`` and of at most ``space`` bytes together. They have a number now."""
        taken: list[bytes] = []
        waiting, head, most, rest = self.waiting, self._head, self._most, self.rest
        while count > 0:
            if rest:
                space -= len(rest[-1])
                if space < 0:
                    break
                taken.append(rest.pop())
            elif head < len(waiting):
                entry = waiting[head]
                message = entry.message if isinstance(entry, Droppable) else entry
                if message is None:
                    self._dead -= 1
                    head += 1
                    continue
                space -= min(len(message), most) + 2
                if space < 0:
                    break
                head += 1
                if self._classes is not None and isinstance(entry, Droppable):
                    self._classes[entry.drop].popleft()  # the oldest of its class
                if len(message) <= most:
                    taken.append(record(message))
                else:
                    rest = self.rest = cut(message, most)[::-1]
                    taken.append(rest.pop())
            else:
                break
            count -= 1
        if head == len(waiting):
            self.clear()
        else:
            self._leave_out(head)
        return taken

    def settle(self, records: list[bytes]) -> None:
        """They are acknowledged, in order."""
        for one in records:
            self.bytes -= len(one) - 2
            if one[0] >= GOES_ON:
                self.parts.append(one)
            else:
                self.messages -= 1
                self.acknowledged += 1
                if self.parts:
                    self.parts.clear()

    def undelivered(self, records: list[bytes]) -> list[bytes]:
        """All messages that are not acknowledged, in order; ``records`` are under way."""
        found: list[bytes] = []
        parts = list(self.parts)
        for one in (*records, *reversed(self.rest)):
            parts.append(one)
            if one[0] < GOES_ON:
                found.append(joined(parts))
                parts.clear()
        waiting = (e.message if isinstance(e, Droppable) else e for e in self.waiting[self._head :])
        return found + [message for message in waiting if message is not None]

    def clear(self) -> None:
        """All that waited were taken, and can no longer be dropped."""
        self.waiting.clear()
        self._head = 0
        self._classes = None

    # ---- parts of the above

    def _leave_out(self, head: int) -> None:
        """All before ``head`` were taken."""
        if head > _COMPACT and head > len(self.waiting) // 2:
            del self.waiting[:head]
            head = 0
        self._head = head

    def _make_room(self) -> None:
        if self._classes is None:
            self._classes = [deque() for _ in range(CLASSES)]
            for entry in self.waiting[self._head :]:
                if isinstance(entry, Droppable):
                    self._classes[entry.drop].append(entry)
        for entries in self._classes:
            while entries and (self.messages > self._bound or self.bytes > MOST_QUEUED):
                self._drop(entries.popleft())

    def _drop(self, entry: Droppable) -> None:
        assert entry.message is not None
        self.dropped += 1
        self.messages -= 1
        self.bytes -= len(entry.message)
        entry.message = None
        self._dead += 1
        if self._dead > _COMPACT and self._dead > (len(self.waiting) - self._head) // 2:
            waiting = self.waiting[self._head :]
            self.waiting = [e for e in waiting if not isinstance(e, Droppable) or e.message is not None]
            self._head = self._dead = 0

    def check_invariants(self, records: list[bytes]) -> None:
        waiting = self.undelivered(records)
        assert self.messages == len(waiting)
        assert self.accepted == self.acknowledged + self.dropped + self.messages
        assert self.bytes == sum(map(len, waiting)) - sum(len(part) - 2 for part in self.parts)
        left = self.waiting[self._head :]
        assert self._dead == sum(isinstance(e, Droppable) and e.message is None for e in left)
        assert not any(one.message is None for entries in self._classes or () for one in entries)
        assert not self.is_overflown
        assert all(part[0] >= GOES_ON for part in self.parts)
