"""Which queries were here before, so that floods and exhaustive walks come to each broker once."""

from __future__ import annotations

from collections import OrderedDict

from overlay.broker.sliced import Name


class Seen:
    """A bounded memory of queries, each with how far its flood was to go; forgotten when no answer can come."""

    def __init__(self, capacity: int, lifetime_ns: int) -> None:
        self._capacity = capacity
        self._lifetime_ns = lifetime_ns
        self._reach: OrderedDict[Name, tuple[int, int]] = OrderedDict()
        """Name to (until when, TTL), the one seen first first."""

    def __contains__(self, name: Name) -> bool:
        return name in self._reach

    def note(self, name: Name, now: int, ttl: int = 1) -> bool:
        """Remember a query; ``False`` where it was here with this TTL or a larger one, or there is no room for it."""
        self._forget(now)
        known = self._reach.get(name)
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
        while self._reach and next(iter(self._reach.values()))[0] <= now:
            self._reach.popitem(last=False)

    def check_invariants(self) -> None:
        assert len(self._reach) <= self._capacity
        times = [until for until, _ in self._reach.values()]
        assert times == sorted(times)
