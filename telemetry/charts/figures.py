"""The HTML around a chart, the same on a page and in the file of a report; ``static/js/report.js`` draws into it."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from telemetry.charts.charts import Chart
from telemetry.charts.points import table
from telemetry.templating import render

ALL, PUBLISHED, BOTH = "all", "published", "both"
"""Which series are drawn, and how: all, with the notes below; those that were published, as the paper draws them; all
over the published ones, with the remark above."""


def figure(chart: Chart, mode: str = ALL, width: str = "", *, with_data: bool = False) -> Markup:
    """``width`` is a class of the page's grid, such as ``span-6``. ``with_data`` adds the points as a table for a
    browser that runs no scripts."""
    data = table(chart) if with_data else None
    return Markup(render("charts/figure.html", chart=chart, mode=mode, width=width, data=data))  # noqa: S704 rendered


def by_id(charts: Iterable[Chart]) -> dict[str, Chart]:
    """What ``report.js`` reads from the page's element ``charts``."""
    return {chart["id"]: chart for chart in charts}
