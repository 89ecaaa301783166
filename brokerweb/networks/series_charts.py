"""The charts of a network's time series: what its page draws, from the columns of REST's ``series``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from telemetry.charts.live import Line, LiveChart, View
from telemetry.systems.contract import Telemetry

RANGES = {"15m": "15 min", "3h": "3 h", "1d": "1 d", "14d": "14 d"}
"""Labels of the ranges."""
CHARTS = (
    LiveChart(
        "Probe response time",
        "us",
        (
            View(
                "probes",
                "",
                (
                    Line("p50_us", "p50", colour="accent", width=2.5),
                    Line("p95_us", "p95", colour="state-violet", width=1, band_to="p50_us"),
                    Line("mean_us", "mean", colour="ink-soft", width=1, dash="dotted"),
                ),
            ),
        ),
        "Response time of probes over time: median, 95th percentile and mean",
        is_log=True,
    ),
    LiveChart(
        "Probes answered",
        "share",
        (View("answered", "", (Line("answered_share", "answered", colour="state-green"),)),),
        "Share of probes answered over time",
    ),
    LiveChart(
        "Load: incoming messages",
        "per_s",
        (
            View("load", "messages", (Line("load_per_s", "incoming messages", colour="accent"),)),
            View("answers", "answers", (Line("answers_per_s", "queries answered", colour="accent"),)),
        ),
        "Incoming messages per second over time",
        views_label="Rate",
    ),
    LiveChart(
        "Hops per answered query",
        "",
        (View("hops", "", (Line("hops", "mean hops", colour="accent"),)),),
        "Mean number of hops of answered queries over time",
    ),
    LiveChart(
        "CPU: busy cores",
        "cores",
        (View("cores", "", (Line("cores", "busy cores", colour="accent"),)),),
        "Busy processor cores over time",
    ),
    LiveChart(
        "Private memory",
        "bytes",
        (View("memory", "", (Line("private_bytes", "private memory", colour="accent"),)),),
        "Private memory over time",
    ),
)


OF_ANSWERS = ("answers", "hops")
"""Views that only systems have whose servers count answers."""


def charts(telemetry: Telemetry) -> Sequence[LiveChart]:
    """Those of every network, and those of its system."""
    common = CHARTS if telemetry.counters.answers else [chart for one in CHARTS if (chart := _without_answers(one))]
    return (*common, *telemetry.network_series)


def _without_answers(chart: LiveChart) -> LiveChart | None:
    views = tuple(view for view in chart.views if view.name not in OF_ANSWERS)
    return replace(chart, views=views) if views else None


def for_script(shown: Sequence[LiveChart]) -> dict[str, Any]:
    return {chart.name: chart.for_script() for chart in shown}
