"""E0.1 to E0.3: Table B.1 as a whole, the central broker alone, and three versions with four brokers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from telemetry.charts.charts import axis
from telemetry.studies.criteria import are_at_least, are_within
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Rows, Source, Study, X, mean, where
from telemetry.systems.context_broker.studies import claims
from telemetry.systems.context_broker.studies.figures import (
    DEFINITIONS,
    HARDWARE,
    INTERPRETER,
    MEMORY_OF_BROKER,
    RESPONSE_TIME,
)
from telemetry.systems.context_broker.studies.table import (
    CENTRAL,
    DISTRIBUTED,
    FEW,
    FOUR,
    KB,
    MEMORY,
    MOST,
    RESPONSE,
    TABLE,
    TEN,
    TODAY,
    USUAL_S,
    central,
    published,
    short,
)

VERSIONS = ("V4", "V2, ours", "V3")
FOUR_CONSUMERS = (50, 150, 300)


def _by_interval(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    """The mean over everything else, at each interval between requests that was run."""
    usual = where(short(rows), brokers=TEN)
    seconds = sorted({row.workload["request_interval_s"] for row in usual})
    return {
        (topology, one): mean(where(usual, topology=topology, request_interval_s=one), RESPONSE)
        for topology in DISTRIBUTED
        for one in seconds
    }


def _corners(rows: Rows, measure: str, scale: float) -> Mapping[tuple[str, X], Quantity]:
    """Every topology with as many providers as consumers, few and most, at the usual intervals."""
    usual = where(short(rows), update_interval_s=USUAL_S, request_interval_s=USUAL_S)
    return {
        (topology, f"{n:,} and {n:,}"): mean(where(usual, topology=topology, providers=n, consumers=n), measure) * scale
        for topology in (CENTRAL, *DISTRIBUTED)
        for n in (FEW, MOST)
    }


def _central(rows: Rows, over: str, measure: str, scale: float) -> Mapping[tuple[str, X], Quantity]:
    known = where(short(rows), topology=CENTRAL, **{"providers": FEW} if over == "consumers" else {"consumers": MOST})
    xs = sorted({row.workload[over] for row in known})
    return {(CENTRAL, float(x)): mean(where(known, **{over: x}), measure) * scale for x in xs}


def _central_memory(rows: Rows) -> Quantities:
    return {
        "1,000 and 1,000 / 50 and 50, whole": central(rows, MEMORY, MOST, MOST) / central(rows, MEMORY, FEW, FEW),
    }


def _version(rows: Rows, version: str, consumers: int) -> float:
    """Raises ``KeyError``."""
    at = where(short(rows), providers=1, consumers=consumers)
    if version == "V3":
        return mean(where(at, topology=CENTRAL), RESPONSE)
    is_ours = version != "V4"
    four = where(at, topology="ring", brokers=FOUR)
    return mean([row for row in four if (row.settings.get("arm") == "structured") == is_ours], RESPONSE)


def _versions(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    found: dict[tuple[str, X], Quantity] = {}
    for version in VERSIONS:
        for n in FOUR_CONSUMERS:
            try:
                found[version, float(n)] = _version(rows, version, n)
            except KeyError:  # V4 alone was published
                continue
    return found


def _structured_ratios(rows: Rows) -> Quantities:
    return {f"V2 / V4, {n} consumers": _version(rows, "V2, ours", n) / _version(rows, "V4", n) for n in FOUR_CONSUMERS}


def _central_ratios(rows: Rows) -> Quantities:
    return {f"V3 / V4, {n} consumers": _version(rows, "V3", n) / _version(rows, "V4", n) for n in FOUR_CONSUMERS}


def _central_plot(over: str, measure: str, label: str, y: Mapping[str, object], scale: float) -> Plot:
    fixed = "50 providers" if over == "consumers" else "1,000 consumers"
    return Plot(
        f"{'response' if measure == RESPONSE else 'memory'}-by-{over}",
        f"{label} of one central broker against {over}, {fixed}",
        axis(over.capitalize(), zero=True),
        y,
        partial(_central, over=over, measure=measure, scale=scale),
        source=TABLE,
    )


MATRIX = (
    Study(
        "E0.1",
        "Table B.1",
        "Which statements of the thesis about its 251 configurations hold for this implementation?",
        DEFINITIONS / "table.yaml",
        (
            Plot(
                "corners",
                "Response time with few and with many clients, 30 s between requests and updates",
                axis("Providers and consumers"),
                RESPONSE_TIME,
                partial(_corners, measure=RESPONSE, scale=1.0),
                source=TABLE,
            ),
            Plot(
                "memory-corners",
                "Memory of a broker with few and with many clients, 30 s between requests and updates",
                axis("Providers and consumers"),
                MEMORY_OF_BROKER,
                partial(_corners, measure=MEMORY, scale=1 / KB),
                source=TABLE,
            ),
            Plot(
                "response-by-interval",
                "Response time against the interval between requests, ten brokers",
                axis("Interval between requests", "s"),
                RESPONSE_TIME,
                _by_interval,
                source=TABLE,
            ),
        ),
        (
            claims.CENTRAL_GROWS,
            claims.DISTRIBUTED_STAYS,
            claims.DISTANCE_GROWS,
            claims.TOPOLOGIES_ALIKE,
            claims.MEMORY_GROWS,
            claims.FOUR_STAY,
            claims.IDLE_IS_SLOW,
            claims.OTHER_MEMORY,
            claims.CUT,
        ),
        "Ten brokers answer faster than one and need less memory in all but one kind of configuration; topologies do "
        "not differ.",
        (
            TABLE,
            Source("Section 5", "830", "No relevant difference between the behavior of the 3 considered topologies"),
        ),
        published,
        (HARDWARE, INTERPRETER),
    ),
    Study(
        "E0.2",
        "One central broker (V3)",
        "How do response time and memory of one central broker grow with its clients?",
        DEFINITIONS / "central.yaml",
        (
            _central_plot("consumers", RESPONSE, "Response time", RESPONSE_TIME, 1.0),
            _central_plot("providers", RESPONSE, "Response time", RESPONSE_TIME, 1.0),
            _central_plot("consumers", MEMORY, "Memory", MEMORY_OF_BROKER, 1 / KB),
            _central_plot("providers", MEMORY, "Memory", MEMORY_OF_BROKER, 1 / KB),
        ),
        (
            claims.CENTRAL_GROWS,
            claims.CONSUMERS_CENTRAL,
            Claim(
                "central-memory-grows",
                "The central broker's memory grows with its clients.",
                "Memory of the whole process at 1,000 providers and 1,000 consumers is at least 2 x that at 50 and 50.",
                "It is at least 1.2 x.",
                _central_memory,
                are_at_least(2.0, 1.2),
                "2026-11-25, after runs of these configurations had been looked at for other claims",
                source=TABLE,
            ),
        ),
        "Response time grows from 1.4 to 7.0 ms and memory from 2.0 to 5.7 MB.",
        (Source("Table B.1, configurations 247 to 251", "1285 to 1292"),),
        published,
        (HARDWARE, INTERPRETER),
    ),
    Study(
        "E0.3",
        "Three versions with four brokers",
        "With the same brokers and clients, is an unstructured network (V4) faster than a structured "
        "one (V2) and than one "
        "central broker (V3)?",
        DEFINITIONS / "versions.yaml",
        (
            Plot(
                "response",
                "Response time of three versions against consumers, one provider, 10 s between requests",
                axis("Consumers", zero=True),
                RESPONSE_TIME,
                _versions,
                source=TABLE,
            ),
        ),
        (
            claims.FOUR_STAY,
            Claim(
                "structured-is-slower",
                "The structured network (V2) answers much slower than the unstructured one (V4).",
                "Mean response time V2 / V4 is at least 1.5 at 50, 150 and 300 consumers, both in one language.",
                "It is at least 1.05.",
                _structured_ratios,
                are_at_least(1.5, 1.05),
                TODAY,
            ),
            Claim(
                "central-is-alike",
                "Not claimed: with one provider one central broker (V3) answers as fast as four.",
                "Mean response time V3 / V4 is from 0.85 to 1.15 at 50, 150 and 300 consumers.",
                "It is from 0.7 to 1.3.",
                _central_ratios,
                are_within(0.15, 0.3),
                TODAY,
            ),
        ),
        "V4 (unstructured, C++) is much faster than V2 (structured, Java). Structure and language are not told "
        "apart there.",
        (
            Source("Figure 4.7 and section 4.3.3", "806 to 808", "The second regards the programming language used"),
            TABLE,
        ),
        published,
        (
            HARDWARE,
            "V2 here is the broker's own distributed hash table in the same language. The published values of V1 "
            "and V2 "
            "are in the drawing alone and were not recovered.",
        ),
    ),
)
