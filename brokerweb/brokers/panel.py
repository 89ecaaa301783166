"""The panel of one server next to the overlay: state, load, memory and the parts that its system adds.

Counterparts: ``runpage.panel`` and ``networks.live_data`` provide the data, ``templates/brokers/`` renders it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brokerweb.brokers.names import ServerNames
from brokerweb.systems.contract import ServerDetail


@dataclass(frozen=True, slots=True)
class Place:
    """The page on which a server is shown."""

    part: str
    """URL of the panel's live part."""
    json: str
    asks_again: bool
    since: str
    """The event that its seconds count from."""
    silent: str
    """Text for a server without data."""


def shown(place: Place, servers: ServerNames, found: Mapping[str, Any], detail: ServerDetail | None) -> dict[str, Any]:
    """Template context of the panel; ``found`` is the data of the server."""
    own = found["own"]
    counters = servers.counters(found["now"]) if own is None and detail is None else []
    title = servers.full(found["index"])
    more = {} if detail is None else {"detail": detail.template, **detail.context}
    return {
        "broker": found,
        "servers": servers,
        "panel": {"place": place, "title": title, "reports": detail is not None, "counters": counters, **more},
    }
