"""Subscribing, publishing, changing a context and asking why on the page of a network of SilboPS."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Complaints, Door
from tests.browser.test_federation import post
from tests.conftest import Stack

pytestmark = pytest.mark.stack


@pytest.fixture
def door(stack_door: Door) -> Door:
    """Its brokers really run."""
    return stack_door


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_context_changes_and_with_it_who_gets_a_publication(page: Page, stack: Stack, complaints: Complaints) -> None:
    page.goto(f"{stack.url}/networks/")
    network = post(page, f"{stack.url}/api/networks/", {"name": "Fires", "system": "silbops"})["id"]
    page.goto(f"{stack.url}/networks/{network}/")
    expect(page.locator("#network-brokers .state-up").first).to_be_visible()
    page.locator("#use").get_by_role("link", name="Publish and subscribe").click()
    who = page.locator("#s-client").input_value()
    subscriber, publisher = page.locator("#subscribe"), page.locator("#publish")
    expect(page.locator("#subscriptions")).to_have_text("None yet.")

    complaints.expected = "404 (Not Found)"
    publisher.get_by_role("button", name="Who would get it, and why").click()
    expect(publisher.get_by_role("alert")).to_contain_text("This account has no client 'publisher' in this network")
    expect(page.locator("#why table")).to_have_count(0)

    subscriber.get_by_role("button", name="Subscribe").click()
    expect(subscriber.get_by_role("status")).to_contain_text("Subscribed.")
    publisher.get_by_role("button", name="Publish").click()
    notifications = page.locator("#notifications li")
    expect(notifications).to_have_count(1)
    expect(notifications).to_contain_text('{"kind":"fire"}')

    publisher.get_by_role("button", name="Who would get it, and why").click()
    expect(page.locator("#why .state").first).to_have_text(f"{who} would get it")
    subscriber.get_by_label("Context", exact=True).fill('{"x": 500}')
    subscriber.get_by_role("button", name="Set context").click()
    expect(subscriber.get_by_role("status")).to_have_text("The broker has the new context.")
    publisher.get_by_role("button", name="Who would get it, and why").click()
    expect(page.locator("#why .state").first).to_have_text(f"{who} would not get it")
    expect(page.locator("#why")).to_contain_text("this.x - 20")

    page.reload()
    expect(page.locator("#subscriptions li")).to_have_count(1)
    page.get_by_role("button", name="Unsubscribe").click()
    expect(page.locator("#subscriptions")).to_have_text("None yet.")
