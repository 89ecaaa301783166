"""Forms of what there is already in a browser: thresholds of runs that are done, what others change, long lists."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from brokerweb.kit.picks import HAS_SEARCH
from tests.browser.conftest import Complaints, Shown, answer_yes, width

ASK = """([method, path, body]) => fetch(path, {
  method, body: JSON.stringify(body),
  headers: { "Content-Type": "application/json", "X-CSRFToken": document.cookie.match(/csrftoken=([^;]+)/)[1] },
}).then((answer) => answer.status === 204 ? null : answer.json())"""


def rest(page: Page, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """As a script of this operator would, from the page."""
    return page.evaluate(ASK, [method, path, body or {}])


def test_thresholds_of_runs_that_are_done_are_tried_set_and_taken_away_by_keyboard(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["experiment"])
    page.get_by_role("link", name="Set thresholds").press("Enter")
    told, lines = page.locator("#thresholds-preview"), page.get_by_label("Thresholds")
    expect(told).to_have_text("No thresholds: runs are not evaluated.")
    lines.fill("p95 < 1us")
    expect(told).to_contain_text("0 would pass and 8 would fail.")
    lines.fill("p59 < 1us")
    expect(told).to_contain_text("“p59 < 1us”: there is no figure “p59”; did you mean p95?")
    lines.fill("p95 < 1us")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_text("Set by olga")).to_be_visible()
    expect(page.get_by_text("8 failed")).to_be_visible()
    page.get_by_role("link", name="8 failed").click()
    expect(page.get_by_text("broken").first).to_be_visible()

    page.goto(shown.url + shown.addresses["experiment"])
    page.get_by_role("link", name="Change thresholds").click()
    page.get_by_label("Thresholds").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("None: runs are not evaluated.")).to_be_visible()


def test_what_somebody_else_saved_stands_below_what_was_typed(page: Page, shown: Shown, complaints: Complaints) -> None:
    complaints.expected = "409"
    page.goto(f"{shown.url}/schedules/")
    experiment = shown.addresses["experiment"].split("/")[2]
    body = {"name": f"Nightly at {width(page)}", "experiments": [experiment], "crontab": "0 3 * * *"}
    schedule = rest(page, "POST", "/api/schedules/", body)
    page.goto(f"{shown.url}/schedules/{schedule['id']}/edit/")
    rest(page, "PATCH", f"/api/schedules/{schedule['id']}/", {"crontab": "0 6 * * 1"})
    page.get_by_label("Crontab").fill("0 4 * * *")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text(
        "Nothing was saved: the stored values changed after you opened this form."
    )
    expect(page.locator(".stored-now")).to_have_text("Stored value: Mondays at 06:00, UTC")
    expect(page.get_by_label("Crontab")).to_have_value("0 4 * * *")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Every day at 04:00, UTC")).to_be_visible()

    asked = answer_yes(page)
    page.get_by_role("button", name="Delete schedule").click()
    expect(page).to_have_url(f"{shown.url}/schedules/")
    assert [question[:19] for question in asked] == ["Delete the schedule"]


def test_a_long_list_is_searched_without_sending_or_changing_its_form(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/topologies/")
    stars = [
        rest(
            page, "POST", "/api/topologies/", {"name": f"Star {width(page)}-{number}", "kind": "central", "brokers": 1}
        )
        for number in range(HAS_SEARCH)
    ]
    page.goto(f"{shown.url}/experiments/new/")
    search, shown_in_list = (
        page.get_by_label("Filter topologies by name"),
        page.locator("#topology-picks label"),
    )
    search.press_sequentially(f"star {width(page)}-7")
    expect(shown_in_list).to_have_count(1)
    search.press("Enter")
    expect(page).to_have_url(f"{shown.url}/experiments/new/")
    asked = answer_yes(page)
    page.goto(f"{shown.url}/experiments/new/")
    assert asked == [], "only what was searched for would be lost"

    search.press_sequentially(f"star {width(page)}-7")
    expect(shown_in_list).to_have_count(1)
    shown_in_list.get_by_role("checkbox").check()
    search.fill("nowhere")
    expect(shown_in_list).to_have_count(1)
    expect(shown_in_list.get_by_role("checkbox")).to_be_checked()
    expect(page.locator("#launch-bar")).to_contain_text("1 configuration")
    page.goto(f"{shown.url}/topologies/")
    assert len(asked) == 1, "what was picked would be lost"
    for star in stars:
        rest(page, "DELETE", f"/api/topologies/{star['id']}/")
