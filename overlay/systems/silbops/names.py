"""The names of arms, roles and brokers. Pure, and without imports, since processes of every system import it.

Counterpart: ``overlay.systems.roles`` has the names of processes.
"""

from __future__ import annotations

SILBOPS, SIENA = "silbops", "siena"
"""The arms: context apart from subscriptions, and written into them."""
BROKER = "broker"
"""The role of servers."""
PUBLISHER, SUBSCRIBER = "publisher", "subscriber"
"""The roles of clients."""


def broker_name(index: int) -> str:
    """Also the id of its channel, in UTF-8."""
    return f"b{index}"
