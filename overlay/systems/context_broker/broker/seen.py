"""Remembers queries, so that floods and exhaustive walks visit each broker once."""

from __future__ import annotations

from overlay.systems.context_broker.broker.queries import Name

OFTEN = 8
"""Maximum clean-ups per lifetime of an entry. Cleaning up all old entries at once allows a plain dictionary, with a
third of the memory of an ordered one. In large networks these entries are most of the memory left by queries."""
AT_ONCE = 8
"""When the memory is full, one in so many entries, the oldest, are removed together; one by one would be slow.
"""


class Seen:
    """A bounded memory of queries with their reach. Entries are removed when no answer can arrive any more.

    When it is full, the oldest are removed earlier. These queries are normally over, as a query takes milliseconds and
    the memory holds seconds of them. Otherwise a query may be processed twice, within its hop limit.
    """

    __slots__ = ("_capacity", "_lifetime_ns", "_next_look", "_reach")

    def __init__(self, capacity: int, lifetime_ns: int) -> None:
        self._capacity = capacity
        self._lifetime_ns = lifetime_ns
        self._reach: dict[Name, tuple[int, int]] = {}
        """Name to (end, reach), in order of arrival."""
        self._next_look = 0

    def note(self, name: Name, now: int, reach: int = 0) -> bool:
        """Remember a query; ``False`` if it was seen with the same or a longer reach."""
        if now >= self._next_look:
            self._make_room(now)
        noted = now + self._lifetime_ns, reach
        known = self._reach.setdefault(name, noted)
        if known is noted:
            if len(self._reach) > self._capacity:
                self._make_room(now)
            return True
        if known[0] <= now:
            del self._reach[name]
            self._reach[name] = noted
            return True
        if known[1] >= reach:
            return False
        self._reach[name] = (known[0], reach)
        return True

    def forget(self, name: Name) -> None:
        """Undo the latest ``note`` of a query."""
        del self._reach[name]

    def _make_room(self, now: int) -> None:
        """Remove expired entries, and more of the oldest if necessary."""
        old = []
        for name, (until, _) in self._reach.items():
            if until > now:
                break
            old.append(name)
        if len(self._reach) - len(old) > self._capacity:
            old = list(self._reach)[: max(1, self._capacity // AT_ONCE)]
        for name in old:
            del self._reach[name]
        self._next_look = now + self._lifetime_ns // OFTEN

    def check_invariants(self) -> None:
        assert len(self._reach) <= self._capacity
        times = [until for until, _ in self._reach.values()]
        assert times == sorted(times)
