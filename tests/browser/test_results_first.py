"""What came of it is seen first: on a run, an experiment and a query; and what can be chosen is chosen, not typed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Shown, answer_yes, both_widths
from tests.browser.looking import serious


def top_of(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box["y"] + float(page.evaluate("scrollY"))


@both_widths
def test_the_first_screen_of_a_run_holds_its_state_and_key_figures(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-done"])
    page.wait_for_selector("html[data-usable]", state="attached")
    figures = page.get_by_role("region", name="Result")
    expect(figures).to_contain_text(re.compile("Answered.*88.1.*141 of 160", re.DOTALL))
    box = figures.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900
    assert top_of(page, "#figures") < top_of(page, ".page-parts") < top_of(page, "#charts") < top_of(page, "#brokers")
    # What tells how it was made is folded, at the end, and a link there opens it.
    about = page.locator("#about")
    expect(about.get_by_text("Configuration", exact=True)).to_be_hidden()
    page.get_by_role("link", name="About this run").click()
    expect(about.get_by_text("Seed", exact=True)).to_be_visible()
    expect(page.get_by_role("navigation", name="On this page")).to_be_in_viewport()
    assert serious(page) == []


def test_an_experiment_shows_the_figure_that_is_chosen_and_keeps_it_in_the_address(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["experiment"])
    chart = page.locator("[data-experiment-chart]")
    expect(chart.locator("svg path").first).to_be_attached()
    expect(chart.get_by_role("heading")).to_contain_text("95th percentile against topology")
    keys = chart.locator("[data-legend] button")
    expect(keys).to_have_count(4)
    marks = chart.locator("[data-legend] [data-mark]")
    assert len({mark.get_attribute("d") for mark in marks.all()}) == 4, "each series has a mark of its own"
    chart.get_by_label("Figure", exact=True).select_option("messages_per_query")
    expect(chart.get_by_role("heading")).to_contain_text(re.compile("messages per query", re.IGNORECASE))
    expect(page).to_have_url(re.compile("metric=messages_per_query"))
    page.goto(page.url)
    expect(chart.get_by_role("heading")).to_contain_text(re.compile("messages per query", re.IGNORECASE))
    expect(chart.get_by_label("Figure", exact=True)).to_have_value("messages_per_query")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert serious(page) == []


@both_widths
def test_the_sequence_comes_before_the_walk(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["query"])
    expect(page.locator("#sequence svg")).to_be_visible()
    assert top_of(page, "#sequence") < top_of(page, "#walk") < top_of(page, "#steps")


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_what_if_offers_the_values_that_a_setting_can_have(page: Page, shown: Shown) -> None:
    answer_yes(page)
    page.goto(shown.url + shown.addresses["what-if"])
    setting, value = page.locator("[name=setting]"), page.locator("[name=value]:enabled")
    setting.select_option("walk_policy")
    expect(value).to_have_count(1)
    offered = value.locator("option").all_inner_texts()
    assert {"uniform", "avoid", "backtrack"} <= {word.removesuffix(" (current)") for word in offered}
    assert sum(word.endswith("(current)") for word in offered) == 1
    expect(value.locator("option:checked")).not_to_contain_text("current")
    setting.select_option("walk_ttl")
    expect(value).to_have_js_property("tagName", "INPUT")
    setting.select_option("search")
    value.select_option("flood")
    page.get_by_role("button", name="Run with this change").click()
    expect(page.get_by_role("link", name=re.compile("^what if: "))).to_contain_text("flood")
    page.get_by_role("button", name="Cancel run").click()
    expect(page.locator("#state")).to_have_text("cancelled")
