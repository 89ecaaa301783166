"""How clients find brokers, one class each; how they are used is in ``docs/discovery.md``.

Counterparts: ``discovery_table`` describes them field by field, ``codec`` reads and writes them. ``timestamp`` is Unix
milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.addresses import Address


@dataclass(slots=True, unsafe_hash=True)
class BrokersRequest:
    """Asks a broker for its load, and for other brokers."""

    timestamp: int
    most: int
    """How many addresses are wanted at most."""


@dataclass(slots=True, unsafe_hash=True)
class BrokersResponse:
    """The broker is ready for clients; ``brokers`` are some of its neighbours."""

    timestamp: int
    """That of the request, so that its round trip is known exactly."""
    epoch: int
    """When the broker's table was empty last, at its start, Unix milliseconds."""
    load_per_s: int
    """Updates, requests, answers and refusals that the broker receives per second."""
    brokers: tuple[Address, ...] = ()


DiscoveryMessage = BrokersRequest | BrokersResponse
