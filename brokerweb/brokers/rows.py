"""A row for each broker, from what several sources say of it. Pure."""

from __future__ import annotations

from typing import Any

from telemetry.live.loads import PASSED

MEMORY = ("rss_bytes", "pss_bytes", "uss_bytes", "over_idle_bytes", "table_bytes")
_RATES = tuple(f"{name}_per_s" for name in PASSED)


def merged(
    states: list[dict[str, Any]], memories: list[dict[str, Any]], loads: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """A row for each broker of which any of the three lists tells something, by index."""
    rows: dict[int, dict[str, Any]] = {row["index"]: dict(row) for row in states}
    for row in memories:
        rows.setdefault(row["index"], {"index": row["index"]}).update({name: row.get(name) for name in MEMORY})
    for row in loads:
        load = {**row, "load_per_s": sum(row[name] for name in _RATES)} if _RATES[0] in row else row
        rows.setdefault(row["index"], {"index": row["index"]}).update(load)
    return [rows[index] for index in sorted(rows)]
