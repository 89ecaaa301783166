"""The panel of one broker: tables, queues, processor time by message, neighbours. Counterpart:
``brokerweb.brokers.panel``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.networks.inspecting import asked, own_words
from brokerweb.networks.models import Network
from brokerweb.systems.contract import ServerDetail
from overlay.programs.silbops.inspection import Inspector
from overlay.systems.silbops.subjects import Subject
from overlay.systems.silbops.system import SYSTEM
from overlay.systems.silbops.wire.codec import SILBOPS

MOST_NEIGHBOURS = 1_000
KINDS = tuple(layout.name for layout in SILBOPS.layouts)
"""Of messages."""


def of_broker(network: Network, index: int) -> dict[str, Any] | None:
    """Its report; ``None`` if it is down or does not answer."""
    try:
        with asked(Inspector, network, index) as broker:
            figures, edges = broker.figures(), broker.rows(Subject.NEIGHBOURS, limit=MOST_NEIGHBOURS).rows
            state = broker.ask(Subject.STATE)
    except (NotAnswered, NotPossible):
        return None
    neighbours = [
        {
            "index": int(edge["broker"][1:]),
            "address": edge["endpoint"],
            "state": "joined" if edge["state"] == "connected" else edge["state"],
        }
        for edge in edges
    ]
    edges = [{name: edge[name] for name in ("broker", "state", "forwarded", "queued")} for edge in edges]
    return own_words(network, index, figures, SYSTEM.gauges, neighbours, state=state, edges=edges)


def detail_of(found: Mapping[str, Any]) -> ServerDetail:
    """The panel's part for the result of ``of_broker``."""
    own = found["own"] or {}
    shown = {
        "own_state": own.get("state") or {},
        "own_edges": own.get("edges", ()),
        "own_busy": sorted(_busy(own.get("counters", {})), key=lambda one: -one["total_us"]),
    }
    return ServerDetail("silbops/broker.html", shown)


def _busy(counters: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Processor time by kind of message that came, of those that took some."""
    for kind in KINDS:
        total_us, count = counters.get(f"busy_{kind.lower()}_us", 0), counters.get(f"in_{kind.lower()}", 0)
        if total_us:
            yield {"kind": kind, "total_us": total_us, "each_us": total_us / count if count else None, "count": count}
