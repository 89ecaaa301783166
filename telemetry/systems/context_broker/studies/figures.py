"""Figures 4.3 to 4.7 of the thesis."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from telemetry.charts.charts import axis
from telemetry.studies.study import Plot, Quantity, Rows, Source, Study, X, mean, where
from telemetry.systems.context_broker.studies import claims
from telemetry.systems.context_broker.studies.table import (
    CENTRAL,
    DISTRIBUTED,
    FEW,
    FOUR,
    KB,
    MEMORY,
    MOST,
    RESPONSE,
    SOME,
    TABLE,
    of_topology,
    published,
    short,
)

DEFINITIONS = Path(__file__).parent / "definitions"
RESPONSE_TIME = axis("Mean response time", "µs", log=True)
MEMORY_OF_BROKER = axis("Memory of a broker", "kB", zero=True)
HARDWARE = "Simulated with the service times of one calibrated machine: ratios and directions compare with the thesis' "
HARDWARE += "twenty machines, microseconds do not."
INTERPRETER = (
    "The published brokers were C++ programs of about 2 MB. Ours share an interpreter; their memory is PSS, as "
)
INTERPRETER += "modelled from what was measured of forked brokers."


def _lines(rows: Rows, over: str, measure: str, scale: float) -> Mapping[tuple[str, X], Quantity]:
    """A line for each topology; ``over`` is what x counts, the other number of clients is the figure's own."""
    found: dict[tuple[str, X], Quantity] = {}
    for topology in (CENTRAL, *DISTRIBUTED):
        for x in (FEW, SOME, MOST):
            clients = (FEW, x) if over == "consumers" else (x, MOST)
            found[topology, float(x)] = of_topology(rows, topology, measure, *clients) * scale
    return found


def response_plot(over: str, title: str) -> Plot:
    values = partial(_lines, over=over, measure=RESPONSE, scale=1.0)
    return Plot(f"response-by-{over}", title, axis(over.capitalize(), zero=True), RESPONSE_TIME, values, source=TABLE)


def memory_plot(over: str, title: str) -> Plot:
    values = partial(_lines, over=over, measure=MEMORY, scale=1 / KB)
    return Plot(f"memory-by-{over}", title, axis(over.capitalize(), zero=True), MEMORY_OF_BROKER, values, source=TABLE)


def _over_idle(rows: Rows, over: str) -> Mapping[tuple[str, X], Quantity]:
    return _lines(rows, over, "over_idle", 1 / KB)


def over_idle_plot(over: str) -> Plot:
    return Plot(
        f"over-idle-by-{over}",
        f"Memory of a broker over an idle one against {over}",
        axis(over.capitalize(), zero=True),
        axis("Memory over an idle broker", "kB", zero=True),
        partial(_over_idle, over=over),
    )


def _four(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    ring = where(short(rows), topology="ring", brokers=FOUR)
    return {("V4", float(n)): mean(where(ring, consumers=n), RESPONSE) for n in (50, 150, 300)}


FIGURES = (
    Study(
        "4.3",
        "Response time against consumers",
        "How does mean response time change with the number of consumers, for one central broker and ten brokers?",
        DEFINITIONS / "by_consumers.yaml",
        (response_plot("consumers", "Response time against consumers, 50 providers, 30 s between requests"),),
        (claims.FASTER_BY_CONSUMERS, claims.CONSUMERS_CENTRAL),
        "The central broker's response time grows with consumers; that of ten brokers is lower throughout and "
        "nearly flat.",
        (
            Source(
                "Figure 4.3 and section 4.3.1",
                "766 to 774",
                "the average response time grows as the number of CCs is increased",
            ),
            TABLE,
        ),
        published,
        (HARDWARE,),
    ),
    Study(
        "4.4",
        "Response time against providers",
        "How does mean response time change with the number of providers, for one central broker and ten brokers?",
        DEFINITIONS / "by_providers.yaml",
        (response_plot("providers", "Response time against providers, 1,000 consumers, 30 s between requests"),),
        (claims.CENTRAL_GROWS, claims.DISTRIBUTED_STAYS, claims.DISTANCE_GROWS),
        "The central broker is much more affected by providers than ten brokers on any of the three topologies.",
        (
            Source(
                "Figure 4.4 and section 4.3.1",
                "777 to 781",
                "the centralized Broker is much more affected by greater amounts of CPs",
            ),
            TABLE,
        ),
        published,
        (HARDWARE,),
    ),
    Study(
        "4.5",
        "Memory against consumers",
        "How does the memory of a broker change with the number of consumers, for one central broker and ten brokers?",
        DEFINITIONS / "by_consumers.yaml",
        (
            memory_plot("consumers", "Memory of a broker against consumers, 50 providers, 30 s between requests"),
            over_idle_plot("consumers"),
        ),
        (claims.MEMORY_BY_CONSUMERS,),
        "With 50 consumers the central broker needs less memory than one of ten, with more of them a little more.",
        (
            Source(
                "Figure 4.5 and section 4.3.2",
                "785 to 792",
                "the distributed version performed better than the centralized",
            ),
            TABLE,
        ),
        published,
        (INTERPRETER,),
    ),
    Study(
        "4.6",
        "Memory against providers",
        "How does the memory of a broker change with the number of providers, for one central broker and ten brokers?",
        DEFINITIONS / "by_providers.yaml",
        (
            memory_plot("providers", "Memory of a broker against providers, 1,000 consumers, 30 s between requests"),
            over_idle_plot("providers"),
        ),
        (claims.MEMORY_BY_PROVIDERS,),
        "The central broker's memory rises quickly with providers; that of ten brokers is equal on three topologies.",
        (
            Source(
                "Figure 4.6 and section 4.3.2",
                "796 to 802",
                "V3 can consume 122% more memory than V4 when 1000 CPs are used",
            ),
            TABLE,
        ),
        published,
        (INTERPRETER,),
    ),
    Study(
        "4.7",
        "Four brokers",
        "How does mean response time of four brokers in a ring change with the number of consumers?",
        DEFINITIONS / "four_brokers.yaml",
        (
            Plot(
                "response",
                "Response time against consumers, ring of four brokers, one provider, 10 s between requests",
                axis("Consumers", zero=True),
                RESPONSE_TIME,
                _four,
                source=TABLE,
            ),
        ),
        (claims.FOUR_STAY,),
        "V4 answers much faster than V2 (structured, Java), and 300 consumers as fast as 50.",
        (
            Source(
                "Figure 4.7 and section 4.3.3",
                "806 to 808",
                "The sharp difference between the average response times of V2 and V4",
            ),
            TABLE,
        ),
        published,
        (HARDWARE, "The values of V1 and V2 are in the drawing alone and were not recovered; E0.3 runs our own V2."),
    ),
)
