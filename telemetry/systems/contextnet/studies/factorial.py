"""E4.5: five factors with two values each, in all combinations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from math import log10, prod

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT
from telemetry.studies.criteria import Intervals, Shown, at_least
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Study, X
from telemetry.systems.contextnet.studies.cells import DEFINITIONS, SIMULATED

WRITTEN = "2026-11-29, from the contract; no run of this study was known"
FACTORS = ("nodes", "gateways", "brokers", "applications", "app_service_ms")
RUNS = 2 ** len(FACTORS)
LIGHT = 0.9
"""Load of an application up to which it keeps up."""


def load(row: Row) -> float:
    """Of an application: the share of its time that messages take."""
    of = row.workload
    sharing = min(of["applications"] or of["brokers"], of["brokers"])
    return float(of["nodes"] * of["rate_per_min"] / 60 * of["app_service_ms"] / 1_000 / sharing)


def _te(rows: Rows) -> Quantities:
    light = [row.measures["te"] for row in rows if load(row) < LIGHT]
    if not light:
        raise KeyError("te")
    return {"lowest": min(light)}


def _is_complete(figures: Intervals) -> tuple[Shown, Shown]:
    (found,) = figures.values()
    return at_least(found, 99.9), at_least(found, 99)


def _log_rtt(row: Row) -> float:
    return log10(row.measures["rtt_mean"])


def _te_of(row: Row) -> float:
    return row.measures["te"]


def explained(rows: Rows, of: Callable[[Row], float] = _log_rtt) -> dict[str, float]:
    """η² of each effect and of each interaction of two, in percent of the variance of a response. In a design of 2^5
    runs the effects of all orders are orthogonal, and their squares add up to the whole (Box, Hunter and Hunter,
    *Statistics for Experimenters*, chapter 5). Empty where all runs have the same. Raises ``KeyError`` where a run is
    missing."""
    high = {name: max(row.workload[name] for row in rows) for name in FACTORS} if rows else {}
    signs = [{name: 1 if row.workload[name] == high[name] else -1 for name in FACTORS} for row in rows]
    if len({tuple(one.values()) for one in signs}) != RUNS or len(rows) != RUNS:
        raise KeyError(f"{len(rows)} runs")
    values = list(map(of, rows))
    middle = sum(values) / RUNS
    whole = sum((value - middle) ** 2 for value in values)
    found: dict[str, float] = {}
    if not whole:
        return found
    for factors in (*((name,) for name in FACTORS), *combinations(FACTORS, 2)):
        contrast = sum(value * prod(one[name] for name in factors) for value, one in zip(values, signs, strict=True))
        found[" × ".join(factors)] = 100 * contrast**2 / RUNS / whole
    return found


def _shares(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    responses = {"mean RTT (logarithm)": _log_rtt, "transmission efficiency": _te_of}
    return {(name, effect): share for name, of in responses.items() for effect, share in explained(rows, of).items()}


def _loads(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    found: dict[float, list[float]] = {}
    for row in rows:
        found.setdefault(round(load(row), 3), []).append(row.measures["te"])
    return {("mean of runs", at): sum(several) / len(several) for at, several in sorted(found.items())}


FACTORIAL_STUDY = Study(
    "E4.5",
    "Factors",
    "What do nodes, gateways, partitions, applications and their service time each contribute?",
    DEFINITIONS / "factorial.yaml",
    (
        Plot(
            "explained",
            "Variance of responses that each effect explains",
            axis("Effect"),
            axis("η²", "%", zero=True),
            _shares,
            COUNT,
        ),
        Plot(
            "te",
            "Transmission efficiency by the load of an application",
            axis("Load of an application"),
            axis("Delivered / due", "%"),
            _loads,
            COUNT,
        ),
    ),
    (
        Claim(
            "light",
            "Where applications keep up, nearly all messages are answered.",
            f"Transmission efficiency is above 99.9 % in each run with a load of an application below {LIGHT}.",
            "Above 99 %.",
            _te,
            _is_complete,
            WRITTEN,
            "percent",
            COUNT,
        ),
    ),
    names=("E4.5-factorial",),
    limits=(
        SIMULATED,
        "Partitions are the contract's brokers: only as many applications as there are partitions have work.",
    ),
)
