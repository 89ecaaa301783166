"""Table exports of a report: one row per configuration, and one per point of its charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brokerweb.kit.tables import Table
from telemetry.charts.points import NAMES
from telemetry.charts.points import points as of_chart
from telemetry.reports.configuration_rows import MEMORY
from telemetry.reports.deliveries import COLUMNS
from telemetry.reports.measured import STARTS
from telemetry.statistics.metrics import STATISTICS
from telemetry.summary import truths

OUTCOMES = ("requests", "answered", "not_found", "timed_out", "refused")
ENDS = (("", "value"), ("_low", "low"), ("_high", "high"))
POINTS = ("chart", *NAMES)


def configurations(result: Mapping[str, Any]) -> Table:
    """Of a report's ``result``, as ``telemetry.reports.comparison`` makes it; figures are means of the replicates with
    their 95 % intervals, ``pooled`` those of all samples as one."""
    rows = [_row(row) for row in result.get("configurations") or []]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Table(names, [[row.get(name) for name in names] for row in rows])


def points(result: Mapping[str, Any]) -> Table:
    """Of every chart of a report's ``result``; what is on an axis of words is named by its word too."""
    charts = result.get("charts") or []
    return Table(POINTS, [[chart["id"], *row] for chart in charts for row in of_chart(chart)])


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    topology, published, truth = row["topology"], row["published"] or {}, row.get("truth") or {}
    return {
        "number": row.get("number"),
        "configuration": row["key"],
        "label": row["label"],
        "engine": row.get("engine"),
        "system": row["system"],
        "topology": topology["name"],
        "topology_kind": topology["kind"],
        "brokers": topology["brokers"],
        "links": topology["links"],
        **{f"workload.{name}": value for name, value in row["workload"].items()},
        **{f"settings.{name}": value for name, value in row["settings"].items()},
        "n": row["n"],
        "runs": list(row["runs"]),
        **_response(row["response"]),
        **{name: row["outcomes"].get(name, 0) for name in OUTCOMES},
        **_intervals({name: row[name] for name in ("answer_ratio", "per_s") if name in row}),
        # Reports of earlier versions have no answer quality.
        **_intervals({name: truth[name] for name in (*truths.SHARES, "stale_ms") if name in truth}),
        **_intervals({name: row["memory"][name] for name in (*MEMORY, "table_bytes")}),
        **_intervals(_deliveries(row.get("deliveries") or {})),
        **_intervals(row.get("own") or {}),
        **{f"runs_{verdict}": count for verdict, count in row["verdicts"].items()},
        "published_row": published.get("config"),
        "published_is_same": published.get("same"),
        "published_response_us": published.get("response_us"),
        "published_memory_kb": published.get("memory_kb"),
    }


def _response(response: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for start in STARTS:
        for statistic in STATISTICS:
            name, one = f"{statistic}_us" if start == "from_intended" else f"{statistic}_{start}_us", response[start]
            found |= {**_intervals({name: one[statistic]}), f"{name}_pooled": one[statistic].get("pooled")}
    return found


def _deliveries(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    names = {
        name: f"delivery_delay_{name}_us" if unit == "us" else f"deliveries_{name}" for name, unit in COLUMNS.values()
    }
    return {names[name]: one for name, one in found.items()}


def _intervals(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{name}{end}": one[of] for name, one in found.items() for end, of in ENDS}
