"""A report as one file that needs nothing else: charts, tables, provenance; light, dark or by the system.

Counterparts: ``telemetry.reports.comparison`` makes the result; ``telemetry.charts`` draws its charts as the pages do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from telemetry.charts.figures import ALL, BOTH, PUBLISHED, by_id, figure
from telemetry.charts.standalone import LIBRARY, POLICY, import_map, read, styles
from telemetry.formatting import KB, UNKNOWN, counted, sig3
from telemetry.reports import own_figures, parts, study_part
from telemetry.reports.configuration_rows import MEMORY
from telemetry.reports.deliveries import COLUMNS as DELIVERIES
from telemetry.reports.parts import Part
from telemetry.reports.request_charts import has_memory
from telemetry.statistics.metrics import STATISTICS
from telemetry.templating import render as rendered

STARTS = {"from_intended": "intended", "from_sent": "actual"}
OUTCOMES = ("requests", "answered", "not_found", "refused", "timed_out")
TRUTH = {
    "Found of what existed": ("success", "share"),
    "Fresh of the answers": ("fresh_share", "share"),
    "Stale answers behind by, median": ("stale_ms", "ms"),
    "False not-found per 1,000": ("false_not_found_per_1000", ""),
}
"""Columns of the table of truth: what of a configuration, and its unit."""


def render(result: Mapping[str, Any]) -> str:
    """The page of a comparison. Raises ``TelemetryError`` where a file is missing from the installation."""
    rows, charts = result["configurations"], result["charts"]
    return rendered(
        "reports/report.html",
        policy=POLICY,
        style=styles() + Path(__file__).with_name("report.css").read_text(encoding="utf-8"),
        theme=read("js/theme.js"),
        library=read(LIBRARY),
        imports=import_map("report"),
        title=result["title"],
        subtitle=_subtitle(result),
        notes=result["notes"],
        charts=by_id(charts),
        shared=[_figure(*one) for one in parts.laid_out(parts.shared(charts))],
        parts=[_part(part) for part in parts.parts(rows, charts)],
        studies=study_part.shown(result.get("studies") or []),
        starts=STARTS,
        statistics=STATISTICS,
        truth=TRUTH,
        settings=_settings(rows),
        facts=_facts(result["provenance"]),
        runs=[{**run, "load": _load(run)} for run in result["provenance"]["runs"]],
        unknown=UNKNOWN,
        KB=KB,
    )


def _part(part: Part) -> dict[str, Any]:
    rows = part.rows
    has_requests = any(row["outcomes"]["requests"] for row in rows)
    return {
        "title": part.title,
        "suffix": part.suffix,
        "rows": rows,
        "drawn": [_figure(*one) for one in part.charts],
        "figures": [
            figure(chart, mode, "span-6", with_data=mode == BOTH)
            for chart in part.figures
            for mode in (PUBLISHED, BOTH)
        ],
        "servers": part.servers,
        "memory": {**MEMORY, "table_bytes": "table"} if has_memory(rows) else {},
        "own": own_figures.columns(rows),
        "has_requests": has_requests,
        "outcomes": OUTCOMES if has_requests else (),
        "deliveries": DELIVERIES if any("deliveries" in row for row in rows) else {},
        "differences": [_differences(row) for row in rows],
    }


def _figure(chart: Mapping[str, Any], width: str) -> str:
    return figure(dict(chart), ALL, width, with_data=True)


def _subtitle(result: Mapping[str, Any]) -> str:
    made = str(result["provenance"].get("created", ""))[:16].replace("T", " ")
    configurations, runs = len(result["configurations"]), len(result["provenance"]["runs"])
    when = f", made {made} UTC" if made else ""
    return f"{counted(configurations, 'configuration')}, {counted(runs, 'run')}{when}"


def _differences(row: Mapping[str, Any]) -> str:
    """In what the nearest published row differs from a configuration."""
    published, workload = row["published"], row["workload"]
    return ", ".join(
        f"{name.removesuffix('_s').replace('_', ' ')} ({published[name]:g}, here {workload.get(name, UNKNOWN)})"
        for name in (published["differs"] if published else ())
    )


def _settings(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Every setting and workload field once, with all values that configurations have of it."""
    described = [
        {**row["workload"], **row["settings"], "system": row["system"], "engine": row["engine"]} for row in rows
    ]
    names = sorted({name for one in described for name in one})
    return [(name, ", ".join(_distinct(one.get(name, UNKNOWN) for one in described))) for name in names]


def _distinct(values: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values))


def _facts(provenance: Mapping[str, Any]) -> dict[str, str]:
    runs = provenance["runs"]
    return {
        "Computed by": provenance.get("computed_by", ""),
        "Code": " · ".join(_distinct(_code(run["code"]) for run in runs)),
        "Python": ", ".join(_distinct(run["python"] or UNKNOWN for run in runs)),
        "Libraries": " · ".join(_distinct(_libraries(run["libraries"]) for run in runs)),
        "Machine": " · ".join(_distinct(_machine(run["machine"]) for run in runs)),
    }


def _load(run: Mapping[str, Any]) -> str:
    return sig3(((run["machine"] or {}).get("load_average") or [None])[0])


def _code(code: Mapping[str, Any] | None) -> str:
    if not code:
        return UNKNOWN
    commit = f" at {code['commit'][:12]}" if code.get("commit") else ""
    return f"Waxwing {code.get('version')}{commit}{', modified' if code.get('modified') else ''}"


def _libraries(libraries: Mapping[str, Any] | None) -> str:
    return ", ".join(f"{name} {version}" for name, version in (libraries or {}).items()) or UNKNOWN


def _machine(machine: Mapping[str, Any] | None) -> str:
    if not machine:
        return UNKNOWN
    memory = f"{machine.get('memory_bytes', 0) / KB**3:.0f} GB"
    governor = machine.get("governor") or "unknown"
    cores = f"{machine.get('processor')}, {machine.get('cores')} cores"
    datagrams = f", {machine['datagrams']} datagrams" if "datagrams" in machine else ""
    return f"{cores}, {memory}, {machine.get('kernel')}, governor {governor}{datagrams}"
