"""The list of runs in a browser: by keyboard alone, with shift, and whatever opens over it, wide and narrow."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Shown
from tests.browser.looking import serious


@pytest.fixture
def page(page: Page, shown: Shown) -> Page:
    """The list."""
    page.goto(f"{shown.url}/runs/?q=state+%3D+done&sort=-p95")
    return page


def test_by_keyboard_alone_a_filter_is_typed_rows_are_chosen_and_compared(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Filter")).to_be_focused()
    page.keyboard.type("state = done and p95 > 0")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"q=state\+%3D\+done\+and\+p95\+%3E\+0&sort=-p95"))
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("[data-chosen]")).to_have_text("2 chosen")
    page.keyboard.press("c")
    expect(page).to_have_url(re.compile(r"/compare/\?runs=\w+%2C\w+"))


def test_rows_are_chosen_with_shift_and_what_would_happen_is_shown_first(page: Page) -> None:
    boxes = page.locator("[data-select]")
    boxes.nth(1).check()
    boxes.nth(4).click(modifiers=["Shift"])
    expect(page.locator("[data-chosen]")).to_have_text("4 chosen")
    assert serious(page) == []
    page.get_by_label("What to do with the chosen runs").select_option("tag")
    page.get_by_label("Tag", exact=True).fill("by-hand")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("Put the tag by-hand on 4 runs: 4 done.")).to_be_visible()
    page.get_by_role("link", name="Leave them as they are").click()
    expect(page).to_have_url(re.compile(r"/runs/\?q=state\+%3D\+done&sort=-p95$"))
    expect(page.get_by_role("link", name="#by-hand")).to_have_count(0)


def test_columns_views_help_and_labels_open_in_their_place(page: Page) -> None:
    page.get_by_text("What a filter may say").click()
    page.get_by_role("button", name="hops < 10").click()
    expect(page.get_by_role("searchbox", name="Filter")).to_have_value("state = done and hops < 10")
    assert serious(page) == []

    page.get_by_role("button", name=re.compile("^Tags and note of")).first.click()
    expect(page.get_by_label("Tags", exact=True)).to_be_focused()
    page.get_by_label("Tags", exact=True).fill("two%words")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("is no tag")
    page.get_by_role("button", name="Leave as it was").click()
    expect(page.get_by_label("Tags", exact=True)).to_have_count(0)

    page.get_by_role("button", name="Columns").click()
    page.get_by_label("p99", exact=True).check()
    assert serious(page) == []
    page.get_by_role("button", name="Show these columns").click()
    expect(page.locator("[data-label='p99']").first).to_be_visible()
    page.get_by_role("button", name="Views").click()
    assert serious(page) == []
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
