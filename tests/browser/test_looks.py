"""Series of one chart are told apart without their colour, no interval covers another, axes can be read."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from telemetry.charts.charts import axis, chart, point, series
from telemetry.charts.standalone import POLICY
from telemetry.reports.html import render
from tests.browser.conftest import WIDE, Shown

KINDS = ("ring", "full-mesh", "waxman", "central")
DRAW = """async (chart) => {
  const { EstimateChart } = await import('/static/js/estimates.js');
  const figure = document.querySelector('[data-experiment-chart]');
  new EstimateChart(figure, { ...chart, told: true }, chart.x.log || chart.y.log);
}"""


def crowded(*, log: bool) -> dict[str, Any]:
    """Four topologies with nearly the same figures at the same numbers of consumers."""
    places = ((50, 1_000), (250, 1_400), (500, 1_900))
    lines = [
        series(kind, "measured", kind, [point(x, y + at, low=0.8 * y, high=1.2 * y, n=3) for x, y in places])
        for at, kind in enumerate(KINDS)
    ]
    return chart("lines", "Response time", axis("consumers"), axis("Response time", "µs", log=log), lines)


def drawn(page: Page, shown: Shown, *, log: bool) -> None:
    page.goto(shown.url + shown.addresses["experiment"])
    page.wait_for_selector("[data-experiment-chart] [data-plot] svg path", state="attached")
    page.evaluate(DRAW, crowded(log=log))


@pytest.mark.parametrize("page", [WIDE], indirect=True)
@pytest.mark.parametrize("log", [True, False], ids=["log", "linear"])
def test_each_line_has_a_mark_and_a_dash_its_intervals_stand_apart_and_ticks_are_enough(
    page: Page, shown: Shown, log: bool
) -> None:
    drawn(page, shown, log=log)
    legend = page.locator("[data-experiment-chart] [data-legend]")
    for what, name in (("[data-mark]", "d"), ("line", "stroke-dasharray")):
        looks = [one.get_attribute(name) for one in legend.locator(what).all()]
        assert len(looks) == len(set(looks)) == 4, what
    paths = page.locator("[data-experiment-chart] [data-plot] svg path").all()
    bars = [path.get_attribute("d") or "" for path in paths if (path.get_attribute("d") or "").count("M") >= 9]
    assert len(bars) == 4, "one path for the intervals of each series"
    for place in range(3):
        # Of each interval: its bar, its cap below, its cap above.
        caps = sorted(
            tuple(map(float, re.findall(r"[ML]\s*([\d.]+)", "M" + bar.split("M")[3 * place + 2]))) for bar in bars
        )
        assert all(left[1] < right[0] for left, right in pairwise(caps)), caps
    texts = page.locator("[data-experiment-chart] [data-plot] svg text").all_text_contents()
    assert len([text for text in texts if re.search(r"\d\s*(ms|µs)$", text)]) >= 4
    assert len([text for text in texts if re.fullmatch(r"\d+", text)]) >= 4


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_logarithmic_axis_ends_near_its_values_and_names_them_along_x_as_well(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["experiment"])
    page.wait_for_selector("[data-experiment-chart] [data-plot] svg path", state="attached")
    places = (10, 20, 50, 100, 200)
    lines = [series(kind, "simulated", kind, [point(x, 750 + 7.5 * x) for x in places]) for kind in ("walk", "flood")]
    described = chart("log", "", axis("Brokers", log=True), axis("Response time", "µs", log=True), lines)
    page.evaluate(DRAW, described)
    texts = page.locator("[data-experiment-chart] [data-plot] svg text").all_text_contents()
    assert [text for text in texts if text.isdigit()] == [str(place) for place in places]
    assert [text for text in texts if re.search(r"\d\s(ms|µs)$", text)][-1] == "3\u202fms", "and not 5"
    page.evaluate(DRAW, {**described, "y": axis("Messages")})
    texts = page.locator("[data-experiment-chart] [data-plot] svg text").all_text_contents()
    assert {"20", "50", "100"} <= set(texts), "also where only x is logarithmic"


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_many_categories_with_names_of_their_own_are_not_numbered_and_a_unit_is_written_once(
    page: Page, shown: Shown
) -> None:
    page.goto(shown.url + shown.addresses["experiment"])
    page.wait_for_selector("[data-experiment-chart] [data-plot] svg path", state="attached")
    names = [f"on a graph of {number} brokers" for number in range(12)]
    line = series("tree", "simulated", "tree", [point(x, 2 + x) for x in range(12)])
    x, y = axis("Topology", categories=names, named=True), axis("Time", "s", zero=True)
    page.evaluate(DRAW.replace("told: true", "told: false"), chart("named", "", x, y, [line]))
    texts = page.locator("[data-experiment-chart] [data-plot] svg text").all_text_contents()
    assert any(text.startswith("on a graph") for text in texts)
    assert "Time, s" in texts and not [text for text in texts if re.search(r"\d\s?s$|number in", text)]


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_both_ends_of_a_logarithmic_axis_are_ticks_where_there_is_room(page: Page, shown: Shown) -> None:
    page.goto(shown.url)
    ask = "(ends) => import('/static/js/echart.js').then(({ decades }) => decades(...ends).axisLabel.customValues)"
    found = {ends: page.evaluate(ask, list(ends)) for ends in ((260, 2_200), (790, 2_200), (3, 90_000), (5, 5))}
    assert found == {
        (260, 2_200): [200, 500, 1_000, 2_000, 3_000],
        (790, 2_200): [700, 1_000, 1_500, 2_000, 3_000],
        (3, 90_000): [2, 10, 100, 1_000, 10_000, 100_000],
        (5, 5): [5, 10, 20, 50],
    }


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_the_file_of_a_report_draws_each_chart_as_its_page_does(
    page: Page, shown: Shown, chromium: Browser, tmp_path: Path
) -> None:
    """From a disk, under its own content policy, which lets it reach nothing."""
    page.goto(shown.url + shown.addresses["report"])
    on_the_page = {name: looks_of(page, name) for name in CHARTS}
    file = tmp_path / "report.html"
    file.write_text(render(page.request.get(f"{shown.url}{shown.addresses['report']}report.json").json()))
    said: list[str] = []
    with chromium.new_context(viewport=page.viewport_size) as context:
        alone = context.new_page()
        alone.on("console", lambda message: said.append(message.text))
        alone.goto(file.as_uri())
        assert {name: looks_of(alone, name) for name in CHARTS} == on_the_page
        with alone.expect_download() as download:
            alone.locator("[data-report-chart=memory]").get_by_role("button", name="PNG").click()
    assert (download.value.suggested_filename, said) == ("memory.png", [])


CHARTS = ("response-time", "percentiles", "memory", "figure-4.3")


def looks_of(page: Page, name: str) -> dict[str, list[str | None]]:
    """Names, marks and dashes of the legend, and the ticks that have a unit."""
    figure = page.locator(f"[data-report-chart='{name}']").last
    figure.scroll_into_view_if_needed()
    figure.locator("svg text").first.wait_for(state="attached")
    legend, ticks = figure.locator("[data-legend]"), figure.locator("[data-plot] svg text").all_text_contents()
    return {
        "names": [*legend.get_by_role("button").all_text_contents()],
        "marks": [one.get_attribute("d") for one in legend.locator("[data-mark]").all()],
        "filled": [one.get_attribute("data-mark") for one in legend.locator("[data-mark]").all()],
        "dashes": [one.get_attribute("stroke-dasharray") for one in legend.locator("line").all()],
        "ticks": sorted(text for text in ticks if re.search(r"\d\s(µs|ms|kB|MB|%)$", text)),
    }


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_themes_of_the_file_change_without_a_place_to_keep_them(page: Page, shown: Shown) -> None:
    """As its address serves it: in a sandbox, which has no storage."""
    result = page.request.get(f"{shown.url}{shown.addresses['report']}report.json").json()
    headers = {"Content-Security-Policy": f"sandbox allow-scripts allow-downloads; {POLICY}"}
    page.route(
        "**/report-file", lambda route: route.fulfill(body=render(result), content_type="text/html", headers=headers)
    )
    page.goto(f"{shown.url}/report-file")
    line = page.locator("[data-report-chart=response-time] svg text").first
    line.wait_for(state="attached")
    light = line.get_attribute("fill") or line.get_attribute("style")
    page.get_by_role("button", name="Dark").click()
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    assert (line.get_attribute("fill") or line.get_attribute("style")) != light


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_on_paper_all_charts_are_drawn_light_and_as_wide_as_the_paper(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["report"])
    page.wait_for_selector("[data-plot] svg text", state="attached")
    page.get_by_role("button", name="Dark").click()
    ask = (
        "[...document.querySelectorAll('[data-plot]')].map((plot) => plot.querySelector('svg')?.getAttribute('width'))"
    )
    assert None in page.evaluate(ask), "those far down are drawn when they come into view"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.bsTheme") == "light"
    assert {float(width) <= 680 for width in page.evaluate(ask)} == {True}
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")


def test_a_reader_without_scripts_has_the_points_as_tables(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    empty = {"runs": [], "created": "2026-11-25T08:00"}
    file.write_text(
        render({"title": "Four", "configurations": [], "notes": [], "charts": [crowded(log=True)], "provenance": empty})
    )
    with chromium.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(file.as_uri())
        rows = page.locator("[data-report-chart=lines] tbody tr")
        expect(rows).to_have_count(12)
        assert rows.first.locator("td").all_text_contents() == [
            "ring",
            "50",
            "1.00\u202fms",
            "800\u202fµs to 1.20\u202fms",
            "3",
        ]
        expect(page.locator("[data-report-chart=lines] [data-plot]")).to_be_hidden()
