"""One row per broker, merged from several sources. Pure."""

from __future__ import annotations

from typing import Any

MEMORY = ("rss_bytes", "pss_bytes", "uss_bytes", "over_idle_bytes", "table_bytes")


def merged(
    states: list[dict[str, Any]], memories: list[dict[str, Any]], loads: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """One row for each broker in any of the three lists, by index."""
    rows: dict[int, dict[str, Any]] = {row["index"]: dict(row) for row in states}
    for row in memories:
        rows.setdefault(row["index"], {"index": row["index"]}).update({name: row.get(name) for name in MEMORY})
    for row in loads:
        rows.setdefault(row["index"], {"index": row["index"]}).update(row)
    return [rows[index] for index in sorted(rows)]
