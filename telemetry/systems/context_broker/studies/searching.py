"""E0.4, E0.6 and E0.8: rare data, search strategies, and many brokers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT, SHARE
from telemetry.studies.criteria import Intervals, Shown, all_of, are_apart, are_at_least, are_at_most, at_least, at_most
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Source, Study, X, mean, pooled, where
from telemetry.systems.context_broker.studies.arms import by_arm, means, ratio_of
from telemetry.systems.context_broker.studies.claims import LATER
from telemetry.systems.context_broker.studies.figures import DEFINITIONS, RESPONSE_TIME
from telemetry.systems.context_broker.studies.table import DISTRIBUTED, RESPONSE, TODAY, pairs

MESSAGES = "messages_per_query"
SHARE_FOUND = axis("Share of requests answered", "share", zero=True)
MESSAGES_AXIS = axis("Messages per query", "", zero=True)
LOST = "Existing data count as found if a request was answered; other requests got a false “not found”."
WALKS = ("uniform", "noback", "avoid", "backtrack")


# ---- E0.4


def _of_table(rows: Rows) -> list[Row]:
    """The three configurations of Table B.1 with the data on one broker."""
    return where(rows, consumers=500)


def _walks(rows: Rows) -> list[Row]:
    return [row for row in rows if row.workload["consumers"] != 500]


def _rare_pairs(rows: Rows) -> Quantities:
    return pairs({one: mean(where(_of_table(rows), topology=one), RESPONSE) for one in DISTRIBUTED})


def _network(row: Row) -> str:
    return f"{row.topology} of {row.brokers}"


def _longest(rows: Rows) -> list[Row]:
    """One holder and the longest walks: those that the quick scale has, too."""
    alone = where(_walks(rows), holders=1)
    most: dict[int, int] = {}
    for row in alone:
        most[row.brokers] = max(most.get(row.brokers, 0), row.settings["walk_ttl"] or 4 * row.brokers)
    return [row for row in alone if (row.settings["walk_ttl"] or 4 * row.brokers) == most[row.brokers]]


def _found(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {
        (network, policy): pooled(where(own, walk_policy=policy), "answer_ratio")
        for network, own in by_arm(_longest(rows), _network).items()
        for policy in WALKS
    }


def _walked(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {
        (network, policy): mean(where(own, walk_policy=policy), MESSAGES)
        for network, own in by_arm(_longest(rows), _network).items()
        for policy in WALKS
    }


def _rare_response(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {("one holder of ten", one): mean(where(_of_table(rows), topology=one), RESPONSE) for one in DISTRIBUTED}


def _found_by(rows: Rows, policy: str) -> Quantities:
    return {
        f"{policy}, {network}": pooled(where(own, walk_policy=policy), "answer_ratio")
        for network, own in by_arm(_longest(rows), _network).items()
    }


def _cheaper(rows: Rows) -> Quantities:
    arms = by_arm(where(_longest(rows), topology="waxman"), _network)
    return {
        f"uniform / backtrack, {network}": ratio_of(own, _policy, "uniform", "backtrack", MESSAGES)
        for network, own in arms.items()
    }


def _policy(row: Row) -> str:
    return str(row.settings["walk_policy"])


RARE = Study(
    "E0.4",
    "Rare data",
    "If few brokers have the requested data, do topologies differ, and what does each walk policy find at what cost?",
    DEFINITIONS / "rare.yaml",
    (
        Plot(
            "found",
            "Share of requests answered by walk policy, one holder",
            axis("Walk policy"),
            SHARE_FOUND,
            _found,
            SHARE,
        ),
        Plot(
            "messages",
            "Messages per query by walk policy, one holder",
            axis("Walk policy"),
            MESSAGES_AXIS,
            _walked,
            COUNT,
        ),
        Plot(
            "response",
            "Response time by topology, one holder of ten, no replicas",
            axis("Topology"),
            RESPONSE_TIME,
            _rare_response,
        ),
    ),
    (
        Claim(
            "rare-data-separates",
            "Not claimed: topologies differ in response time if data are rare.",
            "With the data on one broker of ten and no replicas (50 providers, 500 consumers, 30 s between updates and "
            "between requests), mean response times of each two topologies differ by more than 10 %, which is what "
            "they "
            "may differ by where five brokers have the data.",
            "Those of one pair at least do.",
            _rare_pairs,
            are_apart(0.1),
            LATER,
        ),
        Claim(
            "backtrack-finds-all",
            "A walk that backtracks at a dead end finds all existing data.",
            "At least 99.9 % of requests are answered under backtrack, in each network with one holder.",
            "At least 99 %.",
            partial(_found_by, policy="backtrack"),
            are_at_least(0.999, 0.99),
            TODAY,
            "share",
            SHARE,
        ),
        Claim(
            "uniform-misses",
            "The prototype's walk, which may step back immediately, misses existing data.",
            "At most 95 % of requests are answered under uniform, in each network with one holder.",
            "At most 99 %.",
            partial(_found_by, policy="uniform"),
            are_at_most(0.95, 0.99),
            TODAY,
            "share",
            SHARE,
        ),
        Claim(
            "backtrack-is-cheaper",
            "Backtracking costs fewer messages than a random walk.",
            "Messages per query uniform / backtrack is at least 1.5 on each Waxman network with one holder.",
            "It is at least 1.05.",
            _cheaper,
            are_at_least(1.5, 1.05),
            TODAY,
        ),
    ),
    "Left to future work: five of ten brokers had the data, so that they were nearly always found.",
    (Source("Section 5.2", "840", "when only a small amount of Brokers are storing context information"),),
    limits=(LOST,),
)

# ---- E0.6


def _strategy(row: Row) -> str:
    return "structured" if row.settings["arm"] == "structured" else str(row.settings["search"])


def _of_strategies(rows: Rows, measure: str) -> Mapping[tuple[str, X], Quantity]:
    return means(rows, _strategy, measure, "all strategies")


def _found_by_strategies(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {("all strategies", arm): pooled(own, "answer_ratio") for arm, own in by_arm(rows, _strategy).items()}


def _strategies(rows: Rows, one: str, other: str, measure: str) -> Quantities:
    return {f"{one} / {other}": ratio_of(rows, _strategy, one, other, measure)}


def _flooding(rows: Rows) -> Quantities:
    return {
        "messages, flood / walk": ratio_of(rows, _strategy, "flood", "walk", MESSAGES),
        "response time, walk / flood": ratio_of(rows, _strategy, "walk", "flood", RESPONSE),
    }


def _k_walking(rows: Rows) -> Quantities:
    return {
        "messages, k-walkers / walk": ratio_of(rows, _strategy, "k-walkers", "walk", MESSAGES),
        "response time, walk / k-walkers": ratio_of(rows, _strategy, "walk", "k-walkers", RESPONSE),
    }


STRATEGIES = Study(
    "E0.6",
    "Search strategies",
    "How many messages do search strategies need, how fast are they, and how often do they find data on 2 of 100 "
    "brokers?",
    DEFINITIONS / "searches.yaml",
    (
        Plot(
            "messages",
            "Messages per query by strategy",
            axis("Strategy"),
            MESSAGES_AXIS,
            partial(_of_strategies, measure=MESSAGES),
            COUNT,
        ),
        Plot(
            "hops",
            "Hops per answer by strategy",
            axis("Strategy"),
            axis("Hops per answer", "", zero=True),
            partial(_of_strategies, measure="hops"),
            COUNT,
        ),
        Plot(
            "found",
            "Share of requests answered by strategy",
            axis("Strategy"),
            SHARE_FOUND,
            _found_by_strategies,
            SHARE,
        ),
        Plot(
            "response",
            "Response time by strategy",
            axis("Strategy"),
            RESPONSE_TIME,
            partial(_of_strategies, measure=RESPONSE),
        ),
    ),
    (
        Claim(
            "flooding-costs",
            "Flooding answers faster than a walk and loads the network more.",
            "Messages per query flood / walk and mean response time walk / flood are both at least 2.",
            "Both are at least 1.2.",
            _flooding,
            are_at_least(2.0, 1.2),
            TODAY,
        ),
        Claim(
            "walkers-trade",
            "Several walkers answer faster than one and cost more messages.",
            "Messages per query k-walkers / walk and mean response time walk / k-walkers are both at least 1.2.",
            "Both are at least 1.02.",
            _k_walking,
            are_at_least(1.2, 1.02),
            TODAY,
        ),
        Claim(
            "lookahead-is-faster",
            "A walk with lookahead answers significantly faster than a plain walk.",
            "Mean response time walk / lookahead is at least 1.2.",
            "It is at least 1.02.",
            partial(_strategies, one="walk", other="lookahead", measure=RESPONSE),
            are_at_least(1.2, 1.02),
            TODAY,
        ),
        Claim(
            "rings-cost-less",
            "A walk costs fewer messages than expanding rings, and takes longer.",
            "Messages per query expanding-ring / walk is at least 1.2.",
            "It is at least 1.02.",
            partial(_strategies, one="expanding-ring", other="walk", measure=MESSAGES),
            are_at_least(1.2, 1.02),
            TODAY,
        ),
    ),
    "From the literature: walks cost fewer messages than rings and floods and take longer; several walkers and "
    "lookahead "
    "shorten that.",
    (Source("Section 2.4.2.2", "315 to 323", "the response time is significantly smaller in the first method"),),
    limits=("The thesis measured no search strategy; its statements are quoted from other papers.", LOST),
)

# ---- E0.8


def _by_size(rows: Rows, measure: str) -> Mapping[tuple[str, X], Quantity]:
    return {("1 % of brokers have it", float(row.brokers)): row.measures[measure] for row in rows}


def _found_by_size(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {("1 % of brokers have it", float(row.brokers)): pooled([row], "answer_ratio") for row in rows}


def _scaling(rows: Rows) -> Quantities:
    few, most = min(rows, key=_size), max(rows, key=_size)
    return {
        f"{name}, largest / smallest": most.measures[key] / few.measures[key]
        for name, key in (("messages", MESSAGES), ("response time", RESPONSE))
    }


def _size(row: Row) -> int:
    return row.brokers


def _all_found(rows: Rows) -> Quantities:
    return {f"{row.brokers:,} brokers": pooled([row], "answer_ratio") for row in rows}


def _is_found(figures: Intervals) -> tuple[Shown, Shown]:
    return all_of(at_least(one, 0.99) for one in figures.values()), all_of(
        at_least(one, 0.95) for one in figures.values()
    )


def _is_flat(figures: Intervals) -> tuple[Shown, Shown]:
    return all_of(at_most(one, 1.5) for one in figures.values()), all_of(at_most(one, 3.0) for one in figures.values())


SCALE = Study(
    "E0.8",
    "Scale",
    "Does an answer cost more in a larger network, if one broker in a hundred has the data?",
    DEFINITIONS / "scale.yaml",
    (
        Plot(
            "messages",
            "Messages per query against brokers",
            axis("Brokers", log=True),
            MESSAGES_AXIS,
            partial(_by_size, measure=MESSAGES),
            COUNT,
        ),
        Plot(
            "response",
            "Response time against brokers, links of 1 ms",
            axis("Brokers", log=True),
            RESPONSE_TIME,
            partial(_by_size, measure=RESPONSE),
        ),
        Plot(
            "found",
            "Share of requests answered against brokers",
            axis("Brokers", log=True),
            SHARE_FOUND,
            _found_by_size,
            SHARE,
        ),
    ),
    (
        Claim(
            "cost-is-flat",
            "An answer costs no more in a larger network.",
            "Messages per query and mean response time of the largest / the smallest network are at most 1.5.",
            "They are at most 3.",
            _scaling,
            _is_flat,
            TODAY,
        ),
        Claim(
            "found-at-every-size",
            "Existing data are found at every size.",
            "At least 99 % of requests are answered in each network.",
            "At least 95 %.",
            _all_found,
            _is_found,
            TODAY,
            "share",
            SHARE,
        ),
    ),
    "At least a hundred brokers are needed for the scenario of fire prevention; more than ten were not tested.",
    (Source("Sections 3.1 and 5.2", "376 and 840", "if a network with more CBs is used"),),
    limits=(
        "Brokers have no service time here; each link takes 1 ms. The usage scenario is docs/examples/fire-watch.yaml.",
    ),
)
