"""The names of brokers' processes. Pure."""

from __future__ import annotations

BROKER = "broker-"
"""The prefix of a broker's process name, before its index."""


def broker_index(process: str) -> int | None:
    """The index in ``broker-3``; ``None`` for another kind of process."""
    index = process.removeprefix(BROKER)
    return int(index) if process.startswith(BROKER) and index.isdigit() else None
