"""Runs are compared: by mouse, by keyboard alone, wide and narrow, light and dark; and a link is the view."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree.ElementTree import fromstring

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NARROW, WIDE, Complaints, Shown, both_widths
from tests.browser.looking import serious

ALL = "/compare/?q=state+%3D+done"


@pytest.fixture
def complaints() -> Complaints:
    """That an answer is a 400 the browser says by itself."""
    return Complaints(expected="400 (Bad Request)")


def chart(page: Page) -> Locator:
    return page.locator("[data-compare]")


def drawn(page: Page, title: str) -> None:
    """The chart of this title has something in it."""
    chart(page).scroll_into_view_if_needed()
    expect(chart(page).locator("[data-title]")).to_contain_text(title)
    expect(chart(page).locator("[data-plot] svg path").first).to_be_attached()


def asked(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def too_wide(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def test_from_the_first_link_to_a_pinned_baseline_and_back_by_its_address(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/compare/")
    page.get_by_role("link", name="All live runs").click()
    expect(page.get_by_role("heading", name="Varied parameters")).to_be_visible()
    drawn(page, "against topology")
    for choice, title in (
        ("Boxes", "against configuration"),
        ("Heat map", "and brokers"),
        ("Distribution", "answers"),
    ):
        chart(page).get_by_role("link", name=choice).click()
        drawn(page, title)
    expect(chart(page).get_by_role("button", name=re.compile("n = 3, band: their range"))).to_have_count(1)
    expect(chart(page).locator("[data-notes]")).to_contain_text("the range over the n replicates")
    with page.expect_download() as download:
        chart(page).get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "comparison-ecdf.csv"
    assert "x_low,x_high,n" in Path(download.value.path()).read_text()
    with page.expect_download() as download:
        chart(page).get_by_role("button", name="PNG").click()
    assert download.value.suggested_filename == "comparison-ecdf.png"
    with page.expect_download() as download:
        chart(page).get_by_role("button", name="SVG").click()
    assert fromstring(Path(download.value.path()).read_text()).tag.endswith("svg")
    page.get_by_role("link", name=re.compile("Pin as baseline +One central broker")).click()
    expect(page.locator(".is-baseline")).to_have_count(1)
    chart(page).get_by_role("link", name="Differences").click()
    drawn(page, "difference to the baseline")
    assert asked(page)["chart"] == ["difference"]
    page.goto(page.url)
    drawn(page, "difference to the baseline")
    expect(page.locator(".is-baseline")).to_contain_text("One central broker")


def test_the_key_of_what_was_simulated_is_a_ring(page: Page, shown: Shown) -> None:
    page.goto(shown.url + ALL)
    drawn(page, "against topology")
    legend = chart(page).locator("[data-legend]")
    ring = legend.get_by_role("button", name=re.compile("simulated")).first.locator("[data-mark]")
    expect(ring).to_have_attribute("data-mark", "hollow")
    dot = legend.get_by_role("button", name=re.compile("shaped")).first.locator("[data-mark]")
    expect(dot).to_have_attribute("data-mark", "filled")


def test_by_the_keyboard_alone(page: Page, shown: Shown) -> None:
    page.goto(shown.url + ALL)
    drawn(page, "95th percentile")
    page.keyboard.press("/")
    expect(page.get_by_label("Runs", exact=True)).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("topology in (ring, full-mesh) and state = done")
    page.keyboard.press("Enter")
    page.wait_for_url("**full-mesh**")
    drawn(page, "95th percentile")
    expect(page.locator("tr[data-row]", has_text="Full mesh").first).to_be_visible()
    expect(page.locator("tr[data-row]", has_text="central")).to_have_count(0)
    chart(page).get_by_role("link", name="Boxes").focus()
    page.keyboard.press("Enter")
    drawn(page, "against configuration")
    ring = chart(page).get_by_role("button", name=re.compile("^ring, shaped"))
    ring.focus()
    page.keyboard.press("Enter")
    expect(chart(page).locator("[data-legend] [aria-pressed=true]")).to_have_count(1)
    page.get_by_label("Figure", exact=True).focus()
    page.keyboard.type("Not found")
    expect(page.get_by_role("heading", name="Varied parameters")).to_be_visible()


def test_a_heat_map_says_its_intervals_in_words_and_takes_any_two_parameters(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/compare/?q=engine+%3D+live")
    drawn(page, "against topology")
    expect(page.get_by_label("Y axis (heat map)")).to_be_hidden()
    chart(page).get_by_role("link", name="Heat map").click()
    drawn(page, "and brokers")
    chart(page).get_by_text("Show as a table").click()
    expect(chart(page).get_by_role("row", name=re.compile("^10 "))).to_contain_text(re.compile(r"ms to .*\sms, n = 2"))
    page.get_by_label("Y axis (heat map)").select_option("Links")
    drawn(page, "and links")
    assert asked(page)["y"] == ["links"]
    expect(page.get_by_label("Y axis (heat map)")).to_have_value("links")


@pytest.mark.parametrize("page", [NARROW], indirect=True)
def test_a_chosen_scale_and_chart_stay_chosen_on_the_way(page: Page, shown: Shown) -> None:
    page.goto(shown.url + ALL)
    drawn(page, "95th percentile")
    chart(page).get_by_role("button", name="linear").click()
    chart(page).get_by_role("link", name="Boxes").click()
    page.get_by_role("link", name=re.compile("^Group *: Topology")).click()
    drawn(page, "against topology")
    expect(chart(page).get_by_role("button", name="linear")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Figure", exact=True).select_option("mean")
    drawn(page, "Mean response time against topology")
    found = asked(page)
    assert (found["log"], found["chart"], found["by"], found["metric"]) == (["0"], ["box"], ["topology"], ["mean"])
    assert "aggregate" not in found


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_figure_is_added_to_the_table_and_the_order_changed(page: Page, shown: Shown) -> None:
    page.goto(shown.url + ALL)
    page.get_by_text("More figures in the table").click()
    page.get_by_label("Median response time").check()
    page.get_by_role("button", name="Show selected figures").click()
    expect(page.locator("td[data-label='Median response time']").first).to_have_text(re.compile(r"\d.*(µs|ms)"))
    assert asked(page)["metric"] == ["p95", "p50"]


@pytest.mark.parametrize("page", [NARROW], indirect=True)
def test_what_cannot_be_read_stays_as_it_was_typed_with_a_sentence_below(page: Page, shown: Shown) -> None:
    page.goto(shown.url + ALL)
    page.get_by_label("Runs", exact=True).fill("p96 < 2ms")
    with page.expect_response(lambda answer: answer.status == 400):
        page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Unknown field “p96”")
    expect(page.get_by_label("Runs", exact=True)).to_have_value("p96 < 2ms")


@both_widths
def test_every_state_of_it_can_be_read_by_everybody_and_fits_the_screen(page: Page, shown: Shown) -> None:
    page.goto(shown.url + ALL)
    pin = page.get_by_role("link", name=re.compile("Pin as baseline")).first.get_attribute("href")
    for address in (ALL, f"/compare/{pin}&chart=difference", "/compare/?q=none+such"):
        page.goto(shown.url + address)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        if (figure := chart(page)).count():
            figure.scroll_into_view_if_needed()
            expect(figure.locator("svg").first).to_be_attached()
        assert too_wide(page) == 0, address
        assert serious(page) == [], address
