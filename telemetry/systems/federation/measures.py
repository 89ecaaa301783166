"""The measures of seed 001, in addition to ``telemetry.measures.COMMON``: what each means, and in which unit.

Counterpart: ``overlay.systems.federation.measuring`` computes them, by the records of clients and an oracle.
"""

from __future__ import annotations

from overlay.systems.federation.energy.models import LABELS
from overlay.systems.federation.measuring.figures import QUANTILES
from telemetry.measures import Better, Measure, Words
from telemetry.statistics.intervals import COUNT, LOG, SHARE

PART = "federation"
"""Of a run's summary: the figures by declared name."""


def _count(name: str, title: str, definition: str, better: Better = "") -> Measure:
    return Measure(name, title, "", (PART, name), better, is_count=True, scale=COUNT, definition=definition)


def _time(name: str, title: str, of: str) -> Measure:
    definition = f"{of} of T_S over satisfied subscriptions: receipt of the first notification − intended sending."
    path = (PART, f"ts_{name}_us")
    return Measure(f"ts_{name}", title, "us", path, "lower", scale=LOG, is_response=True, definition=definition)


def _query_time(name: str, title: str, of: str) -> Measure:
    definition = f"{of} of the time of answered QUERYs: receipt of the answer − intended sending."
    path = (PART, f"query_{name}_us")
    return Measure(f"query_{name}", title, "us", path, "lower", scale=LOG, is_response=True, definition=definition)


def _number(name: str, title: str, definition: str, better: Better = "lower") -> Measure:
    return Measure(name, title, "", (PART, name), better, scale=COUNT, definition=definition)


def _bytes(name: str, title: str, definition: str) -> Measure:
    path = (PART, name)
    return Measure(name, title, "B", path, "lower", scale=COUNT, definition=definition)


def _seconds(name: str, title: str, definition: str, better: Better = "lower") -> Measure:
    return Measure(name, title, "s", (PART, f"{name}_s"), better, scale=COUNT, definition=definition)


_ENERGY_MODELS = "By energy_model: " + "; ".join(f"{name}, {label}" for name, label in LABELS.items()) + "."


def _joules(name: str, title: str, of: str) -> Measure:
    definition = f"{title} of the mobile device / subscriptions and QUERYs: {of}. {_ENERGY_MODELS}"
    path = (PART, f"{name}_per_query_j")
    return Measure(f"{name}_per_query", f"{title} per query", "J", path, "lower", scale=LOG, definition=definition)


_SHOWN_QUANTILES = (50, 95)
_QUANTILES = [
    _time(f"p{one}", "Median T_S" if one == 50 else f"T_S, {one}{'st' if one == 1 else 'th'} percentile", f"{one} %")
    for one in sorted(QUANTILES, key=lambda one: (one not in _SHOWN_QUANTILES, one))
]

