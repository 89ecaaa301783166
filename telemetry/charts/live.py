"""What the page of a run shows of it while it runs and afterwards: charts over time, and the figures at its head.

Counterparts: ``telemetry.live.window`` computes them from ticks, ``static/js/run-charts.js`` and ``figures.js`` show
them. A system declares its own in ``Telemetry.series`` and ``Telemetry.key_figures``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

LiveUnit = Literal["us", "ms", "s", "bytes", "J", "per_s", "share", "cores", ""]
"""Units of ``telemetry.measures`` that live values have."""
_FORMATS = {
    "us": "us",
    "ms": "ms",
    "s": "seconds",
    "bytes": "size",
    "J": "joules",
    "per_s": "perSecond",
    "share": "share",
    "cores": "sig3",
    "": "sig3",
}
"""By unit, the name of the format in ``static/js/format.js``."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart."""

    column: str
    """Its column in a snapshot's ``series``, unique in a system."""
    label: str
    of: str = ""
    """A counter, gauge or histogram of ticks; empty for the columns that every system has."""
    how: Literal["rate", "total", "mean", "p50", "p95", "p99"] = "rate"
    """``rate``: growth of a counter of servers or clients per second; ``total``: sum of a gauge over all servers, each
    with its last value of the last 3 s; else the statistic of a histogram (``overlay.journal.facts.Histogram``), µs."""
    colour: str = "main"
    """A colour of ``static/css``; ``main`` is that of the topology's kind."""
    width: float = 2
    dash: Literal["", "dashed", "dotted", "dashdot"] = ""
    band_to: str = ""
    """The column to which the area is filled."""


@dataclass(frozen=True, slots=True)
class View:
    """The lines that a chart shows at once."""

    name: str
    label: str
    """Of its button; a chart of one view has none."""
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class LiveChart:
    """A chart over the time of a run."""

    title: str
    """``{server}`` and ``{servers}`` are what the servers are called."""
    unit: LiveUnit
    views: tuple[View, ...]
    about: str
    """A description, for screen readers; with ``{server}`` and ``{servers}``."""
    views_label: str = ""
    is_log: bool = False
    """Whether its axis can be logarithmic, and is at first."""
    size: Literal["wide", "", "low"] = ""
    """``wide`` and ``low`` take the width of the page, others half of it."""
    is_modelled: bool = False
    """Whether a simulation needs a model of service times for it."""
    is_of_requests: bool = False
    """Whether it shows clients' requests, which not every workload has."""

    @property
    def name(self) -> str:
        return self.views[0].name

    def for_script(self) -> dict[str, Any]:
        """Its views by name, for ``run-charts.js``."""
        more = {"format": _FORMATS[self.unit], "log": self.is_log}
        return {view.name: {**more, "lines": [asdict(line) for line in view.lines]} for view in self.views}


def gauge_chart(column: str, title: str, colour: str) -> LiveChart:
    """The sum of a gauge of all servers, which is the column, too."""
    view = View(column, "", (Line(column, title.lower(), column, "total", colour=colour),))
    return LiveChart(title, "", (view,), f"{title} over time")


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A measure at the head of the page of a run."""

    measure: str
    """Its name."""
    live: str = ""
    """Its path in a snapshot: ``latency.p50``, ``histograms.deliveries.p95``, ``totals.entries``. Empty: it is known
    when the run has ended."""
    title: str = ""
    """With ``{server}`` and ``{servers}``; empty: the measure's title."""
    counts: tuple[str, str] | None = None
    """The measures *this of that* next to a share."""
    of: str = ""
    """The measure that a count is a part of: *2,784 of 2,898*."""
    is_main: bool = True
    """Whether it is large, in the first row."""
    is_rare: bool = False
    """Whether few runs have what it is of: without a value it is left out, and is not announced."""


def format_of(unit: str, *, is_count: bool) -> str:
    """The name of the format in ``format.js``; things that are counted follow it: ``count packets``."""
    if unit in _FORMATS:
        return "count" if is_count else _FORMATS[unit]
    return f"{'count' if is_count else 'sig3'} {unit}"


SERIES = (
    LiveChart(
        "Response time, from the intended send time",
        "us",
        (
            View(
                "latency",
                "",
                (
                    Line("p50", "p50", width=2.5),
                    Line("p95", "p50–p95", width=0, band_to="p50"),
                    Line("p99", "p99", width=1.5, dash="dotted"),
                    Line("mean", "mean", colour="ink-soft", width=1, dash="dashed"),
                ),
            ),
        ),
        "Response time over time: median, p95, p99 and mean",
        is_log=True,
        size="wide",
        is_of_requests=True,
    ),
    LiveChart(
        "Completed requests per second",
        "per_s",
        (
            View(
                "outcomes",
                "requests",
                (
                    Line("answered", "answered", colour="state-blue"),
                    Line("not_found", "not found", colour="state-amber", width=1.5, dash="dashed"),
                    Line("timed_out", "timed out", colour="state-red", width=1.5, dash="dotted"),
                    Line("refused", "refused", colour="state-slate", width=1.5, dash="dashdot"),
                ),
            ),
            View("updates", "updates", (Line("updates", "updates stored", colour="state-violet"),)),
        ),
        "Requests answered, not found, timed out and refused per second",
        views_label="Rate",
    ),
    LiveChart(
        "Mean memory per {server}",
        "bytes",
        (
            View(
                "memory",
                "process",
                (
                    Line("rss_bytes", "RSS", colour="ink-soft", width=1.5, dash="dashed"),
                    Line("pss_bytes", "PSS", colour="state-violet", width=1.5, dash="dotted"),
                    Line("uss_bytes", "USS"),
                ),
            ),
            View("added", "added over idle", (Line("over_idle_bytes", "added over idle"),)),
        ),
        "Memory of the {servers} over time",
        views_label="Memory",
        is_modelled=True,
    ),
    LiveChart(
        "CPU: busy cores",
        "cores",
        (
            View(
                "cores",
                "",
                (
                    Line("broker_cores", "all {servers}"),
                    Line("client_cores", "load generators", colour="ink-soft", width=1.5, dash="dashed"),
                ),
            ),
        ),
        "Cores used by all {servers} and by the load generators over time",
        size="low",
        is_modelled=True,
    ),
)
"""The charts of a system that declares none: requests and answers, memory, processor time."""
MEMORY_AND_CPU = SERIES[2:]
"""The charts that any system has, to follow its own."""
KEY_FIGURES = (
    KeyFigure("p50", "latency.p50", "Response time, p50"),
    KeyFigure("p95", "latency.p95", "Response time, p95"),
    KeyFigure("answer_ratio", "answer_ratio", "Answered", counts=("answered", "requests")),
    KeyFigure("per_s", "throughput.answered_per_s", "Throughput, answers"),
    KeyFigure("over_idle", "memory.mean.over_idle_bytes", "Memory added per {server}"),
    KeyFigure("mean", "latency.mean", "Mean", is_main=False),
    KeyFigure("p99", "latency.p99", "p99", is_main=False),
    KeyFigure("not_found", "outcomes.not_found", is_main=False),
    KeyFigure("timed_out", "outcomes.timed_out", is_main=False),
    KeyFigure("refused", "outcomes.refused", is_main=False),
)
"""The figures of a system that declares none."""
