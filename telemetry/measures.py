"""What a run of any system is measured by: figures that are filtered by, compared, charted or held to thresholds. Pure.

Each thing has one name and one unit on every surface. ``telemetry.systems.registry`` adds the measures of each system,
which are qualified by its name wherever two systems could meet. Counterparts: ``telemetry.summary.summary`` computes
the figures, ``docs/measures.md`` says how; ``telemetry.filters`` names them in queries and thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from telemetry.formatting import WRITTEN, count, signed
from telemetry.statistics.intervals import COUNT, LOG, SHARE, SIGNED, Scale

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
    scale: Scale = LOG
    """On which replicates are taken together: ``telemetry.statistics.intervals`` says what each is for."""
    of_path: tuple[str, ...] = ()
    """Of a share, where the summary says of how many requests it is."""
    most: float = 1.0
    """Of a share, what stands for all of them."""
    is_response: bool = False
    """A time that only answered requests have: whatever bounds it has to count the others, too."""
    system: str = ""
    """The system that alone has it; empty for those of every system."""
    definition: str = ""
    """What it is of a run, in a sentence."""

    @property
    def key(self) -> str:
        """Its name among those of all systems: ``p95``, ``SYSTEM.hops``. Figures are stored by it."""
        prefix = f"{self.system}." if self.system else ""
        return prefix + self.name.removeprefix(prefix)

    @property
    def declared(self) -> str:
        """Its name in ``/api/systems/`` and in a summary's ``measures``, which ends in its unit: ``mean_us``."""
        suffix = f"_{self.unit}" if self.unit in ("us", "ms", "bytes") else ""
        return self.name.removesuffix(suffix) + suffix

    @property
    def mean(self) -> str:
        """Which mean of the replicates is shown."""
        return "geometric mean" if self.scale == LOG else "mean"

    def of(self, summary: Mapping[str, Any]) -> float | None:
        """Its value in a summary; ``None`` where nothing was measured."""
        found: Any = summary
        for key in self.path:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None

    def text(self, value: float | None) -> str:
        """A value with its unit: "1.42 ms"."""
        if value is not None and self.is_count and float(value).is_integer():
            return count(value)
        return WRITTEN[self.unit](value)

    def difference(self, value: float | None) -> str:
        """The difference of two values, with its sign and unit: "+1.42 ms"."""
        return signed(self.text, value)


def _count(name: str, title: str, definition: str, better: Better = "lower") -> Measure:
    return Measure(name, title, "", (name,), better, is_count=True, scale=COUNT, definition=definition)


def cost(name: str, title: str, definition: str) -> Measure:
    """A mean number of things for one request, at the top of the summary."""
    return Measure(name, title, "", (name,), "lower", scale=COUNT, definition=definition)


def share(name: str, title: str, of: tuple[str, ...], path: tuple[str, ...] = (), *, definition: str) -> Measure:
    """A share of the requests that the summary counts at ``of``."""
    return Measure(name, title, "share", path or (name,), "higher", scale=SHARE, of_path=of, definition=definition)


def _memory(kind: str, title: str, definition: str, scale: Scale = LOG) -> Measure:
    path = ("memory", "mean", f"{kind}_bytes")
    return Measure(kind, title, "bytes", path, "lower", scale=scale, definition=f"{definition}, mean over servers.")


def _response(name: str, title: str, what: str) -> Measure:
    definition = f"{what} of the response times of answered requests, from the intended sending to the answer."
    return Measure(name, title, "us", (name,), "lower", is_response=True, definition=definition)


COMMON: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        _response("mean", "Mean response time", "Mean"),
        _response("p50", "Median response time", "Median"),
        _response("p95", "Response time, 95th percentile", "95th percentile"),
        _response("p99", "Response time, 99th percentile", "99th percentile"),
        _count("requests", "Requests", "Requests intended while measuring.", ""),
        _count("answered", "Answered", "Requests that were answered with data.", "higher"),
        _count("not_found", "Not found", "Requests that were told that there is no data."),
        _count("timed_out", "Timed out", "Requests that were given up without an answer."),
        _count("refused", "Refused", "Requests that were refused."),
        share(
            "answer_ratio",
            "Share of requests answered",
            ("requests",),
            definition="Answered requests / requests intended while measuring.",
        ),
        Measure(
            "per_s",
            "Requests answered per second",
            "per_s",
            ("per_s",),
            "higher",
            definition="Answered requests / seconds of measuring.",
        ),
        Measure(
            "late_p99",
            "Lateness of the load generator, p99",
            "us",
            ("lateness", "p99"),
            "lower",
            definition="99th percentile of the time from a request's intended sending to its actual one.",
        ),
        _memory("rss", "Memory of a broker, RSS", "Resident memory of a server's process"),
        _memory("pss", "Memory of a broker, PSS", "Resident memory with its share of what processes have in common"),
        _memory("uss", "Memory of a broker, USS", "Memory that is the process's own"),
        _memory(
            "over_idle",
            "Memory of a broker over an idle one",
            "What a server's process takes beyond what it took before clients began",
            SIGNED,
        ),
        _memory("table", "Table of a broker", "Bytes of the data that a server holds"),
        Measure(
            "cores_used",
            "Cores kept busy",
            "cores",
            ("processor", "cores_used"),
            "lower",
            definition="Processor time of all processes / time of measuring.",
        ),
    )
}
"""Of every system, by name."""


def declared(summary: Mapping[str, Any], measures: Iterable[Measure]) -> dict[str, float | None]:
    """The value of each measure by its declared name; ``None`` where nothing was measured."""
    return {measure.declared: measure.of(summary) for measure in measures}


def figures_in(summary: Mapping[str, Any], measures: Iterable[Measure]) -> dict[str, float]:
    """The value of each measure that ``summary`` has, by key."""
    found = {measure.key: measure.of(summary) for measure in measures}
    return {key: value for key, value in found.items() if value is not None}
