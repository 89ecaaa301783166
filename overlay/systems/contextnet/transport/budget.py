"""A bound on repeats, common to the connections of a gateway or a fleet: a token bucket. First sendings fill it."""

from __future__ import annotations


class Budget:
    """At most one token for each open connection; it starts full."""

    __slots__ = ("_connections", "_share", "tokens")

    def __init__(self, share: float | None) -> None:
        """``share`` of repeats in first transmissions; ``None``: no bound."""
        self._share = share
        self._connections = 0
        self.tokens = 0.0

    def opened(self) -> None:
        self._connections += 1
        self.tokens += 1

    def closed(self) -> None:
        self._connections -= 1
        self.tokens = min(self.tokens, self._connections)

    def gain(self) -> None:
        """DATA was sent for the first time."""
        if self._share is not None:
            self.tokens = min(self.tokens + self._share, self._connections)

    def take(self) -> bool:
        """Whether DATA may be repeated now."""
        if self._share is None:
            return True
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def check_invariants(self, connections: int) -> None:
        assert self._connections == connections
        assert 0 <= self.tokens <= connections
