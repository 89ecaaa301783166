"""E1.1, Fig. 11: mean and standard deviation of T_S against the rate of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from telemetry.charts.charts import axis
from telemetry.studies.judging import Result
from telemetry.studies.study import Plot, Quantity, Rows, Study, X
from telemetry.systems.federation.published import find, slips_at
from telemetry.systems.federation.studies.cells import (
    DEFINITIONS,
    DEVIATION,
    MEAN,
    ONE,
    RATE_AXIS,
    SIMULATED,
    THREE,
    TIME_AXIS,
    at_rate,
    ms,
    of_arm,
    rates,
)
from telemetry.systems.federation.studies.loaded_claims import CLAIMS, MODELLED, NONE, Service
from telemetry.systems.federation.studies.telling import change, series

MEAN_SOURCE = find("e1_1", "mean T_S against the query rate").source
SPREAD_SOURCE = find("e1_1", "standard deviation of T_S at higher rates").source


def _by_rate(rows: Rows, service: Service, measure: str) -> Mapping[tuple[str, X], Quantity]:
    found: dict[tuple[str, X], Quantity] = {}
    for arm in (ONE, THREE):
        own = of_arm(service.of(rows), arm)
        found |= {(arm, rate): ms(at_rate(own, rate), measure) for rate in rates(own)}
    return found


def _busiest(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    found: dict[tuple[str, X], Quantity] = {}
    for arm in (ONE, THREE):
        own = of_arm(MODELLED.of(rows), arm)
        found |= {(arm, rate): at_rate(own, rate).measures["utilisation_max"] for rate in rates(own)}
    return found


def plot(id: str, title: str, service: Service, measure: str) -> Plot:
    """T_S against the rate, of both arms."""
    source = MEAN_SOURCE if measure == MEAN else SPREAD_SOURCE
    values = partial(_by_rate, service=service, measure=measure)
    return Plot(id, f"{title} ({service.name})", RATE_AXIS, TIME_AXIS, values, source=source)


def tell(result: Result) -> Sequence[str]:
    return told(result, {"11a": MODELLED, "11a-none": NONE})


def told(result: Result, services: Mapping[str, Service]) -> Sequence[str]:
    """From which rate three brokers are faster, and by how much at the ends; ``services`` by plot."""
    said = []
    for id, service in services.items():
        one, three = (series(result, id, arm) for arm in (ONE, THREE))
        both = [rate for rate in one if rate in three]
        if len(both) < 2:
            continue
        faster = next((rate for place, rate in enumerate(both) if all(three[r] < one[r] for r in both[place:])), None)
        since = "at no measured rate" if faster is None else f"from {faster:g} queries per second on"
        ends = " and ".join(f"{change(three[rate], one[rate])} at {rate:g}" for rate in (both[0], both[-1]))
        said.append(f"With {service.name}, three brokers with a cache are faster {since}; mean T_S is {ends}.")
    return said


LOADED_STUDY = Study(
    "E1.1",
    "T_S under load",
    "How does T_S, the time to satisfy a query, grow with the rate of queries, with one broker and with three?",
    DEFINITIONS / "loaded.yaml",
    (
        plot("11a", "Mean T_S by rate", MODELLED, MEAN),
        plot("11b", "Standard deviation of T_S by rate", MODELLED, DEVIATION),
        plot("11a-none", "Mean T_S by rate", NONE, MEAN),
        plot("11b-none", "Standard deviation of T_S by rate", NONE, DEVIATION),
        Plot(
            "busiest",
            f"Busiest broker by rate ({MODELLED.name})",
            RATE_AXIS,
            axis("Share of time", "", zero=True),
            _busiest,
        ),
    ),
    CLAIMS,
    names=("E1.1-loaded", "E1.1-assumptions", "E1.1-queries"),
    says="T_S rises with the rate of queries, much less with three brokers than with one; its deviation grows "
    "markedly, more with one broker; federated brokers are better under increasing load.",
    sources=(MEAN_SOURCE, SPREAD_SOURCE),
    limits=(
        SIMULATED,
        "The verdict is of one service time, which it names; with others it may differ.",
        "The cache is only in the arm of three brokers: E1.5 separates the two.",
        *slips_at("320", "323", "365", "369", "344"),
    ),
    tell=tell,
)
