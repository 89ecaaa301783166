"""The measures of seed 002, in addition to ``telemetry.measures.COMMON``: what each means, and in which unit.

Counterpart: ``overlay.systems.silbops.measuring`` computes them, by the records of clients and brokers and an oracle.
"""

from __future__ import annotations

from telemetry.measures import Better, Measure
from telemetry.statistics.intervals import COUNT, LOG

PART = "silbops"
"""Of a run's summary: the figures by declared name."""


def _count(name: str, title: str, definition: str, better: Better = "") -> Measure:
    return Measure(name, title, "", (PART, name), better, is_count=True, scale=COUNT, definition=definition)


def _number(name: str, title: str, definition: str) -> Measure:
    return Measure(name, title, "", (PART, name), "lower", scale=COUNT, definition=definition)


def _time(name: str, title: str, definition: str) -> Measure:
    return Measure(name, title, "us", (PART, f"{name}_us"), "lower", scale=LOG, definition=definition)


MEASURES = (
    _count("publications", "Publications", "Calls of publish while measuring, refused ones included."),
    _count("refused", "Refused", "Calls and publications that the library or a broker refused.", "lower"),
    _count(
        "due",
        "Due",
        "Pairs of a publication and a client: it matches in every state of the client in the window of the "
        "publication, from the newest state that all brokers had processed to the last one before its last copy was.",
    ),
    _count("deliveries", "Deliveries", "Pairs of a publication and a client that reached the application."),
    _count("lost", "Lost", "Due pairs that were not delivered by the end, without those that follow.", "lower"),
    _count("lost_fault", "Lost in faults", "Those while a link or broker was down.", "lower"),
    _count("lost_kept", "Lost while away", "Those beyond keep_messages or keep_s of a client that was away.", "lower"),
    _count("duplicates", "Duplicates", "Deliveries of what the application already had.", "lower"),
    _count("repeats", "Repeats", "Copies that a broker or the library dropped.", "lower"),
    _count("spurious", "Spurious", "Deliveries that match in no state of the window.", "lower"),
    _count(
        "late",
        "Late",
        "Deliveries after one of a later publication of the same publisher, which only a handover's old way brings.",
        "lower",
    ),
    _time("latency_mean", "Mean latency", "Mean from the intended publication to the application, of deliveries."),
    _time("latency_p95", "Latency, 95th percentile", "95 % of the same."),
    _time("kept_latency_mean", "Mean latency of kept ones", "The same of those for clients that were away meanwhile."),
    _count("context_changes", "Context changes", "Calls of setContext by subscribers with a new value."),
    _time("change_accepted_mean", "Mean time to the own broker", "From such a call until its broker accepted it."),
    _time(
        "change_effective_mean",
        "Mean time to effect",
        "From such a call until the last broker has processed the last message that it caused. Simulated runs only.",
    ),
    _time(
        "changes_settled",
        "Time until settled",
        "From the first change until the last message about subscriptions and contexts was processed. Simulated runs "
        "only.",
    ),
    _number(
        "messages_per_change",
        "Messages per change",
        "Messages about subscriptions and contexts, of clients and brokers / context changes, without "
        "acknowledgements. Empty where clients move or subscribe while measuring, or the validity of rows ends.",
    ),
    _count("scope_errors", "Errors of functions", "Evaluations that met unlike types or no finite result.", "lower"),
    _count("rows", "Subscription rows", "Rows of all brokers at the end of measuring.", "lower"),
    _count("rows_forwarded", "Forwarded rows", "Subscriptions forwarded over all links, at the end.", "lower"),
    _number(
        "candidates_per_publication",
        "Candidates per publication",
        "Subscriptions of all brokers that a publication's content matches / publications.",
    ),
    _number(
        "messages_per_publication",
        "Messages per publication",
        "PUBLISH and PUB, of publishers and brokers / publications.",
    ),
    _number(
        "messages_per_s",
        "Messages per second",
        "Messages about subscriptions, contexts and publications, of clients and brokers, per second of measuring: "
        "SETCTX, SUBSCRIBE, UNSUBSCRIBE, PUBLISH, CTX, SUB, UNSUB, FORGET, PUB and PCTX.",
    ),
    _time("notification_core", "Broker time per notification", "Time of brokers per PUBLISH or PUB."),
    _time("change_core", "Broker time per change", "The same per context change, at the client's broker."),
)
