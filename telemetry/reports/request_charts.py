"""The charts of a report that systems have in common: response times, and memory of their servers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overlay.core.engines import ENGINES, SIMULATED
from overlay.systems.registry import servers_title
from telemetry.charts.charts import Chart, axis, chart, estimate, point, series
from telemetry.formatting import KB
from telemetry.reports.configuration_rows import MEMORY
from telemetry.reports.measured import CURVE, Measured
from telemetry.reports.series import of_engine, role
from telemetry.systems.registry import telemetry_of


def drawn(rows: Sequence[Mapping[str, Any]], measured: Measured) -> list[Chart]:
    """The charts of all runs: of requests and of memory, where there are any."""
    has_requests = any(row["outcomes"]["requests"] for row in rows)
    return [one for one in _charts(rows, measured) if (one["series"] if one["id"] == "memory" else has_requests)]


def has_memory(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether memory is known of any configuration: of simulated ones it mostly is not."""
    return any(one["n"] for row in rows for one in row["memory"].values())


def _charts(rows: Sequence[Mapping[str, Any]], measured: Measured) -> list[Chart]:
    categories = [row["label"] for row in rows]
    of = ", simulated" if all(row["engine"] == SIMULATED for row in rows) else ""
    configurations = axis("Configuration", categories=categories)
    servers = servers_title(row["system"] for row in rows)
    memory = servers.fill("Memory of {a_server}")
    return [
        chart(
            "response-time",
            f"Mean response time against configuration{of}",
            configurations,
            axis("Mean response time", "µs", log=True),
            [*_by_topology(rows), _published_points(rows)],
            ["From the intended send time; answered requests only. Faint marks are replicates."],
        ),
        chart(
            "percentiles",
            f"Percentiles of response time{of}",
            axis("Share of requests", "%"),
            axis("Response time", "µs", log=True),
            [_curve(row, measured) for row in rows],
            [
                "All replicates of a configuration together; each percentile is exact, from the samples.",
                "Faint marks at 50, 95 and 99 % are the replicates' own percentiles, whiskers their 95 % interval.",
            ],
        ),
        chart(
            "memory",
            f"{memory} against configuration{of}",
            configurations,
            axis(memory, "kB", zero=True),
            [
                of_engine(rows, engine, word, "memory", name, scale=1 / KB, metric=name)
                for engine in ENGINES
                for name, word in MEMORY.items()
            ],
            [
                f"Mean over the {servers.in_text.many} of a run and its seconds of measuring. PSS includes a share of "
                "memory common to several processes, USS excludes it; over idle is USS minus its value before the "
                "first client.",
            ],
        ),
    ]


def _by_topology(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for x, row in enumerate(rows):
        if not row["outcomes"]["requests"]:
            continue
        words = f"{row['topology']['name']}, shaped links" if row["topology"]["shaped"] else row["topology"]["name"]
        words += ", simulated" if row["engine"] == SIMULATED else ""
        points = found.setdefault((words, role(row), row["topology"]["kind"]), [])
        points.append(estimate(x, row["response"]["from_intended"]["mean"]))
    return [series(name, role, kind, points, line=False) for (name, role, kind), points in found.items()]


def _published_points(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    same = [(x, row["published"]) for x, row in enumerate(rows) if row["published"] and row["published"]["same"]]
    points = [point(x, published["response_us"], note=published["note"]) for x, published in same]
    places = dict.fromkeys(telemetry_of({"system": rows[x]["system"]}).published_in for x, _ in same)
    return series(", ".join(["published", *filter(None, places)]), "published", "", points, line=False)


def _curve(row: Mapping[str, Any], measured: Measured) -> dict[str, Any]:
    values = measured.curves.get(row["key"], {}).get("curve") or []
    points = [
        point(share * 100, y, n=row["n"], **_replicates(row, share)) for share, y in zip(CURVE, values, strict=False)
    ]
    return series(row["label"], role(row), row["topology"]["kind"], points)


def _replicates(row: Mapping[str, Any], share: float) -> dict[str, Any]:
    """The replicates' own percentile at a share, where it is computed of each."""
    found = row["response"]["from_intended"].get(f"p{share * 100:g}", {})
    return {name: found[name] for name in ("low", "high", "replicates") if name in found}
