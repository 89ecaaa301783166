"""E4.1, Figs. 4 and 7 to 14: what nodes send to applications, by the numbers of nodes, gateways and applications."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT, SIGNED
from telemetry.studies.criteria import Intervals, Shown, all_of, any_of, at_least, at_most, between, in_each, within
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Study, X
from telemetry.systems.contextnet.published import INBOUND, find
from telemetry.systems.contextnet.studies.cells import DEFINITIONS, EACH, SIMULATED, WRITTEN, of_workload

CONFIGURATIONS = {
    1: (1_000, 1, 1),
    2: (1_000, 3, 1),
    3: (5_000, 1, 1),
    4: (5_000, 3, 1),
    5: (3_000, 1, 3),
    6: (3_000, 3, 3),
    7: (15_000, 1, 3),
    8: (15_000, 3, 3),
}
"""Of Fig. 4: nodes in all at the paper's scale, partitions with an application each, gateways."""
QUICK = 10
"""By how much there are fewer nodes, and by how much each message takes longer."""
FIRST = (1, 2, 3, 4, 5, 6)
TE, RTT = find(INBOUND, "te", "1"), find(INBOUND, "rtt_mean", "3")


def of(rows: Rows, number: int, *, is_loaded: bool = False, is_stalling: bool = False) -> Mapping[str, float]:
    """The measures of a configuration. Raises ``KeyError``."""
    nodes, *others = CONFIGURATIONS[number]
    for row in rows:
        found, *rest = of_workload(row, "nodes", "brokers", "gateways")
        if rest == others and found in (nodes, nodes // QUICK) and _load(row) == (is_loaded, is_stalling):
            return row.measures
    raise KeyError(number)


def _load(row: Row) -> tuple[bool, bool]:
    service, pause = of_workload(row, "app_service_ms", "app_pause_s")
    return bool(service), bool(pause)


def _each(measure: str, numbers: tuple[int, ...] = FIRST, scale: float = 1) -> Callable[[Rows], Quantities]:
    return lambda rows: {f"configuration {number}": of(rows, number)[measure] / scale for number in numbers}


def _is_delivered(figures: Intervals) -> tuple[Shown, Shown]:
    lowest = {"configuration 5": 99.9}
    return (
        all_of(at_least(one, lowest.get(name, 99.95)) for name, one in figures.items()),
        all_of(at_least(one, 99.9) for one in figures.values()),
    )


def _quick_times(rows: Rows) -> Quantities:
    means = {f"mean, {number}": of(rows, number)["rtt_mean"] / 1e3 for number in FIRST}
    return {**means, **{f"within 50 ms, {number}, %": of(rows, number)["share_within_50ms"] for number in FIRST}}


def _are_short(figures: Intervals) -> tuple[Shown, Shown]:
    def holds(name: str) -> Shown:
        if name.startswith("mean"):
            return at_most(figures[name], 1_000)
        return at_least(figures[name], 80 if name == "within 50 ms, 3, %" else 90)

    found = all_of(map(holds, figures))
    return found, found


def _overload(rows: Rows) -> Quantities:
    found = of(rows, 7, is_loaded=True)
    return {"growth of the queue, 1/s": found["app_queue_slope"], "te, %": found["te"]}


def _never_settles(figures: Intervals) -> tuple[Shown, Shown]:
    slope, te = figures.values()
    found = any_of([in_each(slope, lambda value: value > 0), at_most(te, 90)])
    return found, found


def _stalls(rows: Rows) -> Quantities:
    found = of(rows, 3, is_loaded=True, is_stalling=True)
    return {"mean / published": found["rtt_mean"] / 1e3 / RTT.number, "over 100 ms, %": found["share_over_100ms"]}


def _fit(figures: Intervals) -> tuple[Shown, Shown]:
    mean, share = figures.values()
    return all_of([within(mean, 0.25), between(share, 7.6, 11.6)]), within(mean, 0.5)


def _largest(rows: Rows) -> Quantities:
    return {"configuration 8": of(rows, 8)["te"]}


def _loses_as_much(figures: Intervals) -> tuple[Shown, Shown]:
    return between(figures["configuration 8"], 91.22, 95.22), False


def _parallel(rows: Rows) -> Quantities:
    means = {number: of(rows, number)["rtt_mean"] for number in FIRST}
    pairs = {"2 / 1": (2, 1), "4 / 3": (4, 3), "5 / 1": (5, 1), "6 / 2": (6, 2)}
    return {name: means[one] / means[other] for name, (one, other) in pairs.items()}


def _helps(figures: Intervals) -> tuple[Shown, Shown]:
    found = all_of([at_most(figures["2 / 1"], 1), at_most(figures["4 / 3"], 1 - 1e-6)])
    return found, found


def _gateways_do_not(figures: Intervals) -> tuple[Shown, Shown]:
    found = all_of(within(figures[name], 0.3) for name in ("5 / 1", "6 / 2"))
    return found, found


def _drift(rows: Rows) -> Quantities:
    found = {number: of(rows, number) for number in FIRST}
    return {f"configuration {number}": one["rtt_drift"] / (one["rtt_mean"] / 1e3) for number, one in found.items()}


def _is_steady(figures: Intervals) -> tuple[Shown, Shown]:
    found = figures.values()
    return all_of(between(one, -0.1, 0.1) for one in found), all_of(between(one, -0.3, 0.3) for one in found)


def _trend(rows: Rows) -> Quantities:
    return {f"configuration {number}": of(rows, number)["rtt_trend_p"] for number in FIRST}


def _is_by_chance(figures: Intervals) -> tuple[Shown, Shown]:
    found = all(_is_rarely_below(one["replicates"]) for one in figures.values())
    return found, found


def _is_rarely_below(probabilities: Sequence[float]) -> bool:
    """In one of ten at most, since by chance one of a hundred is."""
    return sum(one <= 0.01 for one in probabilities) <= len(probabilities) // 10


CLAIMS = (
    Claim(
        "te",
        "Nearly all messages are answered.",
        "Transmission efficiency without service times is at least 99.95 % in configurations 1 to 4 and 6, and at "
        "least 99.9 % in 5.",
        "It is at least 99.9 % in all six.",
        _each("te"),
        _is_delivered,
        WRITTEN,
        "percent",
        COUNT,
        published={f"configuration {number}": find(INBOUND, "te", str(number)).number for number in FIRST},
        source=TE.source,
    ),
    Claim(
        "short",
        "They are answered quickly.",
        "The mean RTT is below 1 s and at least 90 % are answered within 50 ms in configurations 1 to 6, 80 % in 3.",
        "The same.",
        _quick_times,
        _are_short,
        WRITTEN,
        "ms or percent",
        COUNT,
        published={f"mean, {number}": find(INBOUND, "rtt_mean", str(number)).number for number in FIRST},
        source=RTT.source,
    ),
    Claim(
        "overload",
        "One application cannot serve 1,000 messages a second.",
        "With 1.5 ms for each message its queue grows in each run of configuration 7, or fewer than 90 % are answered.",
        "The same.",
        _overload,
        _never_settles,
        WRITTEN + EACH,
        "as said",
        SIGNED,
    ),
    Claim(
        "stalls",
        "An application that stalls explains the times of configuration 3.",
        "With 1.5 ms for each message and stalls of 0.2 s each 2.5 s, the mean is within 25 % of 49.455 ms, and 9.6 ± "
        "2 % take more than 100 ms.",
        "The mean is within 50 %.",
        _stalls,
        _fit,
        WRITTEN + "; the values are inferred, to fit this configuration alone",
        "ratio or percent",
        COUNT,
        source=RTT.source,
    ),
    Claim(
        "largest",
        "In configuration 8, 93.22 % are answered.",
        "Transmission efficiency without service times is within 93.22 ± 2 %.",
        "None: no cause is known for it.",
        _largest,
        _loses_as_much,
        WRITTEN,
        "percent",
        COUNT,
        published={"configuration 8": find(INBOUND, "te", "8").number},
        source=find(INBOUND, "te", "8").source,
    ),
    Claim(
        "parallel",
        "Parallel applications help.",
        "The mean RTT in configuration 2 is at most that in 1, and in 4 below that in 3, without service times.",
        "The same.",
        _parallel,
        _helps,
        WRITTEN,
        source=RTT.source,
    ),
    Claim(
        "gateways",
        "More gateways alone do not.",
        "The mean RTT in configurations 5 and 6 is within 30 % of those in 1 and 2.",
        "The same.",
        _parallel,
        _gateways_do_not,
        WRITTEN,
        source=RTT.source,
    ),
    Claim(
        "steady",
        "Response times do not drift.",
        "Over all messages of a node, the fitted line of RTT rises or falls by at most 10 % of the mean, in "
        "configurations 1 to 6.",
        "By at most 30 %.",
        _drift,
        _is_steady,
        WRITTEN,
        scale=SIGNED,
    ),
    Claim(
        "no-trend",
        "They have no trend.",
        "The Mann-Kendall test of mean RTT by order has p above 0.01 in configurations 1 to 6, in nine of ten runs, "
        "and in each of fewer.",
        "The same.",
        _trend,
        _is_by_chance,
        WRITTEN + EACH,
        "probability",
        COUNT,
    ),
)


def _means(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    found: dict[tuple[str, X], Quantity] = {}
    for number in CONFIGURATIONS:
        for name, arm in {"without service times": {}, "1.5 ms a message": {"is_loaded": True}}.items():
            try:
                found[name, f"{number}"] = of(rows, number, **arm)["rtt_mean"] / 1e3
            except KeyError:
                continue
    return found


INBOUND_STUDY = Study(
    "E4.1",
    "Inbound",
    "How many messages are answered, and how soon, with more nodes, gateways and applications?",
    DEFINITIONS / "inbound.yaml",
    (Plot("4-rtt", "Mean RTT", axis("Configuration"), axis("Mean RTT", "ms", log=True), _means),),
    CLAIMS,
    names=("E4.1-inbound", "E4.1-time"),
    says="All but the largest configuration answer nearly all messages, most of them within 50 ms.",
    sources=(TE.source, RTT.source),
    limits=(
        SIMULATED,
        "Where applications take no time, they are no bottleneck: configurations 3 and 4 then differ little.",
        "At quick scale there are a tenth of the nodes, and messages take ten times as long.",
    ),
)
