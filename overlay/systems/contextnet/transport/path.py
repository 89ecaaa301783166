"""A change of a node's address, as its gateway checks it: challenges to the new address, and no other traffic.

An address under validation gets at most three times the bytes that came from it (RFC 9000, section 8).
"""

from __future__ import annotations

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.systems.contextnet.transport.settings import (
    AMPLIFICATION,
    CHALLENGE_WAIT,
    CHALLENGES,
    VALIDATIONS_PER_MINUTE,
)


class Path:
    """An address under validation."""

    __slots__ = ("address", "credit", "ends_at", "nonce", "sent", "size", "wanted_at")

    def __init__(self, address: Address, nonce: bytes, size: int, now: int) -> None:
        """``size`` is that of a challenge."""
        self.address, self.nonce, self.size = address, nonce, size
        self.credit = 0
        """Bytes that may be sent there."""
        self.sent = 0
        """Challenges."""
        self.wanted_at = now
        """When the next one is due, if ``credit`` allows it."""
        self.ends_at = now + CHALLENGES * CHALLENGE_WAIT

    def came(self, size: int) -> None:
        self.credit += AMPLIFICATION * size

    def earliest(self) -> int:
        """The next deadline (ns). A challenge without credit waits for a packet."""
        if self.sent < CHALLENGES and self.credit >= self.size:
            return min(self.wanted_at, self.ends_at)
        return self.ends_at

    def is_due(self, now: int) -> bool:
        """Whether a challenge is to be sent now; it is counted if so."""
        if self.sent == CHALLENGES or now < self.wanted_at or self.credit < self.size:
            return False
        self.sent += 1
        self.credit -= self.size
        self.wanted_at = now + CHALLENGE_WAIT
        return True


class Validations:
    """How many began in the last minute. One per connection that has ever moved."""

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began: list[int] = []

    def may_begin(self, now: int) -> bool:
        """It is counted if so."""
        self._began = [at for at in self._began if now - at < 60 * SECOND]
        if len(self._began) >= VALIDATIONS_PER_MINUTE:
            return False
        self._began.append(now)
        return True
