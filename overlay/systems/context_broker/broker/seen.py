"""Which queries were here before, so that floods and exhaustive walks come to each broker once."""

from __future__ import annotations

from overlay.systems.context_broker.broker.queries import Name

OFTEN = 8
"""Times in a lifetime that the old are looked for at most: all at once, so that a plain dictionary does, which takes a
third of the memory of an ordered one; in networks of many brokers, these are most of what queries leave behind."""
AT_ONCE = 8
"""Of a full memory, the oldest in so many are forgotten together: one by one, each would cost a look past all others.
"""


class Seen:
    """A bounded memory of queries, each with how far it was to go; forgotten when no answer can come.

    Of more than there is room for, the oldest are forgotten sooner. They are over by then: a query takes milliseconds,
    and there is room for what a broker gets in seconds. One that is not may be looked into twice, within its hops.
    """

    __slots__ = ("_capacity", "_lifetime_ns", "_next_look", "_reach")

    def __init__(self, capacity: int, lifetime_ns: int) -> None:
        self._capacity = capacity
        self._lifetime_ns = lifetime_ns
        self._reach: dict[Name, tuple[int, int]] = {}
        """Name to (until when, reach), the one seen first first."""
        self._next_look = 0

    def note(self, name: Name, now: int, reach: int = 0) -> bool:
        """Remember a query; ``False`` where it was here with this reach or a longer one."""
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
        """As if the query, noted last, had not been here."""
        del self._reach[name]

    def _make_room(self, now: int) -> None:
        """All whose time is over, and more of the oldest where that leaves no room."""
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
