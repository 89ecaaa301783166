"""What the page of a run of a federation shows: T_S, subscriptions and notifications, caches, and words for events."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.live import MEMORY_AND_CPU, SERIES, KeyFigure, Line, LiveChart, View, gauge_chart
from telemetry.systems.contract import Counters, Wording

COUNTERS = Counters(
    load=("in_subscribe", "in_publish", "in_forward", "in_subtable"),
    load_help="subscriptions and notifications that arrived",
    rates=("hits", "visits"),
    gauges=(
        "subscriptions",
        "registrations",
        "clients",
        "neighbours",
        "queued",
        "cached",
        "stored_now",
        "bulk_waiting",
    ),
    totals={"subscriptions": "Subscriptions in tables", "registrations": "Registrations in tables"},
)
SERIES_OF_RUNS = (
    SERIES[0],
    LiveChart(
        "Messages between {servers} per second",
        "per_s",
        (
            View(
                "between",
                "",
                (
                    Line("forwards", "FORWARD", "out_forward", colour="state-blue"),
                    Line("subtables", "SUBTABLE", "out_subtable", colour="state-violet", dash="dashed"),
                    Line("regtables", "REGTABLE", "out_regtable", colour="ink-soft", dash="dotted"),
                ),
            ),
        ),
        "Notifications, subscriptions and registrations that {servers} sent each other per second",
    ),
    LiveChart(
        "Messages of clients per second",
        "per_s",
        (
            View(
                "clients",
                "",
                (
                    Line("subscribes", "SUBSCRIBE", "in_subscribe", colour="state-violet"),
                    Line("publishes", "PUBLISH", "in_publish", colour="state-blue", dash="dashed"),
                    Line("notifies", "NOTIFY", "out_notify", colour="state-green", dash="dotted"),
                    Line("hits", "answered from a cache", "hits", colour="state-amber", dash="dashdot"),
                ),
            ),
        ),
        "Subscriptions and notifications of clients, and answers from caches, per second",
    ),
    LiveChart(
        "Tables of all {servers}",
        "",
        (
            View(
                "tables",
                "",
                (
                    Line("in_tables", "subscriptions", "subscriptions", "total", colour="state-violet"),
                    Line("registered", "registrations", "registrations", "total", colour="state-blue", dash="dashed"),
                    Line("queued", "messages queued", "queued", "total", colour="state-amber", dash="dotted"),
                ),
            ),
        ),
        "Subscriptions, registrations and queued messages over time",
    ),
    *MEMORY_AND_CPU,
)


SERIES_OF_NETWORKS = (
    gauge_chart("subscriptions", "Subscriptions in tables", "state-violet"),
    gauge_chart("stored_now", "Notifications stored for neighbours", "state-amber"),
    gauge_chart("bulk_waiting", "Subscriptions in bulk queues", "state-blue"),
    gauge_chart("cached", "Notifications in caches", "state-green"),
)
KEY_FIGURES = (
    KeyFigure("ts_mean"),
    KeyFigure("ts_sd"),
    KeyFigure("ts_p95"),
    KeyFigure("satisfied", of="subscriptions"),
    KeyFigure("messages_per_notification"),
    KeyFigure("lost", is_main=False),
    KeyFigure("in_window", is_main=False),
    KeyFigure("duplicates", is_main=False),
    KeyFigure("spurious", is_main=False),
    KeyFigure("cache_hit_share", is_main=False),
    KeyFigure("visits_per_query", is_main=False),
    KeyFigure("queries_answered", of="queries", is_main=False, is_rare=True),
    KeyFigure("query_mean", is_main=False, is_rare=True),
    KeyFigure("energy_per_query", is_main=False, is_rare=True),
)


def _of_registrations(one: str, many: str) -> Wording:
    return Wording(one, many, family="neighbour")


WORDINGS: Mapping[str, Wording] = {
    "ClientRegistered": _of_registrations("{who} registered a client", "{who} registered clients"),
    "KeepAliveMissed": _of_registrations("{who} missed a keep-alive", "{who} missed keep-alives"),
    "EntryRemoved": _of_registrations("{who} removed a client: {reason}", "{who} removed clients: {reason}"),
    "ForeignNeighbour": _of_registrations(
        "{who} connected to a broker of another domain", "{who} connected to brokers of other domains"
    ),
    "BrokerRegistered": _of_registrations("{who} registered a broker", "{who} registered brokers"),
    "BrokerRemoved": _of_registrations("{who} removed a broker: {reason}", "{who} removed brokers: {reason}"),
    "TreePublished": _of_registrations("{who} published a new tree", "{who} published new trees"),
}
"""Counterparts: the events of brokers and of the registration service."""
