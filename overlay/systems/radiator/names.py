"""Names of calls and propagations within a run, in facts of the server and of clients; names of measures and
counters."""

from __future__ import annotations


def call_name(instance: int, req: int) -> str:
    """Identifies a call within a run: the entity of its sample."""
    return f"{instance:016x}-{req}"


def propagation_name(epoch: int, propagation: int) -> str:
    """Identifies a propagation within a run: the publication of its deliveries as clients report them."""
    return f"{epoch:016x}-{propagation}"


UNITS = ("evaluations", "messages joined", "members of chains")
"""Work of the server that is not per message: calls of the aggregability function, originals of the aggregates that it
makes, and entries of chains."""
MEASURES = (
    *("messages", "accepted", "refused", "pairs_due", "pairs_delivered", "pairs_retained", "pairs_dropped"),
    *("pairs_failed", "pairs_in_flight", "duplicates", "duplicates_suppressed"),
    *("lag_mean_us", "lag_p50_us", "lag_p95_us", "lag_p99_us"),
    *("lag_acceptance_us", "lag_retention_us", "lag_transport_us"),
    *("outbound_bytes", "outbound_bytes_uncompressed", "bytes_per_pair", "outbound_cv", "pushes", "chains", "repairs"),
    *("aggregation_factor", "client_to_client_bytes", "propagations", "evaluations", "function_errors"),
    *("pending_max", "pending_mean"),
)

GAUGES = frozenset(
    ("clients", "reachable", "retained", "pairs_retained", "pending_max", "pairs_in_flight", "uplink_queued_bytes")
)
"""Counters of the server that are current values."""
