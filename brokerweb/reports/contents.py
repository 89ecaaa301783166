"""What a page shows of a report's result, rendered once: it never changes, and may have megabytes."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from brokerweb.reports.models import Report

KEPT = 8
"""Rendered results in memory, the latest looked at: up to some 2 MB each of 250 configurations."""


@lru_cache(maxsize=KEPT)
def rendered(report_id: str, ended_at: datetime | None, *, may_change: bool) -> SafeString:
    """The part of the page below its head. ``ended_at`` tells apart what was computed anew under the same id."""
    result: dict[str, Any] = Report.objects.values_list("result", flat=True).get(pk=report_id)
    charts = result.get("charts") or []
    configurations = result.get("configurations") or []
    context = {
        "figures": [chart for chart in charts if chart["id"].startswith("figure-")],
        "charts": [chart for chart in charts if not chart["id"].startswith("figure-")],
        "drawn": {chart["id"]: chart for chart in charts},
        "configurations": configurations,
        "address": f"/api/reports/{report_id}/configurations/",
        "nearest": [row for row in configurations if row["published"] and not row["published"]["same"]],
        "notes": result.get("notes") or [],
        "may_change": may_change,
    }
    return render_to_string("reports/contents.html", context)
