"""Where a notification can go: to a client of the broker, or to a neighbour."""

from __future__ import annotations

from typing import NamedTuple


class Destination(NamedTuple):
    """Clients and brokers may have the same id."""

    is_neighbour: bool
    id: str


def client(name: str) -> Destination:
    return Destination(False, name)


def neighbour(name: str) -> Destination:
    return Destination(True, name)
