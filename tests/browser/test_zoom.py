"""A drag over a chart shows that part of it, on all charts of the same time; a finger scrolls the page instead."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, Page, StorageState, expect

from tests.browser.conftest import WIDE, Shown, both_widths
from tests.waiting import BOUND_MS

DRAWN = "[data-experiment-chart] [data-plot] svg path"


def drag(page: Page, plot: Locator, begin: tuple[float, float], end: tuple[float, float]) -> None:
    """From one place of the plot to another, as shares of its width and height."""
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (begin, end)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move((places[0][0] + places[1][0]) / 2, (places[0][1] + places[1][1]) / 2)
    page.mouse.move(*places[1])
    page.mouse.up()


def names_of(page: Page) -> list[str]:
    """What stands along the axis of the experiment's chart."""
    return [text for text in page.locator("[data-experiment-chart] svg text").all_text_contents() if " of 10" in text]


@both_widths
def test_the_charts_of_a_run_show_the_time_dragged_over_until_it_is_reset(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-done"])
    page.wait_for_selector("html[data-usable]", state="attached")
    over = page.locator("[data-chart=latency] .u-over")
    expect(page.locator("[data-chart=latency] [data-plot]:not([data-empty])")).to_be_visible()
    reset = page.get_by_role("button", name="Reset zoom")
    expect(reset).to_have_count(0)
    drag(page, over, (0.3, 0.5), (0.6, 0.5))
    expect(reset).to_have_count(page.locator("[data-chart]").count())  # all show the same time
    reset.last.click()
    expect(reset).to_have_count(0)
    drag(page, over, (0.3, 0.5), (0.6, 0.5))
    expect(reset.first).to_be_visible()
    over.dblclick()
    expect(reset).to_have_count(0)
    over.click()  # a click is no drag
    expect(reset).to_have_count(0)


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_part_of_an_experiments_chart_is_dragged_over_and_left_again(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["experiment"])
    page.wait_for_selector(DRAWN, state="attached")
    plot = page.locator("[data-experiment-chart] [data-plot]")
    assert sorted(names_of(page)) == ["Full mesh of 10", "Ring of 10"]
    drag(page, plot, (0.1, 0.2), (0.4, 0.8))
    reset = page.get_by_role("button", name="Reset zoom")
    expect(reset).to_be_visible()
    assert names_of(page) == ["Full mesh of 10"]
    plot.dblclick()
    expect(reset).to_be_hidden()
    assert sorted(names_of(page)) == ["Full mesh of 10", "Ring of 10"]


def test_a_finger_on_a_chart_scrolls_the_page(chromium: Browser, shown: Shown, session: StorageState) -> None:
    screen = {"width": 390, "height": 700}
    with chromium.new_context(viewport=screen, has_touch=True, is_mobile=True, storage_state=session) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.set_default_timeout(BOUND_MS)
        page.goto(shown.url + shown.addresses["experiment"])
        page.wait_for_selector(DRAWN, state="attached")
        page.locator("[data-experiment-chart] [data-plot]").scroll_into_view_if_needed()
        box = page.locator("[data-experiment-chart] [data-plot]").bounding_box()
        assert box is not None
        x, y, before = box["x"] + 200, box["y"] + 200, page.evaluate("scrollY")
        touch = context.new_cdp_session(page)
        touch.send("Input.synthesizeScrollGesture", {"x": x, "y": min(y, 600), "yDistance": -200, "speed": 4000})
        page.wait_for_function(f"scrollY > {before}")
        expect(page.get_by_role("button", name="Reset zoom")).to_have_count(0)
