"""The names of roles, counters and measures. Pure, and almost without imports: processes of every system import it.

Counterpart: ``overlay.systems.roles`` has the names of processes, ``records.names`` those of topics.
"""

from __future__ import annotations

from hashlib import blake2b

GATEWAY, POA, MTD, DEFINER, MQTT = "gateway", "poa", "mtd", "definer", "mqtt"
"""The roles of servers."""
NODE, APPLICATION = "node", "application"
"""The roles of clients."""
NODES, APPLICATIONS = f"{NODE}s", f"{APPLICATION}s"
"""Their processes."""
DRAIN = "drain"
"""A fault of a gateway that an operator begins, too: it is to be empty."""

GAUGES = frozenset(
    (
        *("connections", "pool_used", "parked", "is_busy", "log_lag_ms"),
        *("unsettled", "stored", "stored_bytes", "nodes_with_messages", "queue", "active_gateways", "nodes"),
        *("is_draining", "nodes_ordered", "ping_window_ms", "is_acting", "nodes_grouped", "is_ready"),
        *("mqtt_connections", "held_bytes"),
    )
)
"""Counters of servers that are current values."""

READS, WRITES = "log_reads", "log_writes"
IN_MESSAGES, IN_OTHERS, OUT_MESSAGES, OUT_OTHERS = "in_messages", "in_others", "out_messages", "out_others"
UNITS = (READS, IN_MESSAGES, IN_OTHERS, WRITES, OUT_MESSAGES, OUT_OTHERS)
"""Work on the log, of servers and applications: services in which records were read or written, and records, with
messages and without."""

OF_RTT = ("mean", "sd", "p50", "p99")
MEASURES = (
    *("sent", "delivered", "late", "expired", "evicted", "refused", "lost", "stored", "duplicates"),
    *("te", "te_inbound", "te_outbound", "te_disconnecting", "te_fixed", "nodes_with_all_share"),
    *(f"rtt{whose}_{what}_us" for whose in ("", "_fixed", "_disconnecting") for what in OF_RTT),
    *("share_within_20ms", "share_within_50ms", "share_over_100ms", "share_over_2s", "rtt_drift_ms", "rtt_trend_p"),
    *("share_1s_to_2s_disconnecting", "share_over_2s_disconnecting"),
    *("stored_delay_mean_s", "stored_longest_s", "due_while_off"),
    *("handovers", "handovers_per_min", "moves_apart_s", "max_load_over_mean", "seconds_to_even", "reopened_s"),
    *("repeats", "breaks", "detect_mean_s", "lost_per_break"),
    *("goodput_per_s", "app_queue_slope", "path_extra_ms", "group_wrong"),
)
"""Those of ``System.measures``."""


def node_id(number: int) -> bytes:
    """Of a node of a workload, 16 bytes."""
    return number.to_bytes(16, "big")


def node_number(name: str) -> int:
    """Of a node's id in hexadecimal."""
    return int(name, 16)


def answer_id(id: bytes) -> bytes:
    """The id of the answer to a message of a workload: the same if it is answered again."""
    return blake2b(id, digest_size=16, person=b"answer").digest()


def application_name(number: int) -> str:
    """By which topics and records know it."""
    return f"{APPLICATION}-{number}"
