"""E0.5, E0.7 and E0.9: replicas, brokers that go, and clients' brokers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT, SHARE, SIGNED
from telemetry.studies.criteria import Intervals, Shown, all_of, any_of, are_at_least, are_within, between, negated
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Source, Study, X, mean, pooled, where
from telemetry.systems.context_broker.studies.arms import by_arm, means, ratio_of, ratios_to
from telemetry.systems.context_broker.studies.figures import DEFINITIONS, RESPONSE_TIME
from telemetry.systems.context_broker.studies.table import RESPONSE, TODAY

MESSAGES = "messages_per_query"
FRESH = axis("Share of fresh answers", "share", zero=True)

# ---- E0.5


def _replication(row: Row) -> str:
    name = str(row.settings["replication"])
    if name == "random":
        name = f"random, {row.settings['replication_index']}"
        if row.settings["replication_threshold_ms"] > row.workload["valid_ms"]:
            return "random, 1, above validity"
    return f"{name}, refreshed" if row.settings["replica_refresh"] else name


def _of_replication(rows: Rows, measure: str) -> Mapping[tuple[str, X], Quantity]:
    return means(rows, _replication, measure, "all strategies")


def _fresh(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {
        ("all strategies", arm): pooled(own, "fresh_share", "answered")
        for arm, own in by_arm(rows, _replication).items()
    }


def _saved(rows: Rows) -> Quantities:
    return ratios_to(rows, _replication, "none", ["random, 1", "random, 3", "path"], MESSAGES)


def _slopes(rows: Rows) -> Quantities:
    arms = by_arm(rows, _replication)
    return {f"slope, {arm}": mean(arms[arm], "copies_exponent") for arm in ("path", "random, 1", "random, 3")}


def _reach(figures: Intervals) -> tuple[Shown, Shown]:
    near = [between(one, 0.4, 0.6) for one in figures.values()]
    return all_of(near), any_of(near)


def _above_threshold(rows: Rows) -> Quantities:
    return {"none / random above validity": ratio_of(rows, _replication, "none", "random, 1, above validity", MESSAGES)}


def _freshness(rows: Rows) -> Quantities:
    arms = by_arm(rows, _replication)
    return {arm: pooled(arms[arm], "fresh_share", "answered") for arm in ("path", "path, refreshed")}


def _refreshing(figures: Intervals) -> tuple[Shown, Shown]:
    stale, fresh = figures.values()
    is_fresh = between(fresh, 0.99, 1.0)
    return all_of((is_fresh, negated(between(stale, 0.99, 1.0)))), between(fresh, 0.95, 1.0)


REPLICATION = Study(
    "E0.5",
    "Replication",
    "How many messages do replicas save, how stale are they, and does their number follow the square-root rule?",
    DEFINITIONS / "replication.yaml",
    (
        Plot(
            "messages",
            "Messages per query by replication",
            axis("Replication"),
            axis("Messages per query", "", zero=True),
            partial(_of_replication, measure=MESSAGES),
            COUNT,
        ),
        Plot(
            "response",
            "Response time by replication",
            axis("Replication"),
            RESPONSE_TIME,
            partial(_of_replication, measure=RESPONSE),
        ),
        Plot("fresh", "Share of fresh answers by replication", axis("Replication"), FRESH, _fresh, SHARE),
        Plot(
            "copies",
            "Copies of all entities at the end by replication",
            axis("Replication"),
            axis("Copies", "", zero=True),
            partial(_of_replication, measure="copies"),
            COUNT,
        ),
        Plot(
            "slope",
            "Slope of copies over query rate by replication",
            axis("Replication"),
            axis("Slope of copies", ""),
            partial(_of_replication, measure="copies_exponent"),
            SIGNED,
        ),
    ),
    (
        Claim(
            "replicas-save",
            "Replicas shorten searches, and more replicas shorten them more.",
            "Messages per query without replicas / with them is at least 1.2 for one replica, three, and all of "
            "the path.",
            "It is at least 1.02.",
            _saved,
            are_at_least(1.2, 1.02),
            TODAY,
        ),
        Claim(
            "square-root",
            "Path and random replication reach the square root.",
            "The slope of copies over query rate, fitted to logarithms at the end of a run, is from 0.4 to 0.6 for "
            "path, and for random with one replica and with three.",
            "That of one of them is.",
            _slopes,
            _reach,
            f"{TODAY}; docs/results/replication.md was known",
            "slope",
            SIGNED,
        ),
        Claim(
            "threshold-prevents",
            "Data whose validity period is below the threshold are not replicated.",
            "Messages per query without replicas / with the threshold above the validity is from 0.98 to 1.02.",
            "It is from 0.95 to 1.05.",
            _above_threshold,
            are_within(0.02, 0.05),
            TODAY,
        ),
        Claim(
            "replicas-are-stale",
            "Not claimed: replicas break the thesis' own requirement of validity unless they are refreshed.",
            "Of answers under path replication less than 99 % are fresh, and with refreshed replicas at least 99 %.",
            "With refreshed replicas at least 95 % are.",
            _freshness,
            _refreshing,
            TODAY,
            "share",
            SHARE,
        ),
    ),
    "Random replication was chosen because it reaches the square root and costs less than path replication.",
    (
        Source(
            "Sections 2.4.3 and 3.4.5",
            "333 and 469",
            "the random replication mechanism performs better than path replication",
        ),
    ),
    limits=("Copies are counted once, at the end of a run; their number varies with the validity of values.",),
)

# ---- E0.7


def _membership(row: Row) -> str:
    return str(row.settings["membership"])


def _departure(row: Row) -> str:
    return "graceful leave" if row.workload["churn_leave_share"] == 1 else "crash"


def _by_both(rows: Rows, measure: str, scale: float = 1.0) -> Mapping[tuple[str, X], Quantity]:
    return {
        (departure, membership): mean(where(own, membership=membership), measure) * scale
        for departure, own in by_arm(rows, _departure).items()
        for membership in by_arm(rows, _membership)
    }


def _answered(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {
        (departure, membership): pooled(where(own, membership=membership), "answer_ratio")
        for departure, own in by_arm(rows, _departure).items()
        for membership in by_arm(rows, _membership)
    }


def _greed(rows: Rows) -> Quantities:
    return {
        f"random / greedy, {departure}": ratio_of(own, _membership, "random", "greedy", RESPONSE)
        for departure, own in by_arm(rows, _departure).items()
    }


def _detection(rows: Rows) -> Quantities:
    arms = by_arm(rows, _departure)
    return {arm: mean(arms[arm], "gone_known_ms") / 1000 for arm in ("graceful leave", "crash")}


def _is_known(figures: Intervals) -> tuple[Shown, Shown]:
    graceful, crash = figures.values()
    return (
        all_of((between(graceful, 0.0, 1.0), between(crash, 2.0, 4.5))),
        all_of((between(graceful, 0.0, 2.0), between(crash, 1.0, 6.0))),
    )


MEMBERSHIP = Study(
    "E0.7",
    "Membership",
    "Does greedy joining shorten response times, and how long do neighbours take to detect a departure?",
    DEFINITIONS / "membership.yaml",
    (
        Plot(
            "known",
            "Time until all neighbours detected a departure",
            axis("Neighbours"),
            axis("Time until known", "s", zero=True),
            partial(_by_both, measure="gone_known_ms", scale=1e-3),
        ),
        Plot(
            "response",
            "Response time by choice of neighbours, thirty brokers with churn",
            axis("Neighbours"),
            RESPONSE_TIME,
            partial(_by_both, measure=RESPONSE),
        ),
        Plot(
            "answered",
            "Share of requests answered by choice of neighbours",
            axis("Neighbours"),
            axis("Share of requests answered", "share", zero=True),
            _answered,
            SHARE,
        ),
    ),
    (
        Claim(
            "greedy-is-faster",
            "Neighbours chosen by latency give faster answers than random neighbours.",
            "Mean response time random / greedy is at least 1.1, with graceful leaves and with crashes.",
            "It is at least 1.02.",
            _greed,
            are_at_least(1.1, 1.02),
            TODAY,
        ),
        Claim(
            "dead-are-known",
            "No requests are sent to brokers that are not alive.",
            "All neighbours know of a departure within 1 s of a graceful leave, and 2 to 4.5 s after a "
            "crash (three pings missed, one a second), in the mean.",
            "Within 2 s of a graceful leave, and 1 to 6 s after a crash.",
            _detection,
            _is_known,
            TODAY,
            "s",
        ),
    ),
    "A broker is always aware of its neighbourhood, so that no requests are sent to brokers that are not alive.",
    (Source("Sections 3.4.4 and 5.1", "461 and 828", "no requests are sent to Brokers which are not alive"),),
    limits=("A departure counts if a neighbour detected it before the broker returned, on average after 15 s.",),
)

# ---- E0.9


def _assignment(row: Row) -> str:
    return str(row.workload["assignment"])


def _assigned(rows: Rows, measure: str) -> Mapping[tuple[str, X], Quantity]:
    return means(rows, _assignment, measure, "all assignments")


def _evened(rows: Rows) -> Quantities:
    return {
        "busiest over mean, random / least-loaded": ratio_of(
            rows, _assignment, "random", "least-loaded", "busiest_over_mean"
        )
    }


def _slowness(rows: Rows) -> Quantities:
    return ratios_to(rows, _assignment, "random", ["least-loaded", "nearest"], "p95")


ASSIGNMENT = Study(
    "E0.9",
    "Assignment",
    "Does assigning clients to brokers by load or by distance shorten response times?",
    DEFINITIONS / "assignment.yaml",
    (
        Plot(
            "response",
            "Response time by assignment",
            axis("Assignment"),
            RESPONSE_TIME,
            partial(_assigned, measure=RESPONSE),
        ),
        Plot(
            "p95",
            "Response time by assignment, 95th percentile",
            axis("Assignment"),
            axis("Response time, p95", "µs", log=True),
            partial(_assigned, measure="p95"),
        ),
        Plot(
            "load",
            "Load of the busiest broker over the mean, by assignment",
            axis("Assignment"),
            axis("Busiest over mean", ""),
            partial(_assigned, measure="busiest_over_mean"),
        ),
    ),
    (
        Claim(
            "load-is-evened",
            "Assigning clients by load evens out the load of brokers.",
            "The load of the busiest broker over the mean, random / least-loaded, is at least 1.2.",
            "It is at least 1.02.",
            _evened,
            are_at_least(1.2, 1.02),
            TODAY,
        ),
        Claim(
            "answers-are-faster",
            "Assigning clients by load or by distance makes slow answers faster.",
            "The 95th percentile of response time, random / least-loaded and random / nearest, is at least 1.1.",
            "It is at least 1.02.",
            _slowness,
            are_at_least(1.1, 1.02),
            TODAY,
        ),
    ),
    "Automatic assignment by load is left to future work.",
    (Source("Section 5.2", "840", "considering, for instance, the current load in the Brokers"),),
)
