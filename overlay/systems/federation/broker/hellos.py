"""HELLO of other brokers, of neighbours and of those that are none yet: they may know the tree earlier. Pure."""

from __future__ import annotations

from collections.abc import Container

from overlay.systems.federation.wire.messages import Hello

MOST_HELLOS = 1_024
"""Of brokers that are no neighbours."""


class Hellos:
    """The newest of each broker in its present session."""

    def __init__(self, neighbours: Container[str]) -> None:
        """Those of ``neighbours`` are not counted."""
        self._neighbours = neighbours
        self._of: dict[str, Hello] = {}
        self._unread: set[str] = set()
        """Those that were not compared yet."""

    def get(self, broker: str) -> Hello | None:
        return self._of.get(broker)

    def add(self, broker: str, hello: Hello) -> None:
        """The oldest one of a stranger goes, if there are too many."""
        self._of.pop(broker, None)
        self._of[broker] = hello
        self._unread.add(broker)
        if len(self._of) > MOST_HELLOS and len(strangers := self._strangers()) > MOST_HELLOS:
            self.remove(strangers[0])

    def read(self, broker: str) -> bool:
        """Whether it is read for the first time."""
        is_first = broker in self._unread
        self._unread.discard(broker)
        return is_first

    def remove(self, broker: str) -> None:
        """Its session has ended."""
        self._of.pop(broker, None)
        self._unread.discard(broker)

    def check_invariants(self) -> None:
        """(I8). Raises ``AssertionError``. Neighbours of an earlier tree become strangers."""
        assert self._unread <= self._of.keys()

    def _strangers(self) -> list[str]:
        return [broker for broker in self._of if broker not in self._neighbours]
