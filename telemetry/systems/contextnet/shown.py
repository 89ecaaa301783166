"""What the page of a run of ContextNet shows: messages, connections, queues, and words for events."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.live import MEMORY_AND_CPU, KeyFigure, Line, LiveChart, View, gauge_chart
from telemetry.charts.live import SERIES as COMMON_SERIES
from telemetry.systems.contract import Counters, Wording

RESPONSE_TIME = COMMON_SERIES[0]
COUNTERS = Counters(
    load=("in_outbound", "out_inbound", "in_unsent"),
    load_help="messages from and to nodes, and messages for the store",
    rates=("out_inbound", "out_unsent", "out_presence"),
    gauges=("connections", "pool_used", "parked", "unsettled", "log_lag_ms", "stored"),
    totals={"connections": "Connections", "stored": "Stored messages"},
)
_NODES = View(
    "connections",
    "nodes",
    (Line("connections", "connected nodes", "connections", "total", colour="state-blue"),),
)
_RECORDS = View(
    "pool",
    "records",
    (
        Line("pool_used", "on their way to nodes", "pool_used", "total", colour="state-violet"),
        Line("parked", "parked at silent nodes", "parked", "total", colour="state-amber", dash="dashed"),
        Line("stored", "stored", "stored", "total", colour="state-green", dash="dotted"),
    ),
)
_BUSY = View(
    "busy",
    "busy gateways",
    (
        Line("is_busy", "busy gateways", "is_busy", "total", colour="state-red"),
        Line("is_draining", "drained gateways", "is_draining", "total", colour="state-amber", dash="dashed"),
    ),
)
SERIES = (
    LiveChart(
        "RTT, from the instant at which a message is due to its answer",
        "us",
        RESPONSE_TIME.views,
        "Round-trip time of messages over time: median, p95, p99 and mean",
        is_log=True,
        size="wide",
    ),
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
    ),
    LiveChart(
        "Nodes, records under way, busy gateways",
        "",
        (_NODES, _RECORDS, _BUSY),
        "Connected nodes, records on their way to nodes, stored messages, and busy gateways over time",
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
    KeyFigure("rtt_p50", "latency.p50"),
    KeyFigure("rtt_p99", "latency.p99"),
    KeyFigure("stored", of="sent"),
    KeyFigure("handovers"),
    KeyFigure("rtt_mean", is_main=False),
    KeyFigure("delivered", of="sent", is_main=False),
    KeyFigure("late", is_main=False),
    KeyFigure("expired", is_main=False),
    KeyFigure("evicted", is_main=False),
    KeyFigure("lost", is_main=False),
    KeyFigure("stored_delay_mean", is_main=False),
    KeyFigure("te_disconnecting", is_main=False),
    KeyFigure("handovers_per_min", is_main=False),
    KeyFigure("max_load_over_mean", is_main=False),
    KeyFigure("seconds_to_even", is_main=False),
    KeyFigure("breaks", is_main=False),
    KeyFigure("repeats", is_main=False),
    KeyFigure("duplicates", is_main=False),
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
    "GatewayLapsed": Wording("{who} misses the reports of a gateway", "", "no reports", "process"),
    "MovesOrdered": Wording("{who} tells nodes to move", "", "hand-overs", "neighbour"),
    "TakingOver": Wording("{who} stores what a gateway left", "", "store takes over", "process"),
    "GivenBack": Wording("{who}: a gateway is back", "", "", "process"),
}
"""Counterparts: the ``events`` of ``overlay.systems.contextnet.gateway``, ``poa`` and ``mtd``."""
