"""Where a notification can go: to a client of the broker, or to a neighbour."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

_REMEMBERED = 4_096
"""Names of each kind. A destination is needed several times for each message."""


class Destination(NamedTuple):
    """Clients and brokers may have the same id."""

    is_neighbour: bool
    id: str


@lru_cache(_REMEMBERED)
def client(name: str) -> Destination:
    return Destination(False, name)


@lru_cache(_REMEMBERED)
def neighbour(name: str) -> Destination:
    return Destination(True, name)
