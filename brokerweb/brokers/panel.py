"""The panel of one server beside an overlay: its state, load and memory, and what its system adds.

Counterparts: ``runpage.panel`` and ``networks.looking`` say what is known of it, ``templates/brokers/`` shows this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brokerweb.systems.contract import ServerDetail


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server is looked at."""

    part: str
    """The address of the panel's moving part."""
    json: str
    asks_again: bool
    since: str
    """What its seconds count from."""
    silent: str
    """Said of one of which nothing is known."""


def shown(place: Place, found: Mapping[str, Any], detail: ServerDetail | None) -> dict[str, Any]:
    """The context of the panel's template; ``found`` is what is known of the server."""
    more = {} if detail is None else {"detail": detail.template, **detail.context}
    return {"broker": found, "panel": {"place": place, **more}}
