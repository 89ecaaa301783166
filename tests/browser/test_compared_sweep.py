"""What a new researcher does, by mouse and by keyboard: log in, sweep two topologies, compare them, do a run again.

The sweep is simulated, so that its minute of measuring takes seconds.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Door, make_room
from tests.conftest import Stack
from tests.thorough import thoroughly

pytestmark = [pytest.mark.stack, pytest.mark.parametrize("page", [WIDE], indirect=True)]


@pytest.fixture
def door(stack_door: Door) -> Door:
    """All of it really runs."""
    return stack_door


def log_in_by_keyboard(page: Page, stack: Stack) -> None:
    page.context.clear_cookies()
    page.goto(stack.url)
    page.get_by_label("User name").focus()
    page.keyboard.type(stack.username)
    page.keyboard.press("Tab")
    page.keyboard.type(stack.password)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{stack.url}/")


def set_up_the_sweep(page: Page) -> None:
    """Two topologies, three replicates, and a threshold that both keep."""
    page.get_by_label("Name", exact=True).fill("Does the ring keep up?")
    for name in ("Ring of 10", "Full mesh of 10"):
        page.get_by_role("checkbox", name=re.compile(f"^{name} 10 brokers")).check()
    page.get_by_label("Simulated").check()
    for label, value in (
        ("Providers", "10"),
        ("Consumers", "10"),
        ("Update interval", "1"),
        ("Request interval", "0.5"),
        ("Duration", "30"),
        ("Replicates", "3"),
        ("Thresholds", "p95 < 1s"),
    ):
        page.get_by_label(label).fill(value)
    page.get_by_text("More workload settings").click()
    page.get_by_label("Entities", exact=True).fill("10")
    page.get_by_label("Create a comparison report").uncheck()


@thoroughly
def test_from_the_log_in_to_a_compared_sweep_and_the_same_run_again(page: Page, stack: Stack) -> None:
    make_room(page, stack.url)
    log_in_by_keyboard(page, stack)
    page.keyboard.press("g")
    page.keyboard.press("e")
    page.get_by_role("link", name="New experiment").click()
    set_up_the_sweep(page)
    page.get_by_role("button", name=re.compile("^Launch 6 runs, about")).click()
    expect(page.get_by_role("heading", name="Does the ring keep up?")).to_be_visible()
    sweep = page.url
    expect(page.locator("#experiment-progress")).to_contain_text("6 of 6 runs")
    expect(page.locator("#experiment-progress")).to_contain_text("6 runs passed")

    page.get_by_role("link", name="Compare runs").click()
    expect(page.get_by_role("heading", name="Varied parameters")).to_be_visible()
    expect(page.locator(".under").first).to_contain_text("6 finished runs in 2 configurations")
    rows = page.locator("tr[data-row]")
    expect(rows).to_have_count(2)
    for row in rows.all():
        expect(row.locator("td[data-label='Response time, 95th percentile']")).to_have_text(re.compile(r"\d.*(µs|ms)"))
    page.get_by_role("link", name=re.compile("Pin as baseline.*[Ff]ull mesh")).press("Enter")
    held = rows.filter(has_text="Ring of 10")
    expect(held.locator(".state")).to_have_text(re.compile("^(worse|no difference shown)$"))
    expect(held.locator("td[data-label='Difference']")).to_have_text(re.compile(r"[+−].*(µs|ms).*%"))
    figure = page.locator("[data-compare]")
    figure.get_by_role("link", name="Differences").click()
    expect(figure.locator("[data-title]")).to_contain_text("difference to the baseline")
    expect(figure.locator("[data-plot] svg path").first).to_be_attached()
    page.goto(page.url)
    expect(page.locator(".is-baseline")).to_contain_text("Full mesh of 10")

    page.goto(sweep)
    page.keyboard.press("j")
    page.get_by_role("link", name="Run 1,").click()
    figures, digest = page.locator("[data-figure='latency.p95']"), page.get_by_text("events, digest").locator(".mono")
    about = page.get_by_text("About this run: ")
    expect(figures).to_have_text(re.compile(r"\d"))
    about.click()
    expect(digest).to_have_text(re.compile("^[0-9a-f]{32}$"))
    was, told = figures.inner_text(), digest.inner_text()
    first = page.url
    page.get_by_role("button", name="Rerun").click()
    expect(page.locator("#state .state")).to_have_text("done")
    assert page.url != first
    expect(figures).to_have_text(was)
    about.click()
    expect(digest).to_be_visible()
    expect(digest).to_have_text(told)
