"""The names of nodes in messages, ``b2``, ``bdrs``, ``p3``, ``c0``, which are the ids of their channels; of kinds of
routing, counters, measures and units of work. Pure, and with few imports, since processes of every system import it.

Counterpart: ``overlay.systems.roles`` has the names of processes.
"""

from __future__ import annotations

from enum import StrEnum

from overlay.peers.names import IN_OTHER, OUT

BROKER, BDRS = "broker", "bdrs"
"""The roles of servers: brokers, and the broker discovery and registration service."""
PROVIDER, CONSUMER = "provider", "consumer"
"""The roles of clients."""
SERVICE = "bdrs"
"""The registration service, of which a network has one."""


def broker_name(index: int) -> str:
    return f"b{index}"


def provider_name(number: int) -> str:
    return f"p{number}"


def consumer_name(number: int) -> str:
    return f"c{number}"


def scope_name(number: int) -> str:
    """Of a workload."""
    return f"s{number}"


def query_name(peer: str, req: int) -> str:
    """Of a QUERY, by the peer that sent it and its number."""
    return f"q|{peer}|{req}"


class Routing(StrEnum):
    NOTIFICATIONS = "notifications"
    """Every notification goes everywhere; no subscription travels, and providers are not asked."""
    FLOODING = "flooding"
    """Every subscription goes everywhere."""
    ADVERTISEMENTS = "advertisements"
    """Subscriptions go towards providers of their scopes."""


GAUGES = frozenset(
    (
        *("subscriptions", "registrations", "clients", "neighbours", "queued", "cached", "stored_now"),
        "bulk_waiting",
        *("brokers", "invalid_brokers", "sessions", "epoch", "edges"),
    )
)
"""Counters of servers that are current values."""
MEASURES = (
    *("subscriptions", "satisfied", "unsatisfied", "ts_mean_us", "ts_sd_us"),
    *("ts_p1_us", "ts_p5_us", "ts_p10_us", "ts_p20_us", "ts_p25_us", "ts_p30_us", "ts_p40_us", "ts_p50_us"),
    *("ts_p60_us", "ts_p70_us", "ts_p75_us", "ts_p80_us", "ts_p90_us", "ts_p95_us", "ts_p99_us"),
    *("queries", "queries_answered", "query_mean_us", "query_p50_us", "query_p95_us"),
    *("notifications", "owed", "lost", "in_window", "duplicates", "duplicates_cached", "spurious"),
    *("messages_per_notification", "bytes_per_notification"),
    *("messages_per_subscription", "removals_per_subscription", "bytes_per_subscription"),
    *(
        "cache_received",
        "cache_hit_share",
        "cache_hit_share_max",
        "cache_age_mean_s",
        "visits_per_query",
        "utilisation_max",
        "false_positives",
        "bulk_delay_mean_s",
        "bulk_batch_mean",
        "energy_per_query_j",
        "radio_per_query_j",
        "cpu_per_query_j",
    ),
    *("disappearance_known_mean_s", "disappearance_known_max_s", "disappearance_told_mean_s"),
    *("disappearance_unknown", "grace_min_s", "grace_max_s", "settle_s"),
)
"""Those of ``System.measures``: of the contract, and further ones."""
COSTLY = ("subscribe", "publish", "subtable", "regtable", "forward", "query", "answer")
"""Kinds of messages whose receipt costs differ."""
WRITTEN = ("notify", "offer", "subtable", "regtable", "forward", "answer")
"""Kinds of messages that brokers send with subscriptions, notifications or advertisements in them."""
XML_IN, XML_OUT = "in_contextml", "out_contextml"
UNITS = (*(f"in_{kind}" for kind in COSTLY), IN_OTHER, OUT, XML_IN, XML_OUT)
"""Work of servers that is not per datagram: messages received, by kind, and sent; those with ContextML in addition."""
