"""What happens on links, set by hand: in the studio, and as a fault of an experiment."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Shown


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_link_is_given_copies_and_a_rate_in_the_studio_and_keeps_them(page: Page, shown: Shown) -> None:
    page.goto(shown.url + "/topologies/new/?kind=star")
    page.get_by_label("Name", exact=True).fill("Star with a narrow link")
    page.get_by_role("button", name="Save and edit").click()
    page.locator("#links-rows button").first.click()
    page.get_by_text("Bursts, duplicates, reordering, corruption and rate").click()
    page.get_by_label(re.compile("^Queue")).fill("70000.5")
    page.get_by_label(re.compile("^Duplication")).fill("0.25")
    page.get_by_label(re.compile("^Rate")).fill("20000")
    page.get_by_role("button", name="Apply to this link").click()
    expect(page.locator("#link-queue_bytes-wrong")).to_have_text("Must be a whole number.")
    page.get_by_label(re.compile("^Queue")).fill("70000")
    page.get_by_role("button", name="Apply to this link").click()
    words = "25 % duplicated, 20 kB/s with a queue of 70 kB"
    expect(page.locator("#links-rows tr").first).to_contain_text(words)
    page.get_by_role("button", name="Save as new version").click()
    expect(page.locator("#saved")).to_have_text(re.compile("saved$"))
    page.get_by_role("link", name="Star with a narrow link").click()
    expect(page.get_by_role("region", name="Links", exact=True)).to_contain_text(words)


def test_the_row_of_impaired_links_shows_what_they_may_do(page: Page, shown: Shown) -> None:
    page.goto(shown.url + "/experiments/new/")
    page.locator("details:has(#fault-rows) > summary").click()
    page.get_by_role("button", name="Add fault").click()
    row = page.locator("#fault-rows li")
    fields = row.get_by_role("group", name="Link conditions")
    expect(fields).to_be_hidden()
    row.locator("select[name=fault-what]").select_option("impaired")
    expect(fields.get_by_label(re.compile("^Duplication"))).to_be_visible()
    expect(fields.get_by_label(re.compile("^Partition"))).to_be_visible()
    expect(row.get_by_label("Target")).to_have_attribute("placeholder", "links: 0-1, 1-2 or all; one-way: 0>1")
    expect(row.locator("[data-amount]")).to_be_hidden()
