"""A recorded run, replayed in a browser: stepped, played, filtered, followed, and found again by its address."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Page, expect

from tests.browser.conftest import Shown


def asked(page: Page) -> dict[str, str]:
    """What the address says."""
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def test_a_run_is_replayed_and_its_address_leads_back_to_the_same_message(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["replay"])
    step, told, now = page.locator("#step"), page.locator("#description"), page.locator("#messages [aria-current]")
    expect(step).to_be_enabled()
    expect(told).to_contain_text("joining, from a client to broker 0")
    page.keyboard.press("ArrowRight")
    expect(told).to_contain_text("acknowledgement, from broker")
    page.get_by_label("Upkeep").uncheck()
    page.get_by_label("Acknowledgements").uncheck()
    step.click()
    expect(told).to_contain_text("update, from a client to broker")
    expect(page.locator("#text")).to_have_text(re.compile(r"^2\|\d+\|"))
    for _ in range(60):  # the first request of a query that went farther
        page.keyboard.press("ArrowRight")
        if "request, from broker" in told.inner_text():
            break
    expect(told).to_contain_text(re.compile(r"request, from broker \d to broker \d, .*in transit for 4\.00.ms"))
    now.get_by_role("button", name="Follow").click()
    expect(page.locator("#following")).to_be_visible()
    expect(page.locator("#messages .follow")).to_have_count(0)
    here, words = asked(page), told.inner_text()
    assert here["query"] == page.locator("#query-id").inner_text()
    assert (here["pace"], set(here["hide"].split(","))) == ("step", {"upkeep", "acknowledgement"})
    page.reload()
    expect(step).to_be_enabled()
    expect(told).to_have_text(words)
    expect(page.locator("#following")).to_be_visible()
    page.get_by_role("button", name="show all", exact=True).click()
    page.locator("#clock").click()
    page.keyboard.press("+")
    before = float(asked(page)["t"])
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_text("Pause")
    expect(told).not_to_have_text(words)
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_text("Play")
    assert float(asked(page)["t"]) >= before  # messages of one instant are played one after the other
    assert float(asked(page)["speed"]) > 1


def test_a_replay_opens_at_the_first_message_of_a_client(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["federation-replay"])
    told = page.locator("#description")
    expect(page.locator("#step")).to_be_enabled()
    expect(told).to_contain_text(re.compile("(SUBSCRIBE|PUBLISH|QUERY).*, from a client to broker"))
    page.keyboard.press("ArrowLeft")
    expect(told).not_to_contain_text(re.compile("SUBSCRIBE|PUBLISH|QUERY"))


def test_what_a_change_made_is_drawn_on_the_runs_page(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["varied"])
    part = page.locator("#difference")
    expect(part).to_contain_text("without the link 0–1")
    expect(part.locator("canvas")).to_be_visible()
    expect(part).to_contain_text(re.compile(r"Median difference\s*[+−]?[\d.]+\s*(µs|ms)"))
    with page.expect_download() as download:
        part.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename.endswith("-difference.csv")
