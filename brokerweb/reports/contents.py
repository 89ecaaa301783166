"""The rendered contents of a report's page, cached: a result never changes and may have megabytes."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from brokerweb.reports.models import Report
from overlay.systems.registry import servers_title
from telemetry.reports import own_figures
from telemetry.reports.comparison import has_memory
from telemetry.reports.deliveries import COLUMNS as DELIVERIES
from telemetry.systems.registry import telemetry_of

KEPT = 16
"""Maximum number of cached results, most recently viewed: up to some 500 kB each with 250 configurations."""
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
    nearest = [row for row in page if row["published"] and not row["published"]["same"]]
    context = {
        "figures": [chart for chart in charts if chart["id"].startswith("figure-")],
        "charts": [chart for chart in charts if not chart["id"].startswith("figure-")],
        "drawn": {chart["id"]: chart for chart in charts},
        "page": page,
        "has_requests": any(row["outcomes"].get("requests") for row in configurations),
        "has_deliveries": any("deliveries" in row for row in configurations),
        "delivery_columns": DELIVERIES,
        "own_columns": own_figures.columns(configurations),
        "has_memory": has_memory(configurations),
        "request": HttpRequest(),  # the page number is the only parameter of the URL
        "address": f"/api/reports/{report_id}/configurations/",
        "servers": servers_title(row.get("system", "") for row in configurations),
        "nearest": nearest,
        "nearest_in": telemetry_of(nearest[0]).published_in if nearest else "",
        "notes": result.get("notes") or [],
        "studies": result.get("studies") or [],
        "may_change": may_change,
    }
    return render_to_string("reports/contents.html", context), len((result.get("provenance") or {}).get("runs", ()))
