"""A mobile broker on the page of its network, and a subscription that is composed and tried."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Complaints, Door, answer_yes
from tests.conftest import Stack

pytestmark = pytest.mark.stack


@pytest.fixture
def door(stack_door: Door) -> Door:
    """Its brokers really run."""
    return stack_door


def post(page: Page, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """By REST, with the session of the page."""
    token = next(one["value"] for one in page.context.cookies() if one["name"] == "csrftoken")
    answer = page.request.post(path, data=body, headers={"X-CSRFToken": token, "Referer": path})
    assert answer.ok, answer.text()
    return dict(answer.json())


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_radio_is_cut_and_a_subscription_is_tried_and_made(page: Page, stack: Stack, complaints: Complaints) -> None:
    complaints.expected = "400 (Bad Request)"
    asked, api = answer_yes(page), f"{stack.url}/api"
    page.goto(f"{stack.url}/networks/")
    network = post(
        page,
        f"{api}/networks/",
        {"name": "Village", "system": "federation", "settings": {"mobile_brokers": "2", "bulk": "on"}},
    )["id"]
    page.goto(f"{stack.url}/networks/{network}/")
    expect(page.locator("#network-brokers .state-up")).to_have_count(4)
    phone = page.locator("#mobile-2")
    expect(phone).to_contain_text("connected")
    expect(page.locator("#tree")).to_contain_text("Every link is an edge")
    expect(page.get_by_role("heading", name="Notifications stored for neighbours")).to_be_visible()
    before = phone.locator("code").first.inner_text()

    phone.get_by_role("button", name="Cut its radio").click()
    expect(phone.get_by_role("button", name="Bring it back")).to_be_visible()
    expect(phone).to_contain_text("offline")
    phone.get_by_role("button", name="Move it to another port").click()
    expect(phone.locator("code").first).not_to_have_text(before)
    phone.get_by_role("button", name="Bring it back").click()
    expect(phone).to_contain_text("connected")
    expect(page.locator("#events")).to_contain_text("broker 2: offline")
    assert len(asked) == 2, "bringing it back needs no confirmation"

    post(page, f"{api}/networks/{network}/providers/", {"name": "sensor", "scopes": ["climate"]})
    expires = page.evaluate("new Date(Date.now() + 3_600_000).toISOString()")
    of_a_room = {"provider": "sensor", "scope": "climate", "entity_type": "room", "expires": expires}
    for room, data in (("r1", {"temperature": 21}), ("r2", {"temperature": 19})):
        post(page, f"{api}/networks/{network}/publish/", {**of_a_room, "entity_id": room, "data": data})
    page.locator("#subscribe").get_by_role("link", name="Compose a subscription").click()
    expect(page.locator("#result")).to_have_text("2 of 2 recent notifications in all scopes satisfy it")
    page.get_by_role("button", name="climate", exact=True).click()
    page.get_by_role("button", name="Add a condition").click()
    page.get_by_label("Parameter").fill("temperature")
    page.get_by_label("Operator").select_option(">")
    page.get_by_label("Value", exact=True).fill("20")
    expect(page.get_by_label("The same as text")).to_have_value("temperature > 20")
    expect(page.locator("#result")).to_have_text("1 of 2 recent notifications in these scopes satisfy it")
    expect(page.locator("#rows tbody tr").last).to_contain_text("temperature is 19")
    page.get_by_label("The same as text").fill("not occupied = true")
    expect(page.locator("#warnings")).to_contain_text("also holds where there is no “occupied”")
    expect(page.get_by_label("Parameter")).to_have_value("occupied")
    page.get_by_label("The same as text").fill("temperature >")
    expect(page.locator("#expression-wrong")).to_be_visible()
    expect(page.locator("#warnings")).to_be_empty()
    expect(page.locator("#covered")).to_have_text("Not known: this was not tried.")
    page.get_by_label("The same as text").fill("temperature > 20")
    expect(page.locator("#result")).to_have_text(re.compile("^1 of 2"))
    page.get_by_role("button", name="Subscribe", exact=True).click()
    expect(page.locator("#subscribed")).to_contain_text("Subscribed as")
    page.get_by_label("The same as text").fill("temperature > 25")
    page.get_by_label("Expires in, min").fill("30")  # what ends earlier covers nothing
    expect(page.locator("#covered")).to_contain_text("temperature > 20")
    page.get_by_label("Kind").select_option("once")
    expect(page.locator("#covered")).to_contain_text("None of your subscriptions here covers it")
