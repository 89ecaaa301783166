"""The rendered contents of a report's page, cached: a result never changes and may have megabytes."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from brokerweb.reports.models import Report
from telemetry.reports import own_figures, parts, study_part
from telemetry.reports.deliveries import COLUMNS as DELIVERIES
from telemetry.reports.parts import Part
from telemetry.reports.request_charts import has_memory
from telemetry.systems.registry import telemetry_of

KEPT = 16
"""Maximum number of cached results, most recently viewed: up to some 500 kB each with 250 configurations."""
LONG = 15
"""Configurations in a table from which on it is laid out when it is scrolled to: it is as high as a screen then."""
A_PAGE = 50
"""Configurations per page: more, in three tables, take the browser longer to lay out than the rest of the page."""


@lru_cache(maxsize=KEPT)
def rendered(report_id: str, ended_at: datetime | None, number: str, *, may_change: bool) -> tuple[SafeString, int]:
    """The page below its header, with the page ``number`` (or nearest) of its configurations, and the number of runs.

    ``ended_at`` distinguishes results computed again under the same id.
    """
    result: dict[str, Any] = Report.objects.values_list("result", flat=True).get(pk=report_id)
    charts = result.get("charts") or []
    configurations = result.get("configurations") or []
    page = Paginator(configurations, A_PAGE).get_page(number)
    context = {
        "parts": [_shown(part, page) for part in parts.parts(configurations, charts)],
        "shared": parts.laid_out(parts.shared(charts)),
        "drawn": {chart["id"]: chart for chart in charts},
        "page": page,
        "request": HttpRequest(),  # the page number is the only parameter of the URL
        "address": f"/api/reports/{report_id}/configurations/",
        "notes": result.get("notes") or [],
        "studies": study_part.shown(result.get("studies") or []),
        "may_change": may_change,
    }
    return render_to_string("reports/contents.html", context), len((result.get("provenance") or {}).get("runs", ()))


def _shown(part: Part, page: Page[Any]) -> dict[str, Any]:
    """A part with those of its configurations that are on this page, each with its number in the part's charts."""
    here = {id(row) for row in page}
    rows = [(number, row) for number, row in enumerate(part.rows, start=1) if id(row) in here]
    nearest = [row for _, row in rows if row["published"] and not row["published"]["same"]]
    return {
        "part": part,
        "rows": rows,
        "is_long": len(rows) >= LONG,
        "has_requests": any(row["outcomes"].get("requests") for row in part.rows),
        "has_truth": bool(rows) and bool(rows[0][1].get("truth")),
        "delivery_columns": DELIVERIES if any("deliveries" in row for row in part.rows) else {},
        "own_columns": own_figures.columns(part.rows),
        "has_memory": has_memory(part.rows),
        "nearest": nearest,
        "nearest_in": telemetry_of(nearest[0]).published_in if nearest else "",
    }
