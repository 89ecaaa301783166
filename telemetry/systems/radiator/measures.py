"""The measures of seed 003, in addition to ``telemetry.measures.COMMON``. Formulas: ``overlay.systems.radiator``."""

from __future__ import annotations

from telemetry.measures import Better, Measure
from telemetry.statistics.intervals import COUNT, LOG

PART = "radiator"
"""Of a run's summary: the figures by name."""


def _count(name: str, title: str, definition: str, better: Better = "") -> Measure:
    return Measure(name, title, "", (PART, name), better, is_count=True, scale=COUNT, definition=definition)


def _lag(name: str, title: str, definition: str) -> Measure:
    return Measure(f"lag_{name}", title, "us", (PART, f"lag_{name}_us"), "lower", scale=LOG, definition=definition)


def _bytes(name: str, title: str, definition: str) -> Measure:
    return Measure(name, title, "bytes", (PART, name), "lower", is_count=True, scale=COUNT, definition=definition)


def _number(name: str, title: str, unit: str, better: Better, definition: str) -> Measure:
    return Measure(name, title, unit, (PART, name), better, scale=COUNT, definition=definition)


_OF = "of the lag of delivered pairs: from the intended call to the recipient's first callback with the message"

MEASURES = (
    _count("messages", "Messages", "Calls due while measuring."),
    _count("accepted", "Messages accepted", "Of those, the ones that the server accepted.", "higher"),
    _count("refused", "Messages refused", "Messages − accepted ones.", "lower"),
    _count("pairs_due", "Pairs due", "Reachable recipients of accepted messages, the sender with echo."),
    _count("pairs_delivered", "Pairs delivered", "Pairs of a message and a recipient that received it.", "higher"),
    _count("pairs_retained", "Pairs retained", "Pairs that are still pending at the end."),
    _count(
        "pairs_dropped",
        "Pairs dropped",
        "Pairs of clients that left or were unreachable, or of a server that ended.",
    ),
    _count("pairs_failed", "Pairs failed", "All other pairs: repair gave up, or they were in flight.", "lower"),
    _count("pairs_in_flight", "Pairs in flight", "Failed pairs that were in flight at the end."),
    _count("duplicates", "Duplicates", "Callbacks with a message beyond the first at a recipient.", "lower"),
    _count("duplicates_suppressed", "Duplicates suppressed", "Repeated pushes that clients did not deliver again."),
    _lag("mean", "Mean lag", f"Mean {_OF}."),
    _lag("p50", "Median lag", f"Median {_OF}."),
    _lag("p95", "Lag, 95th percentile", f"95th percentile {_OF}."),
    _lag("p99", "Lag, 99th percentile", f"99th percentile {_OF}."),
    _lag("acceptance", "Lag of acceptance", "Mean time from the intended call to its acceptance, over pairs."),
    _lag("retention", "Lag of retention", "Mean time from acceptance to the emission of the aggregate, over pairs."),
    _lag("transport", "Lag of transport", "Mean time from emission to the callback, with the wait for the uplink."),
    _bytes("outbound_bytes", "Outbound bytes", "All that the server sent from the start of measuring on."),
    _bytes("outbound_bytes_uncompressed", "Outbound bytes without compression", "The same with uncompressed blobs."),
    _number("bytes_per_pair", "Outbound bytes per pair", "B", "lower", "Outbound bytes / delivered pairs."),
    _number(
        "outbound_cv",
        "Variation of outbound traffic",
        "",
        "",
        "Standard deviation / mean of outbound bytes per second of measuring.",
    ),
    _count("pushes", "Pushes", "First pushes by the server: direct ones and chains.", "lower"),
    _count("chains", "Chains", "Of those, the ones with a chain."),
    _count("repairs", "Repairs", "Further injections into chains.", "lower"),
    _number(
        "aggregation_factor",
        "Aggregation factor",
        "",
        "higher",
        "Delivered pairs / first deliveries of a propagation at a recipient.",
    ),
    _bytes(
        "client_to_client_bytes",
        "Bytes between clients",
        "All that clients sent to clients: pushes and their acknowledgements.",
    ),
    _count("propagations", "Propagations", "Aggregates that left, whatever the number of their recipients."),
    _count("evaluations", "Evaluations", "Calls of the aggregability function.", "lower"),
    _count("function_errors", "Failed evaluations", "Of those, the ones that failed.", "lower"),
    _count("pending_max", "Most pending messages", "Largest number of messages pending for a recipient."),
    _number("pending_mean", "Mean pending messages", "", "", "Mean number of messages pending for a recipient."),
)
