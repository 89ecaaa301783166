"""Series of one chart are told apart without their colour, no interval covers another, axes can be read."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page

from telemetry.charts.charts import axis, chart, point, series
from telemetry.reports.html import render
from tests.browser.conftest import WIDE, Shown

KINDS = ("ring", "full-mesh", "waxman", "central")
DRAW = """async (chart) => {
  const { EstimateChart } = await import('/static/js/estimates.js');
  const figure = document.querySelector('[data-experiment-chart]');
  new EstimateChart(figure, { ...chart, told: true }, chart.y.log);
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
def test_so_it_is_in_the_file_of_a_report(page: Page, shown: Shown) -> None:
    result = page.request.get(f"{shown.url}{shown.addresses['report']}report.json").json()
    page.set_content(render({**result, "charts": [crowded(log=True)]}))
    page.wait_for_selector("#lines svg path", state="attached")
    looks = page.evaluate(
        "echarts.getInstanceByDom(document.querySelector('#lines .plot')).getOption().series"
        ".filter((one) => one.type === 'line').map((one) => [one.symbol, String(one.lineStyle.type)])"
    )
    assert len({mark for mark, _ in looks}) == len({dash for _, dash in looks}) == len(looks) == 4
    bars = page.evaluate(
        "echarts.getInstanceByDom(document.querySelector('#lines .plot')).getOption().series"
        ".filter((one) => one.type === 'custom').map((one) => one.data.map(([x]) => x))"
    )
    assert all(len({bar[place] for bar in bars}) == 4 for place in range(3))
    texts = page.locator("#lines svg text").all_text_contents()
    assert len([text for text in texts if re.fullmatch(r"[\d,]+00", text)]) >= 4
