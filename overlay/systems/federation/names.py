"""The names of nodes in messages: ``b2``, ``bdrs``, ``p3``, ``c0``. They are the ids of their channels. Pure.

Counterpart: ``overlay.systems.roles`` has the names of their processes.
"""

from __future__ import annotations

BROKER, BDRS = "broker", "bdrs"
"""The roles of servers: brokers, and the broker discovery and registration service."""
PROVIDER, CONSUMER = "provider", "consumer"
"""The roles of clients."""
SERVICE = "bdrs"
"""The registration service, of which a network has one."""


def broker_name(index: int) -> str:
    return f"b{index}"


def provider_name(number: int) -> str:
    return f"p{number}"


def consumer_name(number: int) -> str:
    return f"c{number}"
