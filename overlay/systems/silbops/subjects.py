"""What operators may ask brokers about. ``overlay.peers.questions`` has the question, ``broker.view`` the answers."""

from __future__ import annotations

from enum import IntEnum


class Subject(IntEnum):
    FIGURES = 0
    """The counters by name."""
    STATE = 1
    """Of the broker itself."""
    NEIGHBOURS = 2
    """The edges of the tree, and what each neighbour was told."""
    CLIENTS = 3
    SUBSCRIPTIONS = 4
    """Rows: a subscription and the link it came by."""
    ADVERTISEMENTS = 5
    """Rows, as those of subscriptions."""
    CONTEXTS = 6
    WHY = 7
    """A dry publication: ``broker.explaining`` says what is asked and answered."""
