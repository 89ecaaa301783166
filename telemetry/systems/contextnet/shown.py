"""What the page of a run of ContextNet shows: messages, connections, queues, and words for events."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.live import MEMORY_AND_CPU, KeyFigure, Line, LiveChart, View, gauge_chart
from telemetry.systems.contract import Counters, Wording

COUNTERS = Counters(
    load=("in_outbound", "out_inbound", "in_unsent"),
    load_help="messages from and to nodes, and messages for the store",
    rates=("out_inbound", "out_unsent", "out_presence"),
    gauges=("connections", "pool_used", "parked", "unsettled", "stored"),
    totals={"connections": "Connections", "stored": "Stored messages"},
)
SERIES = (
    LiveChart(
        "Records per second",
        "per_s",
        (
            View(
                "records",
                "",
                (
                    Line("inbound", "from nodes", "out_inbound", colour="state-blue"),
                    Line("unsent", "to the store", "out_unsent", colour="state-amber", dash="dashed"),
                    Line("presence", "presence", "out_presence", colour="ink-soft", dash="dotted"),
                ),
            ),
        ),
        "Records of messages from nodes, of messages to the store, and of presence, per second",
        size="wide",
    ),
    LiveChart(
        "Connections and records under way",
        "",
        (
            View(
                "connections",
                "connections",
                (Line("connections", "connections", "connections", "total", colour="state-blue"),),
            ),
            View(
                "pool",
                "records",
                (
                    Line("pool_used", "on their way to nodes", "pool_used", "total", colour="state-violet"),
                    Line("parked", "parked at silent nodes", "parked", "total", colour="state-amber", dash="dashed"),
                    Line("stored", "stored", "stored", "total", colour="state-green", dash="dotted"),
                ),
            ),
        ),
        "Connections of nodes, records on their way to nodes, and stored messages over time",
        views_label="What",
    ),
    *MEMORY_AND_CPU,
)


SERIES_OF_NETWORKS = (
    gauge_chart("connections", "Connections", "state-blue"),
    gauge_chart("stored", "Stored messages", "state-green"),
)
KEY_FIGURES = (
    KeyFigure("te"),
    KeyFigure("rtt_mean"),
    KeyFigure("rtt_p99"),
    KeyFigure("lost"),
    KeyFigure("sent"),
    KeyFigure("delivered", is_main=False),
    KeyFigure("late", is_main=False),
    KeyFigure("expired", is_main=False),
    KeyFigure("duplicates", is_main=False),
    KeyFigure("te_disconnecting", is_main=False),
    KeyFigure("breaks", is_main=False),
    KeyFigure("repeats", is_main=False),
    KeyFigure("handovers", is_main=False),
)


def _of_nodes(one: str, many: str) -> Wording:
    return Wording(one, many, family="neighbour")


WORDINGS: Mapping[str, Wording] = {
    "NodeConnected": _of_nodes("a node connected to {who}", "nodes connected to {who}"),
    "NodeMoved": _of_nodes("a node of {who} has a new address", "nodes of {who} have new addresses"),
    "NodeSilent": _of_nodes("a node of {who} is silent", "nodes of {who} are silent"),
    "NodeDisconnected": _of_nodes("a connection to {who} ended: {reason}", "connections to {who} ended: {reason}"),
    "Acting": Wording("{who} decides from now on", "", "", "process"),
    "StandingBy": Wording("{who} stands by", "", "", "process"),
    "GatewayActive": Wording("{who}: a gateway is active", "{who}: gateways are active", "", "process"),
    "GatewayLapsed": Wording("{who} misses the reports of a gateway", "", "", "process"),
}
"""Counterparts: the ``events`` of ``overlay.systems.contextnet.gateway`` and ``poa``."""
