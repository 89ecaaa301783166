"""A run done again: exactly, with one thing changed, or because it failed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Complaints, Shown, answer_yes, turn_narrow

pytestmark = pytest.mark.parametrize("page", [WIDE], indirect=True)


def cancel(page: Page) -> None:
    """This run waits for a house that does not run here; the others of its kind stay as they were."""
    page.get_by_role("button", name="Cancel run").click()
    expect(page.locator("#state")).to_have_text("cancelled")


def test_a_run_is_queued_again_with_its_seed_and_says_of_which_it_is_the_same(page: Page, shown: Shown) -> None:
    asked = answer_yes(page)
    page.goto(shown.url + shown.addresses["run-done"])
    first, seed = page.url, page.locator("#about dt:text-is('Seed') + dd").text_content() or ""
    page.get_by_role("button", name="Rerun").press("Enter")
    expect(page.locator("#state")).to_have_text("queued")
    assert page.url != first
    expect(page.locator("#about dt:text-is('Seed') + dd")).to_have_text(seed)
    again = page.url
    turn_narrow(page)
    page.locator("#about > summary").click()
    page.locator("#about").get_by_role("link", name=re.compile("^run ")).click()
    page.wait_for_url(first)
    page.goto(again)
    cancel(page)
    assert asked == ["Cancel this run? Data measured so far is kept."]


def test_what_if_says_what_cannot_be_changed_so_and_queues_what_can(
    page: Page, shown: Shown, complaints: Complaints
) -> None:
    complaints.expected = "400 (Bad Request)"
    answer_yes(page)
    page.goto(shown.url + shown.addresses["what-if"])
    run = page.get_by_role("button", name="Run with this change")
    page.get_by_label("Remove a link").check()
    less = page.locator(".what", has_text="Remove a link")
    less.get_by_label("From broker").fill("0")
    less.get_by_label("to broker").fill("3")
    run.click()
    expect(page.get_by_role("alert")).to_contain_text(re.compile("0.*3"))
    expect(page.get_by_label("Remove a link")).to_be_checked()
    expect(less.get_by_label("to broker")).to_have_value("3")
    turn_narrow(page)
    page.get_by_label("Kill a broker").check()
    page.get_by_label("Broker", exact=True).fill("2")
    page.get_by_label("Broker", exact=True).press("Enter")
    expect(page.get_by_role("link", name=re.compile("^what if: "))).to_contain_text("2")
    expect(page.locator("#state")).to_have_text("queued")
    cancel(page)


def test_what_failed_is_run_again_once(page: Page, shown: Shown) -> None:
    answer_yes(page)
    page.goto(shown.url + shown.addresses["experiment"])
    page.get_by_role("button", name="Retry failed runs").click()
    expect(page.locator("#toasts")).to_contain_text("Queued 1 run again.")
    page.get_by_role("button", name="Retry failed runs").click()
    expect(page.locator("#toasts")).to_contain_text("all of them were already retried")
    turn_narrow(page)
    page.goto(f"{shown.url}/runs/?q=state+%3D+queued")
    page.locator("[data-row] a").first.click()
    expect(page.locator("#about")).to_contain_text("Rerun of")
    cancel(page)
