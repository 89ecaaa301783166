"""What the page of a run of SilboPS shows: publications, changes of context, back-pressure, tables, and words for
events."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.live import MEMORY_AND_CPU, KeyFigure, Line, LiveChart, View, gauge_chart
from telemetry.systems.contract import Counters, Wording

BACK_PRESSURE = ("unacknowledged", "queued", "full_queues", "paused")
"""Gauges of queues."""
COUNTERS = Counters(
    load=("in_publish", "in_pub", "in_setctx", "in_ctx", "in_subscribe", "in_sub", "in_unsubscribe", "in_unsub"),
    load_help="publications, contexts and subscriptions that arrived",
    rates=("candidates", "scope_tests"),
    gauges=(
        *("rows_subscriptions", "rows_forwarded", "rows_advertisements", "rows_contexts", "clients", "kept_now"),
        *BACK_PRESSURE,
    ),
    totals={"rows_subscriptions": "Subscription rows", "unacknowledged": "Messages not acknowledged"},
)
_CLIENTS = View(
    "changes",
    "clients",
    (
        Line("setctx", "SETCTX", "in_setctx", colour="state-blue"),
        Line("subscribes", "SUBSCRIBE", "in_subscribe", colour="state-violet", dash="dashed"),
        Line("unsubscribes", "UNSUBSCRIBE", "in_unsubscribe", colour="ink-soft", dash="dotted"),
    ),
)
_BROKERS = View(
    "changes_between",
    "brokers",
    (
        Line("ctx", "CTX", "out_ctx", colour="state-blue"),
        Line("sub", "SUB", "out_sub", colour="state-violet", dash="dashed"),
        Line("unsub", "UNSUB", "out_unsub", colour="ink-soft", dash="dotted"),
    ),
)
_MESSAGES = View(
    "waiting",
    "messages",
    (
        Line("unacknowledged", "not acknowledged", "unacknowledged", "total", colour="state-amber"),
        Line("queued", "waiting for a full queue", "queued", "total", colour="state-red", dash="dashed"),
    ),
)
_SESSIONS = View(
    "held",
    "sessions",
    (
        Line("full_queues", "queues that are full", "full_queues", "total", colour="state-red"),
        Line("paused", "senders that wait", "paused", "total", colour="state-amber", dash="dashed"),
    ),
)
_TABLES = View(
    "tables",
    "",
    (
        Line("rows_subscriptions", "subscription rows", "rows_subscriptions", "total", colour="state-violet"),
        Line("rows_forwarded", "forwarded", "rows_forwarded", "total", colour="state-blue", dash="dashed"),
        Line("rows_contexts", "contexts", "rows_contexts", "total", colour="state-green", dash="dotted"),
    ),
)
SERIES = (
    LiveChart(
        "Publications and notifications per second",
        "per_s",
        (
            View(
                "publications",
                "",
                (
                    Line("publishes", "PUBLISH", "in_publish", colour="state-blue"),
                    Line("pubs", "PUB", "out_pub", colour="state-violet", dash="dashed"),
                    Line("notifies", "NOTIFY", "out_notify", colour="state-green", dash="dotted"),
                ),
            ),
        ),
        "Publications of clients, their copies between {servers} and notifications of clients per second",
        size="wide",
    ),
    LiveChart(
        "Messages of changes per second",
        "per_s",
        (_CLIENTS, _BROKERS),
        "Contexts, subscriptions and unsubscriptions of clients and between {servers} per second",
        views_label="Messages",
    ),
    LiveChart(
        "Back-pressure of all {servers}",
        "",
        (_MESSAGES, _SESSIONS),
        "Messages that are not acknowledged or wait, full queues and waiting senders over time",
        views_label="Back-pressure",
    ),
    LiveChart("Tables of all {servers}", "", (_TABLES,), "Subscriptions, forwarded ones and contexts over time"),
    *MEMORY_AND_CPU,
)


SERIES_OF_NETWORKS = (
    gauge_chart("rows_subscriptions", "Subscription rows", "state-violet"),
    gauge_chart("unacknowledged", "Messages not acknowledged", "state-amber"),
    gauge_chart("full_queues", "Full queues", "state-red"),
)
KEY_FIGURES = (
    KeyFigure("latency_mean"),
    KeyFigure("latency_p95"),
    KeyFigure("messages_per_change"),
    KeyFigure("change_effective_mean"),
    KeyFigure("deliveries"),
    KeyFigure("due", is_main=False),
    KeyFigure("lost", is_main=False),
    KeyFigure("spurious", is_main=False),
    KeyFigure("duplicates", is_main=False),
    KeyFigure("context_changes", is_main=False),
    KeyFigure("rows", is_main=False),
    KeyFigure("rows_forwarded", is_main=False),
)


def _of_clients(one: str, many: str) -> Wording:
    return Wording(one, many, family="neighbour")


WORDINGS: Mapping[str, Wording] = {
    "ClientAttached": _of_clients("a client attached to {who}", "clients attached to {who}"),
    "ClientLost": _of_clients("{who} lost a client: {reason}", "{who} lost clients: {reason}"),
    "ClientRemoved": _of_clients("{who} removed a client: {reason}", "{who} removed clients: {reason}"),
    "ClientMoved": _of_clients("a client moved away from {who}", "clients moved away from {who}"),
    "MoveFailed": _of_clients("the move of a client to {who} failed", "moves of clients to {who} failed"),
    "ValidityEnded": _of_clients("the validity of a row at {who} ended", "the validity of rows at {who} ended"),
    "NeighbourConnected": Wording("{who} connected to a neighbour", "{who} connected to neighbours", "", "neighbour"),
    "NeighbourLost": Wording("{who} lost a neighbour: {reason}", "{who} lost neighbours: {reason}", "", "neighbour"),
    "NeighbourRefused": Wording("{who} refused a neighbour", "{who} refused neighbours", "", "neighbour"),
}
"""Counterparts: ``overlay.systems.silbops.broker.events``."""
