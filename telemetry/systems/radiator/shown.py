"""What the page of a run of Radiator shows: lag, traffic, what is retained, and the states of pairs."""

from __future__ import annotations

from telemetry.charts.live import MEMORY_AND_CPU, KeyFigure, Line, LiveChart, View
from telemetry.systems.contract import Counters

COUNTERS = Counters(
    load=("accepted",),
    load_help="messages that the server accepted",
    rates=("accepted", "propagations", "pushes", "delivered", "repairs", "evaluations"),
    gauges=("reachable", "retained", "pairs_retained", "pairs_in_flight", "uplink_queued_bytes"),
    totals={"reachable": "Reachable clients", "pairs_retained": "Pairs retained"},
)
SERIES = (
    LiveChart(
        "Lag of propagations, from their oldest message",
        "us",
        (
            View(
                "lag",
                "",
                (
                    Line("lag_p50", "p50", "deliveries", "p50", colour="state-blue", width=2.5),
                    Line("lag_p95", "p95", "deliveries", "p95", colour="state-violet", dash="dashed"),
                    Line("lag_p99", "p99", "deliveries", "p99", colour="ink-soft", dash="dotted"),
                ),
            ),
        ),
        "Time from the oldest message of a propagation to its arrival: median, p95 and p99 over time",
        is_log=True,
        size="wide",
    ),
    LiveChart(
        "Outbound bytes of the {server} per second",
        "bytes",
        (
            View(
                "outbound",
                "",
                (
                    Line("outbound", "sent", "outbound_bytes", colour="state-blue"),
                    Line(
                        *("uncompressed", "without compression", "outbound_bytes_uncompressed"),
                        colour="ink-soft",
                        dash="dashed",
                    ),
                ),
            ),
        ),
        "Bytes that the {server} sent per second, with and without compression",
    ),
    LiveChart(
        "Messages and pushes per second",
        "per_s",
        (
            View(
                "rates",
                "",
                (
                    Line("accepted", "messages accepted", "accepted", colour="state-blue"),
                    Line("pushes", "pushes", "pushes", colour="state-violet", dash="dashed"),
                    Line("repairs", "repairs", "repairs", colour="state-red", dash="dotted"),
                ),
            ),
        ),
        "Messages accepted, first pushes and repairs per second",
    ),
    LiveChart(
        "Pairs of a message and a recipient",
        "",
        (
            View(
                "pairs",
                "",
                (
                    Line("pairs_retained", "retained", "pairs_retained", "total", colour="state-blue"),
                    Line(
                        "pairs_in_flight", "in flight", "pairs_in_flight", "total", colour="state-amber", dash="dashed"
                    ),
                ),
            ),
        ),
        "Pairs retained and in flight over time",
    ),
    *MEMORY_AND_CPU,
)
KEY_FIGURES = (
    KeyFigure("lag_mean"),
    KeyFigure("lag_p95"),
    KeyFigure("bytes_per_pair"),
    KeyFigure("aggregation_factor"),
    KeyFigure("pairs_delivered", of="pairs_due"),
    KeyFigure("pairs_retained", "totals.pairs_retained", is_main=False),
    KeyFigure("pairs_failed", is_main=False),
    KeyFigure("refused", is_main=False),
    KeyFigure("pushes", is_main=False),
)