_SATISFIED = "Subscriptions with a first notification before they expired, and QUERYs with an answer"
COMMON_WORDS = {
    "answer_ratio": Words(
        "Share of subscriptions satisfied",
        "Share satisfied",
        f"{_SATISFIED} / all intended while measuring.",
    ),
    "per_s": Words("Subscriptions satisfied per second", "Satisfied per s", f"{_SATISFIED} / seconds of measuring."),
}
MEASURES = (
    _count("subscriptions", "Subscriptions", "Subscriptions intended while measuring."),
    _count("satisfied", "Satisfied", "Of those, the ones with a first notification before they expired.", "higher"),
    _count("unsatisfied", "Unsatisfied", "Subscriptions − satisfied ones.", "lower"),
    _time("mean", "Mean T_S", "Mean"),
    _time("sd", "Standard deviation of T_S", "Standard deviation (with n − 1)"),
    *_QUANTILES,
    _count("queries", "QUERYs", "QUERYs of clients to their brokers, intended while measuring."),
    _count("queries_answered", "QUERYs answered", "Of those, the ones with an answer without an error.", "higher"),
    _query_time("mean", "Mean time of a QUERY", "Mean"),
    _query_time("p50", "Median time of a QUERY", "50 %"),
    _query_time("p95", "Time of a QUERY, 95th percentile", "95 %"),
    _count("notifications", "Notifications", "Notifications that a broker accepted while measuring."),
    _count(
        "owed",
        "Notifications owed",
        "Pairs of a notification and a subscription that came, or must have come; of a query, one.",
    ),
    _count("lost", "Lost", "Pairs that must have come and never did, without an excuse.", "lower"),
    _count(
        "in_window",
        "Missed around a fault",
        "Pairs that did not come because of a crash, a cut link, a repair of the tree, or because they expired.",
        "lower",
    ),
    _count(
        "duplicates", "Duplicates", "NOTIFY messages of a notification and a subscription after the first.", "lower"
    ),
    _count(
        "duplicates_cached",
        "Duplicates from caches",
        "Of the duplicates, those from a cache: a consumer that has lost its broker tells another one its "
        "subscriptions again, and that one does not know what the first has sent. Clients pass none of them on.",
        "lower",
    ),
    _count(
        "spurious",
        "Spurious",
        "Notifications that no subscription of the consumer wants, or that come after its end.",
        "lower",
    ),
    _number(
        "messages_per_notification",
        "Messages per notification",
        "FORWARD messages between brokers / notifications.",
    ),
    _bytes("bytes_per_notification", "Bytes per notification", "Bytes of FORWARD messages / notifications."),
    _number(
        "messages_per_subscription",
        "Messages per subscription",
        "Subscriptions added by the SUBTABLE messages between brokers, each over each link / subscriptions.",
    ),
    _number(
        "removals_per_subscription",
        "Removals per subscription",
        "Subscriptions removed by the SUBTABLE messages between brokers / subscriptions.",
    ),
    _bytes("bytes_per_subscription", "Bytes per subscription", "Bytes of SUBTABLE messages / subscriptions."),
    _count(
        "cache_received",
        "Subscriptions at caches",
        "Subscriptions that brokers with a cache received from clients.",
    ),
    Measure(
        "cache_hit_share",
        "Cache hits",
        "share",
        (PART, "cache_hit_share"),
        "higher",
        scale=SHARE,
        of_path=(PART, "cache_received"),
        definition="Subscriptions answered from a cache / subscriptions received from clients, of all brokers.",
    ),
    Measure(
        "cache_hit_share_max",
        "Largest share of cache hits",
        "share",
        (PART, "cache_hit_share_max"),
        "",
        scale=COUNT,
        definition="Largest (hits − 1) / subscriptions received, of each broker at each second; at most cache_cap.",
    ),
    _seconds(
        "cache_age_mean",
        "Age of cache hits",
        "Mean age of the notifications with which caches answered, from their timestamp on: how stale answers are.",
    ),
    _number(
        "visits_per_query",
        "Visits per query",
        "Messages that cost a modelled processor time, at all brokers / subscriptions and QUERYs.",
    ),
    Measure(
        "utilisation_max",
        "Busiest processor",
        "share",
        (PART, "utilisation_max"),
        "lower",
        scale=COUNT,
        definition="Modelled service time of the busiest broker / time from the first subscription to the last "
        "notification.",
    ),
    _count(
        "false_positives",
        "False positives",
        "With imperfect merging: notifications from a neighbour that satisfy no subscription there (any more).",
        "lower",
    ),
    _seconds(
        "disappearance_known_mean",
        "Disappearance known, mean",
        "Mean time from a disappearance until a broker is told of it, over disappearances and brokers.",
    ),
    _seconds("disappearance_known_max", "Disappearance known, longest", "The longest of these times."),
    _seconds(
        "disappearance_told_mean",
        "Disappearance told, mean",
        "Mean of the same times from the removal by the registration component.",
    ),
    _count(
        "disappearance_unknown", "Disappearances unknown", "Pairs in which the broker was never told of it.", "lower"
    ),
    _seconds(
        "grace_min",
        "Shortest grace",
        "Shortest time from the last sign of life of what vanished to its removal by its registration component.",
        "",
    ),
    _seconds("grace_max", "Longest grace", "The longest of these times.", ""),
    _seconds(
        "settle",
        "Time to settle",
        "Time from the last fault until every broker's tables are right and stay so; of simulated runs only.",
    ),
    _seconds(
        "bulk_delay_mean",
        "Delay by bulk mode",
        "Mean time that subscriptions waited in bulk queues of mobile brokers.",
    ),
    _number(
        "bulk_batch_mean",
        "Subscriptions per bulk batch",
        "Subscriptions that bulk queues sent / times that they sent.",
        "higher",
    ),
    _joules("energy", "Modelled energy", "radio by its traffic, processor by its work"),
    _joules("radio", "Modelled energy of the radio", "radio by its traffic"),
    _joules("cpu", "Modelled energy of the processor", "processor by its work"),
)
