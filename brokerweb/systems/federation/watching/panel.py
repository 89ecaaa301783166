"""The panel of one server: epoch, neighbours, counters. Counterpart: ``brokerweb.brokers.panel``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.networks.models import Network
from brokerweb.systems.contract import ServerDetail
from brokerweb.systems.federation.watching.inspecting import addresses, asked, index_of
from overlay.systems.federation.system import SYSTEM
from overlay.systems.federation.wire.inspection import Subject


def own_words(network: Network, index: int) -> dict[str, Any] | None:
    """Its report; ``None`` if it is down or does not answer."""
    try:
        with asked(network, index) as server:
            state, figures = server.state(), server.figures()
            edges = server.rows(Subject.NEIGHBOURS, limit=1_000).rows
    except (NotAnswered, NotPossible):
        return None
    row = next(row for row in network.brokers if row["index"] == index)
    return {
        "index": index,
        "address": addresses(network).get(index, ""),
        "lives": row.get("restarts", 0) + 1,
        "asked": True,
        "t_s": max(0.0, time.time() - row["since_unix_ms"] / 1000),
        "as_of_unix_us": time.time_ns() // 1000,
        "counters": {name: count for name, count in sorted(figures.items()) if count and name not in SYSTEM.gauges},
        "gauges": {name: count for name, count in sorted(figures.items()) if name in SYSTEM.gauges},
        "neighbours": [
            {
                "index": index_of(edge["broker"]),
                "address": edge["endpoint"],
                "state": "joined" if edge["state"] == "connected" else edge["state"],
                "since_s": None,
            }
            for edge in edges
        ],
        "steps": [],
        "messages": [],
        "entries": [],
        "held": None,
        "state": state,
    }


def detail_of(found: Mapping[str, Any]) -> ServerDetail:
    """The panel's part for the result of ``own_words``."""
    return ServerDetail("federation/broker.html", {"own_state": (found["own"] or {}).get("state")})
