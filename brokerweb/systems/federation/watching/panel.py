"""The panel of one server: epoch, neighbours, counters. Counterpart: ``brokerweb.brokers.panel``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.networks import inspecting
from brokerweb.networks.models import Network
from brokerweb.systems.contract import ServerDetail
from brokerweb.systems.federation.watching.inspecting import asked, index_of
from overlay.systems.federation.subjects import Subject
from overlay.systems.federation.system import SYSTEM
from telemetry.formatting import sig3, words

SHOWN_BEFORE = ("epoch", "bulk_waiting")
"""Gauges that are among the state."""


def own_words(network: Network, index: int) -> dict[str, Any] | None:
    """Its report; ``None`` if it is down or does not answer."""
    try:
        with asked(network, index) as server:
            state, figures = server.state(), server.figures()
            edges = server.rows(Subject.NEIGHBOURS, limit=1_000).rows
    except (NotAnswered, NotPossible):
        return None
    neighbours = [
        {
            "index": index_of(edge["broker"]),
            "address": edge["endpoint"],
            "state": "joined" if edge["state"] == "connected" else edge["state"],
        }
        for edge in edges
    ]
    return inspecting.own_words(network, index, figures, SYSTEM.gauges, neighbours, state=state)


def detail_of(found: Mapping[str, Any]) -> ServerDetail:
    """The panel's part for the result of ``own_words``."""
    own = found["own"] or {}
    state, gauges = own.get("state") or {}, own.get("gauges", {})
    leaves_in_ms = (state.get("bulk") or {}).get("leaves_in_ms")
    shown = {
        "own_state": state,
        "own_gauges": [(words(name), sig3(count)) for name, count in gauges.items() if name not in SHOWN_BEFORE],
        "own_leaves_in_s": None if leaves_in_ms is None else leaves_in_ms / 1000,
    }
    return ServerDetail("federation/broker.html", shown)
