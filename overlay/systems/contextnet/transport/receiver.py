"""The receiving side of a connection: order, gaps, messages of several parts, durability. Counterpart: ``sender``.

::

    arrived (sack) ─ in order: taken ─ delivered ─ its record is durable ─> ack

Where nothing waits for durability, ``ack`` follows delivery at once. It outlives its connection, as ``Sender`` does.
"""

from __future__ import annotations

from typing import Final

from overlay.systems.contextnet.transport.packets import LOW, Data, Kind

WINDOW: Final = 32
"""Bits of ``sack``."""


class Whole:
    """A message that arrived; ``sequence`` is that of its last part."""

    __slots__ = ("data", "kind", "sequence")

    def __init__(self, kind: Kind, data: bytes, sequence: int) -> None:
        self.kind, self.data, self.sequence = kind, data, sequence


class Receiver:
    __slots__ = ("_early", "_first", "_is_durable", "_parts", "_unsettled", "expected", "is_broken", "shown")

    def __init__(self, is_durable: bool) -> None:
        """``is_durable``: whether messages and contexts are acknowledged only when ``settle`` was called."""
        self._is_durable = is_durable
        self.restart()

    def restart(self) -> None:
        """Sequences from 0; what was incomplete is forgotten."""
        self.expected = 0
        """The next sequence to be taken in order."""
        self._early: dict[int, Data] = {}
        self._parts: list[bytes] = []
        self._first: Data | None = None
        """The first part of the message in assembly."""
        self._unsettled: dict[int, bool] = {}
        """By the last sequence of each message that was delivered and is not acknowledged: whether it is durable."""
        self.is_broken = False
        """Whether parts came that make no message."""
        self.shown = 0
        """DATA and settlements that no packet of ours has told yet."""

    @property
    def ack(self) -> int:
        return next(iter(self._unsettled), self.expected)

    @property
    def sack(self) -> int:
        ack = self.ack
        bits = (1 << self.expected - ack) - 1
        for sequence in self._early:
            bits |= 1 << sequence - ack
        return bits

    def take(self, data: Data) -> tuple[list[Whole], bool]:
        """Messages that are complete now, and whether the sender should know at once: it came before, is beyond the
        window, or opens or closes a gap."""
        ahead = (data.sequence - self.ack) & LOW
        sequence = self.ack + ahead
        if ahead >= WINDOW or sequence < self.expected or sequence in self._early:
            return [], True
        is_gap = bool(self._early) or sequence != self.expected
        self._early[sequence] = data
        self.shown += 1
        found: list[Whole] = []
        while (part := self._early.pop(self.expected, None)) is not None and not self.is_broken:
            self._assemble(part, found)
            self.expected += 1
        return found, is_gap

    def _assemble(self, part: Data, found: list[Whole]) -> None:
        first = self._first or part
        if (part.fragment, part.fragments, part.kind) != (len(self._parts), first.fragments, first.kind):
            self.is_broken = True
            return
        self._first = first
        self._parts.append(part.part)
        if len(self._parts) == part.fragments:
            found.append(Whole(part.kind, b"".join(self._parts), self.expected))
            self._parts.clear()
            self._first = None
            if self._is_durable and part.kind in (Kind.MESSAGE, Kind.CONTEXT):
                self._unsettled[self.expected] = False

    def settle(self, sequence: int) -> bool:
        """The record of the message that ends there is durable. Returns whether ``ack`` rose."""
        if sequence not in self._unsettled:
            return False
        before = self.ack
        self._unsettled[sequence] = True
        while self._unsettled and self._unsettled[self.ack]:
            del self._unsettled[self.ack]
        self.shown += self.ack > before
        return self.ack > before

    def check_invariants(self) -> None:
        assert self.ack <= self.expected
        assert all(self.expected < sequence < self.ack + WINDOW for sequence in self._early) or self.is_broken
        assert not self._unsettled or not self._unsettled[self.ack]
