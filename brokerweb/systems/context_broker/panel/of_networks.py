"""One broker of a network that stays up, asked by its own protocol: what it counted, and whom it knows.

Counterpart: ``of_runs`` tells the same of a broker that keeps a journal, which one of a network does not.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from brokerweb.networks.models import UP, Network
from brokerweb.systems.context_broker.panel.words import Said, detail
from brokerweb.systems.contract import ServerDetail
from overlay.core.addresses import format_address, parse_address
from overlay.journal.facts import GAUGES
from overlay.programs.context_broker.client import ContextClient, NoAnswer, Refused

DEADLINE_S = 0.5
"""For both questions: who looks at a broker that is gone waits no longer."""
_OF_ITS_CLOCK = "uptime"


def own_words(network: Network, index: int) -> dict[str, Any] | None:
    """What it says of itself, as ``BrokerWindow.advance`` tells it; ``None`` where it is not up or does not answer."""
    row = next((row for row in network.brokers if row["index"] == index and row["state"] == "up"), None)
    if row is None or network.state not in UP:
        return None
    client = ContextClient([parse_address(row["address"])], DEADLINE_S)
    try:
        said, neighbours = client.statistics(), [format_address(one) for one in client.neighbors()]
    except (NoAnswer, Refused):
        return None
    names = {one["address"]: one["index"] for one in network.brokers if one.get("address")}
    return {
        "index": index,
        "address": row["address"],
        "lives": row.get("restarts", 0) + 1,
        "asked": True,
        "t_s": said.get(_OF_ITS_CLOCK, 0) / 1000,
        "as_of_unix_us": time.time_ns() // 1000,
        "counters": {
            name: count
            for name, count in sorted(said.items())
            if count and name not in GAUGES and name != _OF_ITS_CLOCK
        },
        "gauges": {name: count for name, count in sorted(said.items()) if name in GAUGES},
        "neighbours": [
            {"index": names.get(address), "address": address, "state": "joined", "since_s": None}
            for address in sorted(neighbours, key=lambda one: (names.get(one, len(names)), one))
        ],
        "steps": [],
        "messages": [],
        "entries": [],
        "held": None,
    }


def detail_of(network: Network, found: Mapping[str, Any]) -> ServerDetail:
    """The panel's part of what ``own_words`` found."""
    said = Said(
        entries_told="A broker says how many data it has. Which, it tells only whoever asks for one by its name.",
        messages_told="A network keeps nothing of what its brokers send. The walk of what you ask is shown below.",
        ways_on=(("Ask for data", "#ask"), ("Send it a message in the wire lab", reverse("wire-compose"))),
    )
    return detail(said, found)
