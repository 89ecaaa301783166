"""The names of nodes in messages, ``b2``, ``bdrs``, ``p3``, ``c0``, which are the ids of their channels; of kinds of
routing, counters, measures and units of work. Pure, and without imports, since processes of every system import it.

Counterpart: ``overlay.systems.roles`` has the names of processes.
"""

from __future__ import annotations

from enum import StrEnum

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


class Routing(StrEnum):
    NOTIFICATIONS = "notifications"
    """Every notification goes everywhere; no subscription travels, and providers are not asked."""
    FLOODING = "flooding"
    """Every subscription goes everywhere."""
    ADVERTISEMENTS = "advertisements"
    """Subscriptions go towards providers of their scopes."""


GAUGES = frozenset(("subscriptions", "registrations", "clients", "neighbours", "queued", "cached", "stored", "brokers"))
"""Counters of servers that are current values."""
MEASURES = (
    *("subscriptions", "satisfied", "unsatisfied", "ts_mean_us", "ts_sd_us", "ts_p50_us", "ts_p95_us"),
    *("notifications", "lost", "in_window", "duplicates", "spurious"),
    *("messages_per_notification", "messages_per_subscription", "cache_hit_share", "visits_per_query"),
    *("disappearance_known_mean_s", "disappearance_known_max_s", "settle_s", "energy_per_query_j"),
)
"""Those of ``System.measures``, as in the contract."""
COSTLY = ("subscribe", "publish", "subtable", "regtable", "forward", "query", "answer")
"""Kinds of messages whose receipt costs differ."""
IN_OTHER, OUT = "in_other", "out_messages"
UNITS = (*(f"in_{kind}" for kind in COSTLY), IN_OTHER, OUT)
"""Work of servers that is not per datagram: messages received, by kind, and sent."""
