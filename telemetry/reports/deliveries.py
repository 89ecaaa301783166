"""The part of a report about deliveries, for configurations whose runs have them. Pure.

Counterparts: ``telemetry.summary.of_clients`` computes the figures of each run, ``comparison`` adds this part, and both
the page of a report and its file show ``COLUMNS``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from overlay.core.engines import ENGINES
from telemetry.charts.charts import Chart, axis, chart
from telemetry.lake.configurations import ChosenRun
from telemetry.reports.series import of_engine
from telemetry.statistics.intervals import COUNT, LOG, Scale, interval

DELAYS = {"p50": "Delay, p50", "p95": "Delay, p95", "p99": "Delay, p99"}
COLUMNS = {
    "Delivered per s": ("per_s", "per_s"),
    **{title: (name, "us") for name, title in DELAYS.items()},
    "Duplicates": ("duplicates", ""),
}
"""Columns of the table of deliveries: what of a configuration, and its unit."""


def of_configuration(group: Sequence[ChosenRun]) -> dict[str, Any]:
    """``deliveries``: each of ``COLUMNS`` as an interval over replicates; nothing for runs without deliveries."""
    rows = [found for run in group if (found := _of_run(run))]
    if not rows:
        return {}
    scales: dict[str, Scale] = {"per_s": LOG, "duplicates": COUNT, **dict.fromkeys(DELAYS, LOG)}
    return {"deliveries": {name: interval([row[name] for row in rows], scale) for name, scale in scales.items()}}


def _of_run(run: ChosenRun) -> dict[str, float | None]:
    found = (run.manifest.get("summary") or {}).get("deliveries") or {}
    return {**found, **{name: found["delay_us"][name] for name in DELAYS}} if found else {}


def charts(rows: Sequence[Mapping[str, Any]]) -> Iterator[Chart]:
    """Delay and rate of deliveries against configuration; none without deliveries."""
    if not any("deliveries" in row for row in rows):
        return
    configurations = axis("Configuration", categories=[row["label"] for row in rows])
    yield chart(
        "delivery-delay",
        "Delivery delay against configuration",
        configurations,
        axis("Delivery delay", "µs", log=True),
        [of_engine(rows, engine, name, "deliveries", name) for engine in ENGINES for name in DELAYS],
        ["From the intended publication to the first arrival at each receiver. Faint marks are replicates."],
    )
    yield chart(
        "delivery-rate",
        "Deliveries per second against configuration",
        configurations,
        axis("Deliveries", "/s", zero=True),
        [of_engine(rows, engine, "deliveries", "deliveries", "per_s") for engine in ENGINES],
        ["First arrivals per second of measuring, over all receivers."],
    )
