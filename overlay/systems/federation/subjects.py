"""What operators may ask the servers of a federation about. ``overlay.peers.questions`` has the question."""

from __future__ import annotations

from enum import IntEnum


class Subject(IntEnum):
    FIGURES = 0
    """The counters by name."""
    STATE = 1
    """Of the server itself."""
    NEIGHBOURS = 2
    """Edges of a broker, and what is stored for each neighbour."""
    TREE = 3
    """The edges of the newest tree that the server knows."""
    BROKERS = 4
    """Those that are registered at the registration service."""
    CLIENTS = 5
    BULK = 6
    """Subscriptions that a mobile broker collects."""
    CACHE = 7
    """Notifications, those that were used last first."""
