"""What a run is measured by: every figure that is filtered by, compared, charted or held to a threshold. Pure.

Each thing has one name and one unit on every surface. Counterparts: ``telemetry.summary`` computes the figures,
``docs/measures.md`` says how; ``telemetry.filters`` names them in queries and thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Unit = Literal["us", "ms", "bytes", "per_s", "share", "cores", ""]
"""Of what is stored; ``""`` is a plain number."""

Better = Literal["lower", "higher", ""]


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of a run."""

    name: str
    title: str
    """As a chart's axis says it, without its unit."""
    unit: Unit
    path: tuple[str, ...]
    """Where it stands in a run's summary."""
    better: Better
    """Which way is an improvement; empty where neither is."""
    is_count: bool = False
    """A whole number of things, exact."""
    is_signed: bool = False
    """Whether it may be negative, as what a broker gave back since it was idle."""
    most: float | None = None
    """What it cannot exceed."""

    def of(self, summary: Mapping[str, Any]) -> float | None:
        """Its value in a summary; ``None`` where nothing was measured."""
        found: Any = summary
        for key in self.path:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def _count(name: str, title: str, better: Better = "lower") -> Measure:
    return Measure(name, title, "", (name,), better, is_count=True)


def _memory(kind: str, title: str, *, is_signed: bool = False) -> Measure:
    return Measure(kind, title, "bytes", ("memory", "mean", f"{kind}_bytes"), "lower", is_signed=is_signed)


MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("mean", "Mean response time", "us", ("mean",), "lower"),
        Measure("p50", "Median response time", "us", ("p50",), "lower"),
        Measure("p95", "Response time, 95th percentile", "us", ("p95",), "lower"),
        Measure("p99", "Response time, 99th percentile", "us", ("p99",), "lower"),
        _count("requests", "Requests", ""),
        _count("answered", "Answered", "higher"),
        _count("not_found", "Not found"),
        _count("timed_out", "Timed out"),
        _count("refused", "Refused"),
        Measure("answer_ratio", "Share of requests answered", "share", ("answer_ratio",), "higher", most=1.0),
        Measure("per_s", "Requests answered per second", "per_s", ("per_s",), "higher"),
        Measure("hops", "Hops per answer", "", ("hops",), "lower"),
        Measure("messages_per_query", "Messages per query", "", ("messages_per_query",), "lower"),
        Measure("datagrams_per_query", "Datagrams per query", "", ("datagrams_per_query",), "lower"),
        Measure("messages_per_update", "Messages per update", "", ("messages_per_update",), "lower"),
        Measure("success", "Share found of what existed", "share", ("truth", "success"), "higher", most=1.0),
        Measure(
            "fresh_share", "Share of answers that were fresh", "share", ("truth", "fresh_share"), "higher", most=1.0
        ),
        Measure(
            "false_not_found",
            "Falsely not found per 1,000",
            "",
            ("truth", "false_not_found_per_1000"),
            "lower",
            most=1000.0,
        ),
        Measure("age_ms", "Age of an answer, median", "ms", ("age_ms", "p50"), "lower"),
        Measure("late_p99", "Lateness of the load generator, p99", "us", ("lateness", "p99"), "lower"),
        _memory("rss", "Memory of a broker, RSS"),
        _memory("pss", "Memory of a broker, PSS"),
        _memory("uss", "Memory of a broker, USS"),
        _memory("over_idle", "Memory of a broker over an idle one", is_signed=True),
        _memory("table", "Table of a broker"),
        Measure("cores_used", "Cores kept busy", "cores", ("processor", "cores_used"), "lower"),
    )
}
"""By name."""
