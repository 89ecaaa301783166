"""The measures of seed 000, in addition to ``telemetry.measures.COMMON``."""

from __future__ import annotations

from telemetry.measures import Measure, cost, share
from telemetry.statistics.intervals import COUNT, SHARE, SIGNED

MEASURES = (
    cost("hops", "Hops per answer", "Links from the broker asked to the one with the data, mean over answers.", "Hops"),
    cost(
        "messages_per_query",
        "Messages per query",
        "Requests and lookaheads between brokers / requests of consumers.",
        "Messages per query",
    ),
    cost(
        "datagrams_per_query",
        "Datagrams per query",
        "All datagrams between brokers / requests of consumers.",
        "Datagrams per query",
    ),
    cost(
        "messages_per_update",
        "Messages per update",
        "Messages between brokers to store an update or to refresh its replicas / updates.",
    ),
    share(
        "success",
        "Share of existing data found",
        ("truth", "existed"),
        ("truth", "success"),
        definition="Answered requests / requests for data that existed from the sending to the answer.",
        short="Share found",
    ),
    share(
        "fresh_share",
        "Share of fresh answers",
        ("answered",),
        ("truth", "fresh_share"),
        definition="Answers with the newest value acknowledged before the request was sent / all answers.",
        short="Share fresh",
    ),
    Measure(
        "false_not_found",
        "False not-founds per 1,000 requests",
        "",
        ("truth", "false_not_found_per_1000"),
        "lower",
        scale=SHARE,
        of_path=("requests",),
        most=1000.0,
        definition="Requests per thousand that were told that there is no data while there was.",
    ),
    Measure(
        "age_ms",
        "Age of an answer, median",
        "ms",
        ("age_ms", "p50"),
        "lower",
        definition="Median time from a value's timestamp to its arrival at the consumer.",
        short="Age, median",
    ),
    Measure(
        "mean_from_sent",
        "Mean response time from the actual sending",
        "us",
        ("mean_from_sent_us",),
        "lower",
        definition="Mean of the response times of answered requests, from the actual sending to the answer.",
    ),
    Measure(
        "copies",
        "Copies of all entities at the end",
        "",
        ("holdings", "copies"),
        "",
        scale=COUNT,
        definition="Brokers that held each entity as the run ended, summed over entities.",
    ),
    Measure(
        "copies_exponent",
        "Slope of copies over query rate",
        "",
        ("holdings", "exponent"),
        "",
        scale=SIGNED,
        definition="Slope of copies over queries per second, fitted to the logarithms; the square root is 0.5.",
    ),
    Measure(
        "gone_known_ms",
        "Time until neighbours knew of a departure",
        "ms",
        ("departures", "known_ms"),
        "lower",
        definition="From a broker's departure to the last neighbour that noticed it, mean over departures noticed.",
    ),
    Measure(
        "busiest_over_mean",
        "Load of the busiest broker over the mean",
        "",
        ("busiest_over_mean",),
        "lower",
        definition="Processor time of the busiest broker / the mean over brokers, while measuring.",
    ),
)
