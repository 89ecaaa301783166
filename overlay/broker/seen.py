"""Which queries were here before, so that floods and exhaustive walks come to each broker once."""

from __future__ import annotations

from overlay.broker.sliced import Name

OFTEN = 8
"""Times in a lifetime that the old are looked for at most: all at once, so that a plain dictionary does, which takes a
third of the memory of an ordered one; in networks of many brokers, these are most of what queries leave behind."""


class Seen:
    """A bounded memory of queries, each with how far its flood was to go; forgotten when no answer can come."""

    __slots__ = ("_capacity", "_lifetime_ns", "_next_look", "_reach")

    def __init__(self, capacity: int, lifetime_ns: int) -> None:
        self._capacity = capacity
        self._lifetime_ns = lifetime_ns
        self._reach: dict[Name, tuple[int, int]] = {}
        """Name to (until when, TTL), the one seen first first."""
        self._next_look = 0

    def __contains__(self, name: Name) -> bool:
        return name in self._reach

    def note(self, name: Name, now: int, ttl: int = 1) -> bool:
        """Remember a query; ``False`` where it was here with this TTL or a larger one, or there is no room for it."""
        if now >= self._next_look or len(self._reach) >= self._capacity:
            self._forget(now)
        known = self._reach.get(name)
        if known is not None and known[0] <= now:
            del self._reach[name]
            known = None
        if known is None:
            if len(self._reach) >= self._capacity:
                return False
            self._reach[name] = (now + self._lifetime_ns, ttl)
            return True
        if known[1] >= ttl:
            return False
        self._reach[name] = (known[0], ttl)
        return True

    def _forget(self, now: int) -> None:
        """All whose time is over."""
        old = []
        for name, (until, _) in self._reach.items():
            if until > now:
                break
            old.append(name)
        for name in old:
            del self._reach[name]
        self._next_look = now + self._lifetime_ns // OFTEN

    def check_invariants(self) -> None:
        assert len(self._reach) <= self._capacity
        times = [until for until, _ in self._reach.values()]
        assert times == sorted(times)
