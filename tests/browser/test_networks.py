"""A network in a browser: a topology is deployed as brokers that stay up, told something, asked for it, and stopped."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Complaints, Door, answer_yes, turn_narrow
from tests.conftest import Stack

pytestmark = pytest.mark.stack


@pytest.fixture
def door(stack_door: Door) -> Door:
    """Its brokers really run."""
    return stack_door


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_network_is_deployed_provided_asked_and_stopped(page: Page, stack: Stack, complaints: Complaints) -> None:
    complaints.expected = "400 (Bad Request)"
    asked = answer_yes(page)
    name = "Campus of three"
    page.goto(f"{stack.url}/topologies/new/?kind=ring")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Brokers", exact=True).fill("3")
    page.get_by_role("button", name="Save topology").click()
    page.get_by_role("link", name="Deploy as a network").click()
    page.get_by_label("Name", exact=True).fill("")
    page.get_by_role("button", name="Deploy network").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Deploy network").press("Enter")
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    brokers = page.locator("#network-brokers")
    expect(brokers.locator(".state-up")).to_have_count(3)

    turn_narrow(page)
    page.get_by_label("Entity", exact=True).fill("harbour")
    page.get_by_role("button", name="Query", exact=True).click()
    answer = page.locator("#context-answer")
    expect(answer.get_by_role("alert")).to_be_visible()
    page.get_by_text("Store", exact=True).first.click()
    page.get_by_label("Payload").fill("degC=19.5;")
    page.get_by_role("button", name="Store", exact=True).click()
    expect(answer).to_contain_text("Accepted by")
    page.get_by_label("Entity", exact=True).press("Enter")
    expect(answer).to_contain_text("degC=19.5;")
    expect(answer).to_contain_text(re.compile(r"Age\s*[\d.]+\s*(µs|ms|s)"))

    page.locator("#broker-asked").select_option("1")
    page.get_by_role("button", name="Query", exact=True).click()
    expect(answer).to_contain_text(re.compile(r"Broker queried\s*1"))
    walk = page.locator("#context-walk")
    expect(walk.get_by_role("heading", name="Walk of this query")).to_be_visible()
    expect(walk.locator("#sequence svg")).to_contain_text("broker 1")
    expect(walk.locator("#walk canvas").first).to_be_visible()
    expect(answer).to_contain_text(re.compile(r"\d hops?, \d+ messages? between brokers"))

    course = page.locator("#course")
    for chart in ("probes", "answered", "load", "memory"):
        expect(course.locator(f"[data-chart={chart}] [data-plot]:not([data-empty])")).to_have_count(1)
    expect(course.locator("[data-chart=probes] .value").first).to_contain_text(re.compile("µs|ms|s"))
    course.get_by_label("Brokers").select_option("2")
    expect(course.locator("[data-chart=memory] .value").first).to_contain_text("MB")

    brokers.get_by_role("button", name="Restart broker 0").click()
    expect(page.locator("#network-events")).to_contain_text("Broker 0: restarted by")
    expect(page.locator("#network-events")).to_contain_text("Broker 0 restarted.")
    expect(brokers.locator(".state-up")).to_have_count(3)

    expect(page.locator("#memory-scale")).to_contain_text("MB")
    brokers.get_by_role("button", name="Show broker 1").press("Enter")
    expect(page.get_by_role("heading", name="Broker 1")).to_be_visible()
    panel = page.get_by_role("complementary", name="Broker details")
    expect(panel).to_contain_text("Reported by the broker")
    panel.get_by_role("button", name="Broker 2").click()
    expect(page.get_by_role("heading", name="Broker 2")).to_be_visible()

    page.get_by_role("button", name="Stop network").click()
    expect(page.locator("#network-state")).to_contain_text("stopped")  # brokers stop before their network
    complaints.expected = "404 (Not Found)"  # its charts may ask once more after it is gone
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url(f"{stack.url}/networks/")
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    assert asked == [
        "Restart broker 0? It loses the data in its memory and rejoins its neighbours at the same address.",
        f"Stop the network {name}? Its brokers lose the data in their memory.",
        f"Delete the network {name}?",
    ]
