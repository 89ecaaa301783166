"""A short summary of a simulated run, from the facts in its journal. Pure.

Counterpart: ``telemetry.summary.summary`` is the full summary of any run. Requests are those intended during
measuring; the costs between brokers are those of the complete run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import fmean, quantiles
from typing import Any

from overlay.deployment.phases import MEASURING
from overlay.journal.counters import growth
from overlay.journal.facts import OUTCOMES, Event, Fact, Sample, Tick
from overlay.systems.contract import System

PERCENTILES = (50, 95, 99)
MEASURES = (
    *("mean_us", "p50_us", "p95_us", "p99_us", "requests", "answered", "not_found", "timed_out", "refused"),
    *("answer_ratio", "per_s", "late_p99_us", "rss_bytes", "pss_bytes", "uss_bytes", "over_idle_bytes", "table_bytes"),
    "cores_used",
)
"""The measures that every system declares. Counterpart: ``telemetry.measures.COMMON``, which defines them."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Times are in microseconds, over answered requests; ``None`` if nothing was measured."""

    requests: int
    outcomes: dict[str, int]
    answer_ratio: float | None
    """Share of requests answered, 0 to 1."""
    per_s: float | None
    """Answers per second of measuring, without the wait for the last ones."""
    mean_us: float | None
    p50_us: float | None
    p95_us: float | None
    p99_us: float | None
    costs: dict[str, float | None]
    """Costs between servers, by name: ``System.cost_words``."""
    measures: dict[str, float | None]
    """By the names that its system declares; ``None`` for measures that only a collected run has."""

    def to_json(self) -> dict[str, Any]:
        values = asdict(self)
        outcomes: dict[str, int] = values.pop("outcomes")
        spent: dict[str, float | None] = values.pop("costs")
        return {**values, **spent, **outcomes}


def summarise(facts: Iterable[Fact], system: System, own: Mapping[str, float | None] | None = None) -> Summary:
    """The summary of all facts of a run of ``system``; ``own`` are its ``measures``."""
    outcomes: Counter[str] = Counter()
    response_us: list[int] = []
    counters: dict[str, list[dict[str, int]]] = defaultdict(list)
    phases: dict[str, int] = {}
    asking = system.asking_roles
    for fact in facts:
        if isinstance(fact, Sample) and fact.role in asking and fact.phase == "measuring":
            outcomes[fact.outcome] += 1
            if fact.outcome == "answered":
                response_us.append(fact.ended_us - fact.intended_us)
        elif isinstance(fact, Tick):
            counters[fact.process].append(fact.counters)
        elif isinstance(fact, Event) and fact.name == "phase":
            phases[fact.detail["phase"]] = fact.at_us
    measured_us = _measured_us(phases)
    asked = sum(_grown(rows, "requests") for name, rows in counters.items() if system.asks(name))
    spent = system.costs(_of_servers(counters, system), asked)
    p50_us, p95_us, p99_us = _percentiles(response_us)
    known: dict[str, Any] = {
        "requests": sum(outcomes.values()),
        "answer_ratio": len(response_us) / outcomes.total() if outcomes else None,
        "per_s": len(response_us) * 1e6 / measured_us if measured_us else None,
        "mean_us": fmean(response_us) if response_us else None,
        "p50_us": p50_us,
        "p95_us": p95_us,
        "p99_us": p99_us,
    }
    counted = {outcome: outcomes[outcome] for outcome in OUTCOMES}
    told = {**known, **counted, **spent, **(own or {})}
    return Summary(
        **known,
        outcomes=counted,
        costs={name: spent[name] for name in system.cost_words},
        measures={name: told.get(name) for name in (*MEASURES, *system.measure_names)},
    )


def _measured_us(phases: dict[str, int]) -> int | None:
    """The duration of measuring, from the starts of the phases."""
    if MEASURING not in phases:
        return None
    later = [at_us for at_us in phases.values() if at_us > phases[MEASURING]]
    return min(later) - phases[MEASURING] if later else None


def _of_servers(counters: dict[str, list[dict[str, int]]], system: System) -> dict[str, int]:
    total: Counter[str] = Counter()
    for process, rows in counters.items():
        if system.is_server(process):
            total.update({name: _grown(rows, name) for name in set().union(*rows)})
    return dict(total)


def _grown(rows: list[dict[str, int]], name: str) -> int:
    """The growth of a counter that restarts from zero with each life of its process."""
    return growth([0, *(row.get(name, 0) for row in rows)])


def _percentiles(values: list[int]) -> list[float | None]:
    """Interpolated between neighbours, as in ``telemetry.statistics.metrics``."""
    if len(values) < 2:
        return [float(values[0]) if values else None] * len(PERCENTILES)
    cuts = quantiles(values, n=100, method="inclusive")
    return [cuts[percent - 1] for percent in PERCENTILES]
