"""What may be sent to addresses that have not proven that they want it (contract, section 4).

At most ten answers in any second, and three times the bytes that came from there (RFC 9000, section 8).
"""

from __future__ import annotations

from collections.abc import Hashable

from overlay.channel.settings import AMPLIFICATION, ANSWERS_PER_S, MOST_ADDRESSES
from overlay.core.node import SECOND


class _Known:
    __slots__ = ("credit", "times")

    def __init__(self) -> None:
        self.credit = 0
        """Bytes that may still be sent."""
        self.times: list[int] = []
        """Of the last answers."""


class Answers:
    """Remembers the addresses heard last."""

    def __init__(self) -> None:
        self._known: dict[Hashable, _Known] = {}
        """The one heard longest ago first."""

    def __len__(self) -> int:
        return len(self._known)

    def came(self, address: Hashable, size: int) -> None:
        """A datagram of this many bytes came from there."""
        known = self._known.pop(address, None)
        if known is None:
            known = _Known()
            if len(self._known) >= MOST_ADDRESSES:
                del self._known[next(iter(self._known))]
        self._known[address] = known
        known.credit += AMPLIFICATION * size

    def may_send(self, address: Hashable, size: int, now: int) -> bool:
        """Whether an answer of so many bytes may go there; it is counted if so."""
        known = self._known.get(address)
        if known is None or known.credit < size:
            return False
        times = known.times
        if len(times) >= ANSWERS_PER_S:
            if now - times[0] < SECOND:
                return False
            del times[0]
        times.append(now)
        known.credit -= size
        return True

    def check_invariants(self) -> None:
        assert len(self._known) <= MOST_ADDRESSES
        assert all(known.credit >= 0 and len(known.times) <= ANSWERS_PER_S for known in self._known.values())
