"""The page of a network that was watched for days: its charts by range and broker, its alarms, its slow queries."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Shown
from tests.thorough import thoroughly


@thoroughly
@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_charts_follow_their_address_and_lists_lead_to_walks(page: Page, shown: Shown) -> None:
    address = shown.url + shown.addresses["network"]
    page.goto(f"{address}?range=1d&of=0#course")
    course = page.locator("#course")
    expect(course.locator("[data-plot]:not([data-empty])")).to_have_count(6)
    expect(course.get_by_role("button", name="1 d", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(course.locator("[data-chart=memory] .value")).to_have_text(re.compile(r"^7\.\d+\sMB$"))
    course.get_by_role("button", name="14 d").click()
    expect(page).to_have_url(re.compile(r"\?range=14d&of=0#course$"))
    course.get_by_label("Brokers").select_option("")
    expect(page).to_have_url(re.compile(r"\?range=14d#course$"))
    load = course.locator("[data-chart=load]")
    load.get_by_role("button", name="answers").click()
    expect(load.locator("[data-legend]")).to_contain_text("queries answered")
    with page.expect_download() as file:
        load.get_by_role("button", name="CSV").click()
    assert file.value.path().read_text().startswith("unix_s,answers_per_s\n")
    expect(page.locator("#alarm-states .state-failed").first).to_have_text("firing")
    page.locator("#slow").get_by_role("link", name="Trace again").last.click()
    expect(page).to_have_url(re.compile(r"\?trace=yes&type=room&entity=r1&scope=temp#ask$"))
    expect(page.get_by_label("Entity", exact=True)).to_have_value("r1")
    expect(page.get_by_label(re.compile("Dry"))).to_be_checked()
