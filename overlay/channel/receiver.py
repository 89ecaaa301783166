"""The receiving side of a session: order, gaps, and messages of several records. Counterpart: ``sender``."""

from __future__ import annotations

from overlay.channel.records import GOES_ON, joined
from overlay.channel.settings import MOST_MESSAGE


class Receiver:
    __slots__ = ("_early", "_size", "_window", "ack", "got", "is_broken", "is_paused", "parts")

    def __init__(self, window: int) -> None:
        self._window = window
        self.ack = 0
        """All records up to it have arrived."""
        self.got = 0
        """Bit i: record ``ack + 1 + i`` has arrived. The first one has only during a pause."""
        self.is_paused = False
        self.is_broken = False
        """Whether the peer has sent a message that is too long."""
        self.parts: list[bytes] = []
        """The records of the message in assembly."""
        self._size = 0
        """Bytes of ``parts``."""
        self._early: dict[int, bytes] = {}
        """The records of ``got``, by number."""

    @property
    def room(self) -> int:
        return 0 if self.is_paused else self._window

    @property
    def sack(self) -> int:
        return self.got >> 1 & 0xFFFF_FFFF_FFFF_FFFF

    def take(self, number: int, records: list[bytes], messages: list[bytes]) -> bool:
        """Records within the window, numbered from ``number``. Appends complete messages to ``messages``.

        Returns whether they open or close a gap or came before, so that the sender should know at once.
        """
        if number == self.ack + 1 and not self.got and not self.is_paused:
            self.ack += len(records)
            for record in records:
                if record[0] < GOES_ON and not self.parts:
                    messages.append(record[2:])
                elif not self._assemble(record, messages):
                    break
            return False
        highest = self.ack + self.got.bit_length()
        is_news = number != highest + 1
        for place, record in enumerate(records, number - self.ack - 1):
            if place >= 0 and not self.got >> place & 1:
                self.got |= 1 << place
                self._early[self.ack + 1 + place] = record
        if not self.is_paused:
            self.release(messages)
        return is_news

    def release(self, messages: list[bytes]) -> None:
        """Deliver what is in order."""
        while self.got & 1 and not self.is_broken:
            self.ack += 1
            self.got >>= 1
            self._assemble(self._early.pop(self.ack), messages)

    def _assemble(self, record: bytes, messages: list[bytes]) -> bool:
        self._size += len(record) - 2
        self.is_broken = self._size > MOST_MESSAGE
        if self.is_broken:
            return False
        self.parts.append(record)
        if record[0] < GOES_ON:
            messages.append(joined(self.parts))
            self.parts.clear()
            self._size = 0
        return True

    def check_invariants(self) -> None:
        assert self.is_paused or not self.got & 1
        assert self.got.bit_length() <= self._window
        assert {self.ack + 1 + i for i in range(self.got.bit_length()) if self.got >> i & 1} == set(self._early)
        assert self._size == sum(len(part) - 2 for part in self.parts) <= MOST_MESSAGE
        assert all(part[0] >= GOES_ON for part in self.parts)
