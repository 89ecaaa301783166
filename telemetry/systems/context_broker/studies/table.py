"""Table B.1 as rows, and the quantities of the thesis' figures computed from such rows, published or simulated. Pure.

The reductions are the thesis': where its figures 4.3 to 4.6 average over update intervals at a request interval of
30 s, so is done here. The central broker (V3) was measured at 30 s between updates only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from itertools import combinations

from telemetry.studies.study import Row, Rows, Source, mean, where
from telemetry.systems.context_broker.published import Published, table_b1

WRITTEN = "2026-11-22"
"""When the criteria of Table B.1 were; no configuration had been simulated by then."""
TODAY = "2026-11-25, before any run of this study"

CENTRAL = "central"
DISTRIBUTED = ("ring", "full-mesh", "waxman")
FEW, SOME, MOST = 50, 500, 1000
FOUR, TEN = 4, 10
"""Brokers of the small ring, and of the others."""
USUAL_S = 30.0
"""The request interval of the thesis' figures."""
KB = 1000

RESPONSE, MEMORY = "mean", "pss"
"""Mean response time from the intended sending, µs; memory of a broker's process with its share of what brokers have in
common, bytes. The thesis' names are the same."""

TABLE = Source("Table B.1 (one run of each configuration)", "1030 to 1292")


@cache
def published() -> Rows:
    """Without the rows that are damaged in the source; of four brokers the table has no memory."""
    return tuple(_row(row) for row in table_b1() if row.is_whole or row.brokers == FOUR)


def _row(row: Published) -> Row:
    workload = {
        name: getattr(row, name) for name in ("providers", "consumers", "update_interval_s", "request_interval_s")
    }
    memory = None if row.memory_kb is None else row.memory_kb * KB
    known = {RESPONSE: row.response_us, MEMORY: memory}
    measures = {name: value for name, value in known.items() if value is not None}
    return Row(row.topology, row.brokers, {}, {**workload, "duration_s": 900.0}, measures)


def short(rows: Rows) -> Rows:
    """Without the runs of configurations that were measured for longer once more."""
    least = min(row.workload["duration_s"] for row in rows)
    return where(rows, duration_s=least)


def central(rows: Rows, measure: str, providers: int, consumers: int) -> float:
    """V3 at these numbers of clients. Raises ``KeyError``."""
    return mean(where(short(rows), topology=CENTRAL, providers=providers, consumers=consumers), measure)


def distributed(
    rows: Rows, measure: str, providers: int, consumers: int, topologies: Collection[str] = DISTRIBUTED
) -> float:
    """V4 at these: the mean over topologies and update intervals, at the usual request interval."""
    at = {"topology": tuple(topologies), "brokers": TEN, "request_interval_s": USUAL_S}
    return mean(where(short(rows), **at, providers=providers, consumers=consumers), measure)


def of_topology(rows: Rows, topology: str, measure: str, providers: int, consumers: int) -> float:
    if topology == CENTRAL:
        return central(rows, measure, providers, consumers)
    return distributed(rows, measure, providers, consumers, [topology])


def ratio(one: float, other: float) -> float:
    """Of nothing there is no ratio: a model without memory says nothing of it. Raises ``KeyError``."""
    if not other:
        raise KeyError("nothing")
    return one / other


def pairs(means: Mapping[str, float]) -> dict[str, float]:
    """The ratio of each two topologies."""
    return {f"{one} / {other}": ratio(means[one], means[other]) for one, other in combinations(means, 2)}
