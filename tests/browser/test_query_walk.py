"""One query of a live run, in a browser and against the whole house: found on the run's page, its walk drawn."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Door
from tests.conftest import Stack
from tests.waiting import BOUND_S, wait_for

pytestmark = pytest.mark.stack

ENDED = ("done", "failed", "cancelled")
LISTED = 24
"""Messages that the page lists at most."""
DRAWN = "box => box._cyreg.cy.edges('.request').map(edge => edge.data('number'))"
"""The numbers in the picture, from the picture itself."""


@pytest.fixture
def door(stack_door: Door) -> Door:
    """A run has to be carried out first."""
    return stack_door


@pytest.fixture(scope="module")
def run(stack: Stack) -> str:
    """The page of a recorded run that has ended, of which every query was traced."""
    credentials = {"username": stack.username, "password": stack.password}
    token = httpx.post(f"{stack.url}/api/tokens/", json=credentials, timeout=BOUND_S).json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{stack.url}/api", headers=headers, timeout=BOUND_S) as api:
        for state in ("queued", "launching", "warming", "measuring"):
            for one in api.get(f"/runs/?state={state}").json()["results"]:
                api.post(f"/runs/{one['id']}/cancel/")
        topology = {"name": "Six in a ring to be followed", "kind": "ring", "brokers": 6, "params": {"delay_ms": 2}}
        workload = {"providers": 6, "entities": 6, "consumers": 3, "update_interval_s": 1, "request_interval_s": 0.5}
        experiment = {
            "name": "Followed",
            "topology": api.post("/topologies/", json=topology).json()["id"],
            "workload": {**workload, "duration_s": 4},
            "settings": {"trace_one_in": 1},
            "record_mb": 8,
        }
        made = api.post("/experiments/", json=experiment).json()["id"]
        launched = api.post(f"/experiments/{made}/launch/").json()["runs"][0]

        def ended() -> bool:
            return api.get(f"/runs/{launched}/").json()["state"] in ENDED

        wait_for(ended, "the run ends", every=0.5)
    return f"{stack.url}/runs/{launched}/"


def test_a_query_is_found_on_the_runs_page_and_its_hops_are_numbered(page: Page, run: str) -> None:
    page.goto(run)
    queries = page.locator("#queries")
    queries.get_by_role("link", name="Most hops").click()
    expect(queries.locator("[aria-current]")).to_have_text("Most hops")
    queries.locator("tbody a").first.click()
    expect(page.get_by_role("heading", name="Walk")).to_be_visible()
    expect(page.locator("#walk canvas").first).to_be_visible()
    numbers = page.locator("#passages .hop").all_inner_texts()
    assert numbers
    assert numbers == [str(number + 1) for number in range(len(numbers))]
    assert page.locator("#walk").evaluate(DRAWN) == numbers
    expect(page.locator("#passages tbody tr").first).to_contain_text(re.compile(r"\d → \d\s*[\d.]+\s*(µs|ms)"))
    expect(page.locator("#steps")).to_contain_text("forwarded the request to broker")


def test_a_hop_is_shown_in_the_picture_by_the_keyboard_alone(page: Page, run: str) -> None:
    page.goto(f"{run}queries/?show=longest")
    page.locator("tbody a").first.focus()
    page.keyboard.press("Enter")
    hop = page.locator("#passages button").first
    expect(hop).to_be_enabled()
    hop.focus()
    page.keyboard.press("Enter")
    expect(hop).to_have_attribute("aria-pressed", "true")
    assert page.locator("#walk").evaluate("box => box._cyreg.cy.edges('.chosen').map(edge => edge.id())") == ["p0"]
    page.keyboard.press("Enter")
    expect(hop).to_have_attribute("aria-pressed", "false")


def test_a_broker_of_a_live_run_tells_its_neighbours_its_data_and_its_last_messages(page: Page, run: str) -> None:
    broker = page.request.get(run.replace("/runs/", "/api/runs/") + "brokers/0/").json()
    neighbours = {row["index"]: row["state"] for row in broker["own"]["neighbours"]}
    assert set(neighbours) == {1, 5}
    assert "joined" in neighbours.values(), "on a busy machine one of them may have been silent for too long"
    assert broker["own"]["counters"]["in_3"] > 0
    assert broker["own"]["steps"]
    assert broker["own"]["held"]["count"] >= len(broker["own"]["held"]["own"]) > 0
    assert {row["direction"] for row in broker["lately"]["messages"]} == {"received", "sent"}
    assert broker["now"]["cores"] > 0
    page.goto(f"{run}?broker=0")
    panel = page.locator("#broker")
    expect(panel.get_by_role("button", name="Broker 5")).to_be_visible()
    expect(panel).to_contain_text("Latest messages")
    expect(panel).to_contain_text(re.compile(r"Private memory\s*[\d.]+.(kB|MB)"))


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_its_messages_are_replayed_one_by_one_as_its_brokers_recorded_them(page: Page, run: str) -> None:
    page.goto(f"{run}queries/?show=longest")
    page.locator("tbody a").first.click()
    hops = page.locator("#passages .hop").count()
    page.get_by_role("link", name="Replay messages").click()
    expect(page.locator("#following")).to_be_visible()
    told, step = page.locator("#description"), page.locator("#step")
    expect(told).to_contain_text("request, from a client to broker")
    expect(step).to_be_enabled()
    query, api = page.locator("#query-id").inner_text(), run.replace("/runs/", "/api/runs/")
    recorded = page.request.get(f"{api}messages/?query={query}").json()["count"]
    walked = []
    for shown in range(2, recorded + 1):
        step.click()
        expect(page.locator("#messages li")).to_have_count(min(shown, LISTED))
        walked.append(told.inner_text())
    assert sum("request, from broker" in words for words in walked) == hops
    assert any(re.search(r"answer, from broker \d to a client", words) for words in walked)
