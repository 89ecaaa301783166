"""An operator's pages in a browser: what moves leaves the focus alone, and forms say what they mean as one types."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PASSWORD, Complaints, Shown, both_widths, log_in


def test_the_keyboard_stays_where_it_was_while_the_home_page_moves(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/")
    last = page.locator("#now a").last
    last.focus()
    address = last.get_attribute("href")
    with page.expect_response("**/now/"):
        pass
    page.wait_for_function("href => document.activeElement.getAttribute('href') === href", arg=address)


def test_a_schedule_is_made_by_keyboard_and_says_its_hours_as_they_are_typed(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/schedules/new/")
    said = page.locator("#hours-preview")
    expect(said).to_contain_text("Mondays at 06:00, UTC.")
    page.get_by_label("Crontab").fill("30 1 * * 1-5")
    expect(said).to_contain_text("Mondays to Fridays at 01:30, UTC.")
    page.get_by_label("Crontab").fill("99 1 * * 1-5")
    expect(said).to_contain_text("Cannot be read")
    page.get_by_role("button", name="every day at 03:00").press("Enter")
    expect(said).to_contain_text("Every day at 03:00, UTC.")
    expect(page.get_by_label("Crontab")).to_be_focused()
    name = f"By keyboard at {page.viewport_size['width'] if page.viewport_size else 0}"
    page.get_by_label("Name", exact=True).fill(name)
    page.locator("[name=experiments]").first.press("Space")
    page.get_by_role("button", name="Create schedule").press("Enter")
    expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name=f"Delete {name}").click()
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)


def test_what_a_rule_would_remove_is_told_before_it_is_saved_and_taken_back(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/storage/")
    told = page.locator("#policy-preview")
    expect(told).to_contain_text("Nothing is deleted")
    page.get_by_label("Delete files of runs older than").fill("36500")
    expect(told).to_contain_text("Nothing would be deleted now.")
    page.get_by_label("Delete files of runs older than").fill("never")
    expect(told).to_contain_text(re.compile("Max days: must be a number"))
    page.get_by_label("Delete files of runs older than").fill("36500")
    page.get_by_label("Delete files of runs older than").press("Enter")
    expect(page.get_by_text("Set by olga")).to_be_visible()
    expect(page.get_by_label("Delete files of runs older than")).to_have_value("36500")
    page.get_by_label("Delete files of runs older than").fill("")
    page.get_by_role("button", name="Save").click()
    expect(told).to_contain_text("Nothing is deleted")


@both_widths
def test_the_queue_is_paused_and_goes_on(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/runs/")
    page.get_by_role("button", name="Pause queue").click()
    expect(page.get_by_text("queue paused", exact=True)).to_be_visible()
    page.get_by_role("button", name="Resume queue").click()
    expect(page.get_by_role("button", name="Pause queue")).to_be_visible()


def test_a_password_is_changed_and_the_next_log_in_takes_the_new_one(chromium: Browser, shown: Shown) -> None:
    complaints, will_be = Complaints(expected="400 (Bad Request)"), "battery staple 42"
    with chromium.new_context(viewport={"width": 390, "height": 900}, reduced_motion="reduce") as context:
        page = log_in(context, shown.url, "vera", PASSWORD)
        complaints.listen(page, shown.url)
        page.goto(f"{shown.url}/account/")
        page.get_by_role("link", name="Change your password").click()
        fill(page, "something else", will_be)
        page.get_by_role("button", name="Change password").click()
        expect(page.get_by_text("Your old password was entered incorrectly")).to_be_visible()
        fill(page, PASSWORD, will_be)
        page.keyboard.press("Enter")
        expect(page.locator("#toasts")).to_contain_text("Password changed")
    with chromium.new_context() as context:
        log_in(context, shown.url, "vera", will_be)
    assert complaints.said == []


def fill(page: Page, was: str, will_be: str) -> None:
    page.get_by_label("Old password").fill(was)
    for field in ("New password", "New password confirmation"):
        page.get_by_label(field, exact=True).fill(will_be)
