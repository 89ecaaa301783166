"""The measures of runs of any system, for filters, comparisons, charts and thresholds. Pure.

A measure has the same name and unit everywhere. ``telemetry.systems.registry`` adds the measures of each system,
qualified by the system's name if necessary. Counterparts: ``telemetry.summary.summary`` computes
the figures, ``docs/measures.md`` defines them; ``telemetry.filters`` uses them in queries and thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from telemetry.formatting import count, in_unit, signed
from telemetry.statistics.intervals import COUNT, LOG, SHARE, SIGNED, Scale

SUFFIXES = {"us": "us", "ms": "ms", "s": "s", "bytes": "bytes", "J": "j"}
"""By unit: the end of a name that contains it."""

Better = Literal["lower", "higher", ""]


def with_unit(name: str, unit: str) -> str:
    """A name that contains its unit: ``p95`` in µs is ``p95_us``."""
    suffix = SUFFIXES.get(unit, "")
    return name if not suffix or suffix in name.split("_") else f"{name}_{suffix}"


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of a run."""

    name: str
    title: str
    """The title of a chart's axis, without the unit. ``{server}``, ``{servers}`` and ``{a_server}`` are what
    servers are called."""
    unit: str
    """Of stored values: one of ``SUFFIXES``, ``per_s``, ``share``, ``cores``, or what is counted, such as ``packets``;
    ``""`` is a plain number."""
    path: tuple[str, ...]
    """Its path in a run's summary."""
    better: Better
    """The direction of improvement; empty if there is none."""
    is_count: bool = False
    """Whether it is an exact integer."""
    scale: Scale = LOG
    """The scale on which replicates are averaged; see ``telemetry.statistics.intervals``."""
    of_path: tuple[str, ...] = ()
    """For a share: the path of the number of requests in the summary."""
    most: float = 1.0
    """For a share: the value that means all."""
    is_response: bool = False
    """Whether it is a time of answered requests only; thresholds must then count the other requests, too."""
    system: str = ""
    """The only system with this measure; empty for measures of all systems."""
    definition: str = ""
    """Its definition, a sentence."""
    short: str = ""
    """The head of a column, which has the title as its tooltip; empty: the title."""

    @property
    def key(self) -> str:
        """Its unique name, used to store figures: ``p95``, ``SYSTEM.hops``."""
        prefix = f"{self.system}." if self.system else ""
        return prefix + self.name.removeprefix(prefix)

    @property
    def declared(self) -> str:
        """Its name in ``/api/systems/`` and in a summary's ``measures``, which contains its unit: ``mean_us``."""
        return with_unit(self.name, self.unit)

    @property
    def mean(self) -> str:
        """The kind of mean over replicates."""
        return "geometric mean" if self.scale == LOG else "mean"

    def of(self, summary: Mapping[str, Any]) -> float | None:
        """Its value in a summary; ``None`` if nothing was measured."""
        found: Any = summary
        for key in self.path:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None

    def text(self, value: float | None) -> str:
        """A value with its unit: "1.42 ms"."""
        if value is not None and self.is_count and float(value).is_integer():
            return f"{count(value)}\u202f{self.unit}" if self.unit else count(value)
        return in_unit(value, self.unit)

    def difference(self, value: float | None) -> str:
        """The difference of two values, with its sign and unit: "+1.42 ms"."""
        return signed(self.text, value)


class Words(NamedTuple):
    """What a system calls a common measure."""

    title: str
    short: str
    definition: str


def _count(name: str, title: str, definition: str, better: Better = "lower", short: str = "") -> Measure:
    return Measure(name, title, "", (name,), better, is_count=True, scale=COUNT, definition=definition, short=short)


def cost(name: str, title: str, definition: str, short: str = "") -> Measure:
    """A mean count per request, at the top level of the summary."""
    return Measure(name, title, "", (name,), "lower", scale=COUNT, definition=definition, short=short)


def share(
    name: str, title: str, of: tuple[str, ...], path: tuple[str, ...] = (), *, definition: str, short: str = ""
) -> Measure:
    """A share of the requests counted at the path ``of`` in the summary."""
    where = path or (name,)
    return Measure(name, title, "share", where, "higher", scale=SHARE, of_path=of, definition=definition, short=short)


def _memory(kind: str, title: str, definition: str, short: str, scale: Scale = LOG) -> Measure:
    path = ("memory", "mean", f"{kind}_bytes")
    return Measure(
        kind, title, "bytes", path, "lower", scale=scale, definition=f"{definition}, mean over servers.", short=short
    )


def _response(name: str, title: str, what: str, short: str) -> Measure:
    definition = f"{what} of the response times of answered requests, from the intended sending to the answer."
    return Measure(name, title, "us", (name,), "lower", is_response=True, definition=definition, short=short)


COMMON: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        _response("mean", "Mean response time", "Mean", "Mean"),
        _response("p50", "Median response time", "Median", "p50"),
        _response("p95", "Response time, 95th percentile", "95th percentile", "p95"),
        _response("p99", "Response time, 99th percentile", "99th percentile", "p99"),
        _count("requests", "Requests", "Requests intended during measuring.", ""),
        _count("answered", "Answered", "Requests answered with data.", "higher", "Requests answered"),
        _count("not_found", "Not found", "Requests answered with not found."),
        _count("timed_out", "Timed out", "Requests without an answer before the time-out."),
        _count("refused", "Refused", "Requests answered with a refusal."),
        share(
            "answer_ratio",
            "Share of requests answered",
            ("requests",),
            definition="Answered requests / requests intended during measuring.",
            short="Share answered",
        ),
        Measure(
            "per_s",
            "Requests answered per second",
            "per_s",
            ("per_s",),
            "higher",
            definition="Answered requests / seconds of measuring.",
            short="Answers per s",
        ),
        Measure(
            "late_p99",
            "Delay of the load generator, p99",
            "us",
            ("lateness", "p99"),
            "lower",
            definition="99th percentile of the time from a request's intended sending to its actual one.",
            short="Lateness, p99",
        ),
        _memory("rss", "Memory of {a_server}, RSS", "Resident memory of a server's process", "RSS per {server}"),
        _memory(
            "pss",
            "Memory of {a_server}, PSS",
            "Resident memory, with shared pages divided among their processes",
            "PSS per {server}",
        ),
        _memory("uss", "Memory of {a_server}, USS", "Private memory of a server's process", "USS per {server}"),
        _memory(
            "over_idle",
            "Memory of {a_server} over an idle one",
            "Private memory of a server's process in addition to that before the clients started",
            "Over idle",
            SIGNED,
        ),
        _memory("table", "Table of {a_server}", "Bytes of the data stored by a server", "Table per {server}"),
        Measure(
            "cores_used",
            "Busy cores",
            "cores",
            ("processor", "cores_used"),
            "lower",
            definition="Processor time of all processes / duration of measuring.",
        ),
    )
}
"""The measures of all systems, by name."""


def declared(summary: Mapping[str, Any], measures: Iterable[Measure]) -> dict[str, float | None]:
    """The value of each measure by its declared name; ``None`` where nothing was measured."""
    return {measure.declared: measure.of(summary) for measure in measures}


def figures_in(summary: Mapping[str, Any], measures: Iterable[Measure]) -> dict[str, float]:
    """The value of each measure in ``summary``, by key."""
    found = {measure.key: measure.of(summary) for measure in measures}
    return {key: value for key, value in found.items() if value is not None}
