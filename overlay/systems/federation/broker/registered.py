"""A client that is registered at a broker, VALID or INVALID (seed 001, section 8). UNKNOWN ones are not kept."""

from __future__ import annotations

from overlay.systems.federation.broker.held import Held
from overlay.systems.federation.wire.values import Advertisement


class Registered:
    __slots__ = ("advertisement", "has_subscribed", "heard", "held", "is_reachable", "is_ready", "is_valid", "since")

    def __init__(self, advertisement: Advertisement, now: int) -> None:
        self.advertisement = advertisement
        self.since = self.heard = now
        """x: when it registered, or the last keep-alive (ns)."""
        self.is_valid = True
        self.is_reachable = True
        """Whether it was heard since its session began."""
        self.is_ready = True
        """Both. What is for it is sent at once; else it waits."""
        self.has_subscribed = False
        self.held: Held | None = None
        """None if nothing waits."""

    def check_invariants(self, now: int, valid_for: int, known_for: int) -> None:
        """(I10). Raises ``AssertionError``."""
        assert self.is_ready == (self.is_valid and self.is_reachable)
        assert now < self.heard + (valid_for if self.is_valid else known_for), "a state past its deadline"
        assert self.is_valid or now >= self.heard + valid_for
        assert not (self.is_ready and self.held), "something waits for a client that is ready"
