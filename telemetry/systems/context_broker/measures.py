"""What a run of seed 000 is measured by, beside ``telemetry.measures.COMMON``."""

from __future__ import annotations

from telemetry.measures import Measure, cost, share
from telemetry.statistics.intervals import COUNT, SHARE, SIGNED

MEASURES = (
    cost("hops", "Hops per answer"),
    cost("messages_per_query", "Messages per query"),
    cost("datagrams_per_query", "Datagrams per query"),
    cost("messages_per_update", "Messages per update"),
    share("success", "Share found of what existed", ("truth", "existed"), ("truth", "success")),
    share("fresh_share", "Share of answers that were fresh", ("answered",), ("truth", "fresh_share")),
    Measure(
        "false_not_found",
        "Falsely not found per 1,000",
        "",
        ("truth", "false_not_found_per_1000"),
        "lower",
        scale=SHARE,
        of_path=("requests",),
        most=1000.0,
    ),
    Measure("age_ms", "Age of an answer, median", "ms", ("age_ms", "p50"), "lower"),
    Measure("mean_from_sent", "Mean response time from the actual sending", "us", ("mean_from_sent_us",), "lower"),
    Measure("copies", "Copies of all entities at the end", "", ("holdings", "copies"), "", scale=COUNT),
    Measure("copies_exponent", "Slope of copies over query rate", "", ("holdings", "exponent"), "", scale=SIGNED),
    Measure("gone_known_ms", "Time until neighbours knew of a departure", "ms", ("departures", "known_ms"), "lower"),
    Measure("busiest_over_mean", "Load of the busiest broker over the mean", "", ("busiest_over_mean",), "lower"),
)
