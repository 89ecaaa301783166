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
        self._early: dict[int, Data] | None = None
        """DATA behind a gap. Tables are there only while there is something in them: most connections are idle."""
        self._parts: list[bytes] | None = None
        self._first: Data | None = None
        """The first part of the message in assembly."""
        self._unsettled: dict[int, bool] | None = None
        """By the last sequence of each message that was delivered and is not acknowledged: whether it is durable."""
        self.is_broken = False
        """Whether parts came that make no message."""
        self.shown = 0
        """DATA that no packet of ours has told yet."""

    @property
    def ack(self) -> int:
        return self.expected if self._unsettled is None else next(iter(self._unsettled))

    @property
    def sack(self) -> int:
        ack = self.ack
        bits = (1 << self.expected - ack) - 1
        for sequence in self._early or ():
            bits |= 1 << sequence - ack
        return bits

    def take(self, data: Data) -> tuple[list[Whole], bool]:
        """Messages that are complete now, and whether the sender should know at once: it came before, is beyond the
        window, or opens or closes a gap."""
        early, ack = self._early, self.ack
        ahead = (data.sequence - ack) & LOW
        sequence = ack + ahead
        if ahead >= WINDOW or sequence < self.expected or (early is not None and sequence in early):
            return [], True
        self.shown += 1
        if sequence != self.expected:
            if early is None:
                early = self._early = {}
            early[sequence] = data
            return [], True
        found: list[Whole] = []
        part: Data | None = data
        while part is not None:
            self._assemble(part, found)
            if self.is_broken:
                break
            self.expected += 1
            part = early.pop(self.expected, None) if early is not None else None
        if not early:
            self._early = None
        return found, early is not None

    def _assemble(self, part: Data, found: list[Whole]) -> None:
        first, parts = self._first or part, self._parts or []
        if (part.fragment, part.fragments, part.kind) != (len(parts), first.fragments, first.kind):
            self.is_broken = True
            return
        parts.append(part.part)
        if len(parts) < part.fragments:
            self._first, self._parts = first, parts
            return
        found.append(Whole(part.kind, b"".join(parts), self.expected))
        self._first = self._parts = None
        if self._is_durable and part.kind in (Kind.MESSAGE, Kind.CONTEXT):
            if self._unsettled is None:
                self._unsettled = {}
            self._unsettled[self.expected] = False

    def settle(self, sequence: int) -> bool:
        """The record of the message that ends there is durable. Returns whether ``ack`` rose."""
        unsettled = self._unsettled
        if unsettled is None or sequence not in unsettled:
            return False
        before = self.ack
        unsettled[sequence] = True
        for one in [*unsettled]:
            if not unsettled[one]:
                break
            del unsettled[one]
        if not unsettled:
            self._unsettled = None
        return self.ack > before

    def check_invariants(self) -> None:
        assert self.ack <= self.expected
        assert all(self.expected < sequence < self.ack + WINDOW for sequence in self._early or ()) or self.is_broken
        assert not self._unsettled or not self._unsettled[self.ack]
