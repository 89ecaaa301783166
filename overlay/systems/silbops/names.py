"""The names of arms, roles, brokers,
counters and units of work. Pure, and almost without imports, since processes of every system import it.

Counterpart: ``overlay.systems.roles`` has the names of processes.
"""

from __future__ import annotations

from overlay.peers.names import IN_OTHER, OUT

SILBOPS, SIENA = "silbops", "siena"
"""The arms: context apart from subscriptions, and written into them."""
BROKER = "broker"
"""The role of servers."""
PUBLISHER, SUBSCRIBER = "publisher", "subscriber"
"""The roles of clients."""


def broker_name(index: int) -> str:
    """Also the id of its channel, in UTF-8."""
    return f"b{index}"


GAUGES = frozenset(
    (
        *("rows_subscriptions", "rows_forwarded", "rows_advertisements", "rows_contexts", "rows_publishers"),
        *("clients", "neighbours", "kept_now", "moved_now", "moving_now"),
        *("full_queues", "paused", "queued", "unacknowledged"),
    )
)
"""Counters of brokers that are current values."""
COSTLY = (
    *("setctx", "subscribe", "unsubscribe", "advertise", "publish"),
    *("ctx", "sub", "unsub", "pub"),
)
"""Kinds of messages whose receipt costs differ."""
CANDIDATES, SCOPE_TESTS, FORWARDED = "candidates", "scope_tests", "out_sub"
UNITS = (*(f"in_{kind}" for kind in COSTLY), IN_OTHER, OUT, FORWARDED, CANDIDATES, SCOPE_TESTS)
"""Work of brokers that is not per datagram: messages received, by kind, and sent; subscriptions sent on, for which
others are looked at that cover them; subscriptions found by content, and functions of context tested."""
MEASURES = (
    *("publications", "refused", "due", "deliveries", "lost", "lost_fault", "lost_kept", "duplicates", "spurious"),
    *("late", "latency_mean_us", "latency_p95_us", "kept_latency_mean_us"),
    *("context_changes", "change_accepted_mean_us", "change_effective_mean_us", "changes_settled_us"),
    *("messages_per_change", "repeats", "scope_errors", "rows", "rows_forwarded", "candidates_per_publication"),
    *("messages_per_publication", "messages_per_s"),
    *("notification_core_us", "change_core_us"),
)
"""Those of ``System.measures``."""
