"""The keyboard alone: what ? lists, and that it all does what it says; toasts, dialogs, and a log-in that ends."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Complaints, Shown, both_widths

ROW_HERE = "document.activeElement.closest('[data-row]')?.sectionRowIndex ?? -1"


def go(page: Page, address: str, shown: Shown) -> None:
    page.goto(shown.url + address)
    page.wait_for_selector("html[data-usable]", state="attached")


@both_widths
def test_the_list_of_keys_opens_names_every_place_and_gives_the_focus_back(page: Page, shown: Shown) -> None:
    go(page, "/runs/", shown)
    place = page.get_by_role("button", name="Export")
    place.focus()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(keys).to_be_visible()
    for name in ("Home", "Topologies", "Runs", "Schedules"):
        expect(keys.locator("[data-keys-places] dd").get_by_text(name, exact=True)).to_be_visible()
    for _ in range(4):  # what is behind the list is not reached
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('#keys')")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    expect(place).to_be_focused()


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_g_and_a_letter_go_to_each_place_of_the_rail(page: Page, shown: Shown) -> None:
    go(page, "/", shown)
    places = page.locator("[data-go]")
    letters = places.evaluate_all("entries => entries.map((one) => [one.dataset.go, one.getAttribute('href')])")
    assert len(letters) == len({letter for letter, _ in letters}) >= 7
    for letter, address in letters:
        page.keyboard.press("g")
        page.keyboard.press(letter)
        page.wait_for_url(shown.url + address)
        page.wait_for_selector("html[data-usable]", state="attached")


def test_rows_are_gone_through_chosen_and_opened(page: Page, shown: Shown) -> None:
    go(page, "/runs/", shown)
    for key, row in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        assert page.evaluate(ROW_HERE) == row
    box = page.locator("[data-row]").nth(1).locator("[data-select]")
    if box.count():
        page.keyboard.press("x")
        expect(box).to_be_checked()
        page.keyboard.press("x")
        expect(box).not_to_be_checked()
    address = page.evaluate("document.activeElement.href")
    page.keyboard.press("Enter")
    page.wait_for_url(address)


def test_the_slash_leads_to_the_search_and_what_is_typed_there_stays_text(page: Page, shown: Shown) -> None:
    go(page, "/runs/", shown)
    page.keyboard.press("/")
    search = page.locator("[data-search]").first
    expect(search).to_be_focused()
    before = page.url
    page.keyboard.type("g j?x/c")
    expect(search).to_have_value("g j?x/c")
    expect(page.locator("#keys")).to_be_hidden()
    assert page.url == before


def test_single_keys_can_be_switched_off_and_stay_off(page: Page, shown: Shown) -> None:
    go(page, "/runs/", shown)
    page.keyboard.press("?")
    page.get_by_label("Enable shortcuts in this browser").uncheck()
    page.keyboard.press("Escape")
    go(page, "/runs/", shown)
    page.keyboard.press("j")
    assert page.evaluate(ROW_HERE) == -1
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


@both_widths
def test_the_first_tab_leads_past_the_rail(page: Page, shown: Shown) -> None:
    go(page, "/runs/", shown)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("!!document.activeElement.closest('main')")


@both_widths
def test_a_toast_says_what_was_done_and_takes_no_focus(page: Page, shown: Shown) -> None:
    go(page, "/account/", shown)
    page.get_by_label("Name", exact=True).fill("a script")
    page.get_by_role("button", name="Create token").click()
    copy = page.get_by_role("button", name="Copy")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copy.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Copied.")).to_have_count(1)
    expect(copy).to_be_focused()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#fresh-token").inner_text()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Revoke").first.click()
    toast = page.locator("#toasts .note").filter(has_text="Token revoked")
    expect(toast).to_be_visible()
    toast.get_by_role("button", name="Close this message").click()
    expect(toast).to_have_count(0)


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_log_in_that_ends_leads_back_to_the_page_or_keeps_what_was_typed(
    page: Page, shown: Shown, complaints: Complaints
) -> None:
    complaints.expected = "403"
    go(page, "/", shown)
    page.context.clear_cookies(name="sessionid")
    page.wait_for_url(re.compile(r"/login/\?next=%2F$"))  # the home page asks for its part every few seconds
    page.get_by_label("User name").fill("olga")
    page.get_by_label("Password").fill("correct horse")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{shown.url}/")

    go(page, "/topologies/new/?kind=ring", shown)
    page.context.clear_cookies(name="sessionid")
    name = "Typed before the log-in ended"
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Save topology").hover()
    page.mouse.down()
    expect(page.locator("#toasts .note").last).to_contain_text("You are logged out")  # right over the button
    page.mouse.up()
    expect(page.get_by_role("heading", name="You are logged out")).to_be_visible()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Log in in another tab").click()
    other = opened.value
    other.get_by_label("User name").fill("olga")
    other.get_by_label("Password").fill("correct horse")
    other.get_by_role("button", name="Log in").click()
    other.wait_for_url(f"{shown.url}/")
    page.go_back()
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    page.get_by_role("button", name="Save topology").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()


@pytest.mark.parametrize("address", ["/runs/", "/topologies/", "/experiments/"])
def test_back_from_a_filter_brings_back_the_box_with_the_list(page: Page, shown: Shown, address: str) -> None:
    go(page, address, shown)
    page.locator("#q").fill("ring")
    page.locator("#q").press("Enter")
    page.wait_for_url("**?q=ring*")
    page.go_back()
    page.wait_for_url(f"{shown.url}{address}")
    expect(page.locator("#q")).to_have_value("")
    page.go_forward()
    expect(page.locator("#q")).to_have_value("ring")
