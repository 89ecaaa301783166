"""What a new operator does, in a browser and against the whole house: from the log-in to the report.

Log in, make a Waxman topology, launch two runs, see the live chart move, cancel one, finish the other, open the report.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import WIDE, Door, answer_yes, make_room
from tests.conftest import Stack

pytestmark = pytest.mark.stack


@pytest.fixture
def door(stack_door: Door) -> Door:
    """All of it really runs."""
    return stack_door


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_from_the_log_in_to_the_report(page: Page, stack: Stack) -> None:
    make_room(page, stack.url)
    answer_yes(page)
    make_topology(page, stack)
    experiment = launch(page, stack)

    page.get_by_role("link", name="Run 1,").click()
    first = page.url
    watch_it_move(page)

    page.goto(experiment)
    page.get_by_role("link", name="Run 2,").click()
    page.get_by_role("button", name="Cancel run").click()
    expect(state_of(page)).to_have_text("cancelled")

    page.goto(first)
    expect(state_of(page)).to_have_text("done")
    expect(page.locator("[data-figure='latency.p95']")).to_have_text(re.compile(r"\d.*s"))
    expect(page.get_by_text("Answer quality")).to_be_visible()  # the page was reloaded by then

    page.goto(experiment)
    page.get_by_role("button", name="Create report").click()
    expect(page.locator("[data-report-chart=response-time] svg path").first).to_be_attached()
    expect(page.get_by_role("heading", name="The paper's figures")).to_be_visible()


def state_of(page: Page) -> Locator:
    return page.locator("#state .state")


def make_topology(page: Page, stack: Stack) -> None:
    page.goto(f"{stack.url}/topologies/new/?kind=waxman&preset=mean-degree-2")
    page.get_by_label("Name", exact=True).fill("Six by Waxman")
    page.get_by_label("Brokers", exact=True).fill("6")
    page.get_by_role("button", name="Save topology").click()
    expect(page.get_by_role("heading", name="Six by Waxman")).to_be_visible()
    page.get_by_role("link", name="New experiment").click()


def launch(page: Page, stack: Stack) -> str:
    """Two replicates of eight seconds; the experiment's address."""
    page.get_by_label("Name", exact=True).fill("A first look")
    for label, value in (
        ("Providers", "2"),
        ("Consumers", "5"),
        ("Update interval", "1"),
        ("Request interval", "0.5"),
        ("Duration", "8"),
        ("Replicates", "2"),
    ):
        page.get_by_label(label).fill(value)
    page.get_by_label("Create a comparison report").uncheck()
    expect(page.locator("#launch-bar")).to_contain_text("50 entities need as many providers, not 2")
    page.get_by_text("More workload settings").click()
    page.get_by_label("Entities", exact=True).fill("2")
    page.get_by_role("button", name=re.compile("Launch 2 runs, about")).click()
    expect(page.get_by_role("heading", name="A first look")).to_be_visible()
    return page.url


def watch_it_move(page: Page) -> None:
    """While it measures the mean response time moves, all is answered, and the chart has something to show."""
    expect(state_of(page)).to_have_text("measuring")
    mean = page.locator("[data-figure='latency.mean']")
    expect(mean).to_have_text(re.compile(r"^[1-9]"))
    before = mean.inner_text()
    expect(mean).not_to_have_text(before)
    expect(page.locator("[data-figure='answer_ratio']")).to_have_text(re.compile(r"^[1-9].*%"))
    expect(page.locator("[data-chart=latency] [data-plot]")).not_to_have_attribute("data-empty", re.compile(""))
    expect(page.locator("[data-chart=latency] canvas")).to_be_visible()
