"""A broker of a network, queried by its own protocol for counters and neighbours.

Counterpart: ``of_runs`` reads the same from a run's journal.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from brokerweb.networks.models import UP, Network
from brokerweb.systems.context_broker.panel.text import Said, detail
from brokerweb.systems.contract import ServerDetail
from overlay.core.addresses import format_address, parse_address
from overlay.programs.context_broker.client import ContextClient, NoAnswer, Refused
from overlay.systems.context_broker.system import SYSTEM

DEADLINE_S = 0.5
"""Timeout of both queries for a broker that is gone."""
_OF_ITS_CLOCK = "uptime"


def own_words(network: Network, index: int) -> dict[str, Any] | None:
    """Its report in the format of ``BrokerWindow.advance``; ``None`` if it is down or does not answer."""
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
            if count and name not in SYSTEM.gauges and name != _OF_ITS_CLOCK
        },
        "gauges": {name: count for name, count in sorted(said.items()) if name in SYSTEM.gauges},
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
    """The panel's part for the result of ``own_words``."""
    said = Said(
        entries_note="Brokers report only the number of entries; query an entity to see its data.",
        messages_note="Messages of networks are not recorded. The walk of your query appears below.",
        links=(("Query data", "#ask"), ("Send it a message in the wire lab", reverse("wire-compose"))),
    )
    return detail(said, found)
