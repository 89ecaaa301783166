"""Ctrl-K finds anything by its name, by keyboard and by touch, wide and narrow; Escape gives the page back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Complaints, Shown, both_widths
from tests.browser.looking import serious


def opened_on(page: Page, address: str, shown: Shown) -> None:
    page.goto(shown.url + address)
    page.wait_for_selector("html[data-usable]", state="attached")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Search by name")).to_be_visible()


def test_a_name_is_typed_chosen_by_the_arrows_and_opened(page: Page, shown: Shown) -> None:
    opened_on(page, "/runs/", shown)
    box = page.get_by_role("combobox", name=re.compile("by name$"))
    expect(box).to_be_focused()
    page.keyboard.type("ring of")
    expect(page.locator("#palette").get_by_role("listbox")).to_have_attribute("aria-busy", "false")
    options = page.locator("#palette").get_by_role("option")
    expect(options.filter(has_not_text=re.compile("ring", re.IGNORECASE))).to_have_count(0)
    expect(options.nth(1)).to_be_visible()
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")  # from the first to the last
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")  # and back
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == options.nth(1).get_attribute("id")
    options.filter(has_text=re.compile(r"Ring of \d+")).first.hover()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Ring of")


def test_an_action_is_found_by_what_one_would_call_it(page: Page, shown: Shown) -> None:
    opened_on(page, "/", shown)
    page.keyboard.type("deploy")
    page.locator("#palette").get_by_role("option", name=re.compile("Deploy a network")).click()
    page.wait_for_url(f"{shown.url}/networks/new/")


def test_enter_opens_what_was_typed_though_its_answer_is_still_on_its_way(page: Page, shown: Shown) -> None:
    opened_on(page, "/", shown)
    page.keyboard.type("deploy")
    page.keyboard.press("Enter")  # at once: the list still shows what the empty text found
    page.wait_for_url(f"{shown.url}/networks/new/")


def test_the_focus_stays_within_and_escape_gives_it_back(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/runs/")
    page.wait_for_selector("html[data-usable]", state="attached")
    place = page.get_by_role("button", name="Export")
    place.focus()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_visible()
    for _ in range(4):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('#palette')")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    expect(place).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_hidden()


@both_widths
def test_it_says_that_nothing_fits_and_can_be_read_by_all(page: Page, shown: Shown) -> None:
    opened_on(page, "/topologies/", shown)
    expect(page.locator("#palette").get_by_role("option").first).to_be_visible()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.keyboard.type("no such thing")
    expect(page.locator("#palette-says")).to_contain_text("No results")
    expect(page.get_by_role("combobox", name=re.compile("by name$"))).to_have_attribute("aria-expanded", "false")


@both_widths
def test_the_rail_opens_it_and_the_list_of_keys_names_it(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/")
    page.wait_for_selector("html[data-usable]", state="attached")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("search by name")
    page.keyboard.press("Escape")
    page.locator("[data-palette-open]").click()
    expect(page.locator("#palette")).to_be_visible()
    page.get_by_role("button", name="Close").last.click()
    expect(page.locator("#palette")).to_be_hidden()


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_what_the_search_refuses_is_said(page: Page, shown: Shown, complaints: Complaints) -> None:
    complaints.expected = "400 (Bad Request)"
    opened_on(page, "/", shown)
    page.keyboard.type("a b c d e f g h i")
    expect(page.locator("#palette-says")).to_contain_text("at most 8 words")
