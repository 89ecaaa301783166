"""E1.5, ours: what the paper does not separate. Cache, distribution, processors, a slow phone, routing, cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT
from telemetry.studies.judging import Result
from telemetry.studies.study import Plot, Quantity, Rows, Study, X
from telemetry.systems.federation.published import slips_at
from telemetry.systems.federation.studies.ablation_claims import (
    ARMS,
    CLAIMS,
    FACTORS_AT,
    LOSSES,
    ROUTINGS,
    arm,
    by_factor,
    of_cycles,
    of_routing,
    sizes,
)
from telemetry.systems.federation.studies.cells import DEFINITIONS, MEAN, RATE_AXIS, SIMULATED, TIME_AXIS, ms, rates
from telemetry.systems.federation.studies.telling import change, series

ONE, THREE = "one, no cache", "three in a chain, no cache"
ONE_CACHED, THREE_CACHED = "one, cache 15 %", "three in a chain, cache 15 %"


def _by_rate(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {
        (name, rate): ms(arm(rows, name, rate), MEAN) for name in ARMS for rate in rates(rows) if _has(rows, name, rate)
    }


def _has(rows: Rows, name: str, rate: float) -> bool:
    try:
        arm(rows, name, rate)
    except KeyError:
        return False
    return True


def _by_factor(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {
        (f"{rate:g} queries/s", factor): ms(row, MEAN)
        for rate in FACTORS_AT
        for factor, row in by_factor(rows, rate).items()
    }


def _routed(rows: Rows, measure: str) -> Mapping[tuple[str, X], Quantity]:
    return {
        (name, float(brokers)): row.measures[measure]
        for brokers in sizes(rows)
        for name in ROUTINGS
        if (row := of_routing(rows, name, brokers)) is not None and measure in row.measures
    }


def _losses(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {
        (measure, place): row.measures[measure]
        for place, row in of_cycles(rows).items()
        for measure in (*LOSSES, "in_window")
    }


def tell(result: Result) -> Sequence[str]:
    found: dict[str, Any] = {name: series(result, "ablation", name) for name in ARMS}
    base = found.get(ONE) or {}
    said = []
    for rate in (10.0, 60.0):
        known = {name: times[rate] for name, times in found.items() if rate in times and rate in base}
        words = {ONE_CACHED: "the cache alone", THREE: "three brokers alone", THREE_CACHED: "both"}
        parts = [f"{words[name]} {change(known[name], base[rate])}" for name in words if name in known]
        if parts:
            said.append(
                f"At {rate:g} queries per second, mean T_S against one broker without a cache: {', '.join(parts)}."
            )
    return said


ABLATION_STUDY = Study(
    "E1.5",
    "What the paper confounds",
    "What do the cache, the number of brokers, their processors, a slow phone and the routing each contribute?",
    DEFINITIONS / "ablation.yaml",
    (
        Plot("ablation", "Mean T_S by rate, 7 ms a visit", RATE_AXIS, TIME_AXIS, _by_rate),
        Plot(
            "mobile-factor",
            "Mean T_S of three brokers by how much slower the phone is",
            axis("Mobile factor"),
            TIME_AXIS,
            _by_factor,
        ),
        *(
            Plot(
                f"routing-{measure}",
                title,
                axis("Brokers", log=True),
                axis("Messages", "", log=True),
                partial(_routed, measure=measure),
                COUNT,
            )
            for measure, title in (
                ("messages_per_subscription", "Messages per subscription by routing"),
                ("messages_per_notification", "Messages per notification by routing"),
            )
        ),
        Plot(
            "cycles",
            "Lost, twice, unwanted and missed around a fault, on graphs with cycles",
            axis("Topology, cycles, fault"),
            axis("Notifications", "", zero=True),
            _losses,
            COUNT,
        ),
    ),
    CLAIMS,
    names=("E1.5-ablation", "E1.5-mobile-factor", "E1.5-routing", "E1.5-cycles"),
    says="The paper gives the cache to three brokers only, and compares one machine with three.",
    sources=(),
    limits=(
        SIMULATED,
        "Hypotheses are ours; each is shown or refuted by a one-sided sign test over seeds at 5 %.",
        "T_S is of satisfied queries. With a phone five times as slow or slower, those that wait longest expire, so "
        "that T_S says too little.",
        *slips_at("344", "356", "358"),
    ),
    tell=tell,
)
