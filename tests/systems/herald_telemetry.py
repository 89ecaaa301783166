"""What the pushing toy measures and shows: delays instead of response times, pushes instead of requests."""

from telemetry.charts.live import MEMORY_AND_CPU, KeyFigure, Line, LiveChart, View
from telemetry.measures import Measure
from telemetry.systems.contract import Counters, Telemetry


def _delay(name, title):
    return Measure(f"delay_{name}", title, "us", ("deliveries", "delay_us", name), "lower", definition=f"{title}.")


class HeraldTelemetry(Telemetry):
    measures = (
        _delay("p50", "Median delay of news"),
        _delay("p95", "Delay of news, 95th percentile"),
        Measure("news", "Deliveries", "", ("deliveries", "delivered"), "higher", is_count=True, definition="All."),
    )
    counters = Counters(gauges=("subscribers",), totals={"subscribers": "Subscribers"})
    series = (
        LiveChart(
            "Delay of news",
            "us",
            (
                View(
                    "delay",
                    "",
                    (
                        Line("delay_p50", "p50", "deliveries", "p50"),
                        Line("delay_p95", "p95", "deliveries", "p95", colour="state-violet", dash="dashed"),
                    ),
                ),
            ),
            "Median and 95th percentile of the delays over time",
            is_log=True,
            size="wide",
        ),
        LiveChart(
            "Pushes per second",
            "per_s",
            (View("pushes", "", (Line("pushed", "pushed", "pushed"),)),),
            "Pushes over time",
        ),
        LiveChart(
            "Subscribers",
            "",
            (View("subscribers", "", (Line("subscribers", "subscribers", "subscribers", "total"),)),),
            "Subscribers of all {servers} over time",
        ),
        *MEMORY_AND_CPU,
    )
    key_figures = (
        KeyFigure("delay_p50", "histograms.deliveries.p50"),
        KeyFigure("delay_p95", "histograms.deliveries.p95"),
        KeyFigure("news", "histograms.deliveries.n", "News delivered"),
        KeyFigure("over_idle", "memory.mean.over_idle_bytes", "Memory added per {server}"),
        KeyFigure("cores_used", is_main=False),
    )
