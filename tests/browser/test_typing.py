"""Input, selection and focus are kept: while a page is updated, when its run ends, and, with a question, when the user
leaves the page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from tests.browser.conftest import WIDE, Complaints, Shown, width

MARKED = "window.stayed === true"
"""Of a page that was not loaded again since ``mark``."""
NEXT_IS_KEPT_BACK = """new Promise((tell) =>
    addEventListener("htmx:beforeRequest", (event) => tell(event.defaultPrevented), { once: true }))"""
"""Of the next time that a part asks for itself."""


def mark(page: Page) -> None:
    page.evaluate("window.stayed = true")


def usable(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("html[data-usable]", state="attached")


def refuse(page: Page) -> list[str]:
    """Answers no to whatever is asked; the questions, as they come."""
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message if dialog.type == "confirm" else dialog.type)
        dialog.dismiss()

    page.on("dialog", answer)
    return asked


def from_elsewhere(page: Page, button: str, complaints: Complaints, shown: Shown) -> None:
    """A user presses a button of the same page in another window."""
    other = page.context.new_page()
    other.on("dialog", lambda dialog: dialog.accept())
    other.goto(page.url)
    other.get_by_role("button", name=re.compile(button)).click()
    expect(other.get_by_role("button", name=re.compile(button))).to_have_count(0)
    other.close()


def test_a_run_that_ends_leaves_what_is_being_typed_and_shows_its_end(
    page: Page, shown: Shown, complaints: Complaints
) -> None:
    usable(page, shown.url + shown.addresses["run-done"])
    page.keyboard.press("r")
    expect(page.locator("#state")).to_have_text("queued")
    page.wait_for_selector("html[data-usable]", state="attached")
    expect(page.get_by_role("button", name="Pause queue")).to_be_visible()
    mark(page)
    page.locator("#labels").get_by_role("button").click()
    note = page.get_by_label("Note", exact=True)
    note.click()
    page.keyboard.type("Half a sen")
    from_elsewhere(page, "Cancel run", complaints, shown)
    expect(page.locator("#state")).to_have_text("cancelled")
    expect(page.locator("#time-left")).to_contain_text("ended")
    expect(page.get_by_role("button", name="Pause queue")).to_have_count(0)
    expect(page.locator("#about")).to_contain_text("Ended")
    expect(page.locator("#toasts")).to_contain_text("This run has ended: cancelled.")
    assert page.evaluate(MARKED)
    assert page.evaluate("JSON.parse(document.getElementById('live').textContent).ended")
    expect(note).to_be_focused()
    page.keyboard.type("tence.")
    expect(note).to_have_value("Half a sentence.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#labels")).to_contain_text("Half a sentence.")


def test_the_keyboard_stays_on_a_run_of_a_sweep_while_it_goes_on_and_when_it_ends(
    page: Page, shown: Shown, complaints: Complaints
) -> None:
    page.goto(f"{shown.url}/experiments/?q=Not+launched+yet")
    page.get_by_role("link", name="Not launched yet", exact=True).first.click()
    page.get_by_role("link", name="Duplicate").click()
    page.wait_for_url("**/experiments/new/*")
    page.wait_for_selector("html[data-usable]", state="attached")  # before its scripts listen, typing asks for nothing
    with page.expect_response("**/estimate/"):  # which brings the button again: a click in between would be lost
        page.get_by_label("Name", exact=True).fill(f"Watched at {width(page)}")
        page.get_by_label("Name", exact=True).blur()
    page.wait_for_load_state("networkidle")
    page.get_by_role("button", name=re.compile("^Launch 3 runs")).click()
    expect(page.locator("#experiment-runs tbody tr")).to_have_count(3)
    page.wait_for_selector("html[data-usable]", state="attached")
    mark(page)
    for _ in range(2):
        page.keyboard.press("j")
    here = page.evaluate("document.activeElement.href")
    assert "/runs/" in here
    with page.expect_response("**/progress/*"):
        pass
    page.wait_for_function("href => document.activeElement.href === href", arg=here)
    from_elsewhere(page, "^Cancel 3 runs", complaints, shown)
    expect(page.get_by_role("button", name="Delete experiment")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Cancel"))).to_have_count(0)
    assert page.evaluate(MARKED)
    assert page.evaluate("document.activeElement.href") == here
    page.keyboard.press("Enter")
    page.wait_for_url(here)


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_the_keyboard_stays_where_it_was_while_the_hosts_move(page: Page, shown: Shown) -> None:
    usable(page, f"{shown.url}/hosts/")
    link = page.locator("#hosts-now a").first
    link.focus()
    with page.expect_response("**/hosts/"):
        pass
    page.wait_for_function("address => document.activeElement.href === address", arg=link.evaluate("link => link.href"))


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_part_that_moves_waits_while_something_in_it_is_being_selected(page: Page, shown: Shown) -> None:
    usable(page, f"{shown.url}/")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#now h2'))")
    assert page.evaluate(NEXT_IS_KEPT_BACK)
    assert page.evaluate("getSelection().toString()") == "Now"


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_what_was_opened_in_a_part_that_moves_stays_open(page: Page, shown: Shown) -> None:
    usable(page, shown.url + shown.addresses["run-measuring"] + "?broker=0")
    counters = page.locator("#broker details").filter(has_text="Counters").first
    counters.locator("summary").click()
    with page.expect_response(re.compile("part=now")):
        pass
    with page.expect_request(re.compile("part=now")):  # the answer before it is in its place by now
        pass
    expect(counters).to_have_attribute("open", "")


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_field_in_a_part_that_moves_keeps_what_is_typed_and_where(page: Page, shown: Shown) -> None:
    """No part that moves has one now; whoever puts one there can rely on it."""
    field = '<p><input name="remark" value="as it came" aria-label="Remark"></p>'

    def with_field(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("<section>", f"<section>{field}", 1))

    page.route(re.compile("/now/$"), with_field)
    usable(page, f"{shown.url}/")
    remark = page.get_by_label("Remark")
    remark.fill("half a thought")
    page.keyboard.press("Home")
    page.evaluate("document.querySelector('[name=remark]').dataset.old = 'yes'")
    expect(page.locator("[data-old]")).to_have_count(0)
    expect(remark).to_be_focused()
    page.keyboard.type("Not ")
    expect(remark).to_have_value("Not half a thought")


def test_a_changed_form_is_not_left_without_a_question_and_an_untouched_one_is(page: Page, shown: Shown) -> None:
    usable(page, f"{shown.url}/topologies/new/?kind=ring")
    asked = refuse(page)
    page.get_by_label("Seed").click()
    back = page.locator(".crumb").get_by_role("link", name="Topologies")
    back.click()
    page.wait_for_url(f"{shown.url}/topologies/")
    assert asked == []

    usable(page, f"{shown.url}/topologies/new/?kind=ring")
    page.get_by_label("Name", exact=True).click()
    page.keyboard.type("Half a na")
    back.click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Half a na")
    assert asked == ["beforeunload"]
    page.keyboard.press("Control+a")
    page.get_by_label("Name", exact=True).fill("")
    back.click()
    page.wait_for_url(f"{shown.url}/topologies/")
    assert asked == ["beforeunload"]


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_what_a_form_was_refused_with_is_asked_about_and_what_is_sent_is_not(
    page: Page, shown: Shown, complaints: Complaints
) -> None:
    complaints.expected = "400 (Bad Request)"
    usable(page, f"{shown.url}/topologies/new/?kind=ring")
    asked = refuse(page)
    page.get_by_label("Name", exact=True).fill(f"Typed at {width(page)}")
    page.get_by_label("Brokers", exact=True).fill("many")
    page.get_by_role("button", name="Save topology").click()
    expect(page.get_by_label("Brokers", exact=True)).to_have_value("many")
    page.get_by_label("Brokers", exact=True).click()
    page.locator(".crumb").get_by_role("link", name="Topologies").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value(f"Typed at {width(page)}")
    assert asked == ["beforeunload"]
    page.get_by_label("Brokers", exact=True).fill("5")
    page.get_by_role("button", name="Save topology").click()
    expect(page.get_by_role("heading", name=f"Typed at {width(page)}")).to_be_visible()
    assert asked == ["beforeunload"]


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_another_kind_of_topology_takes_along_what_was_typed(page: Page, shown: Shown) -> None:
    usable(page, f"{shown.url}/topologies/new/?kind=custom")
    asked = refuse(page)
    kinds = page.get_by_role("navigation", name="Kind")
    page.get_by_label("Name", exact=True).fill("Campus")
    page.get_by_label("Links", exact=True).fill("0 1\n1 2")
    kinds.get_by_role("link", name="Waxman").click()
    page.wait_for_url(re.compile("kind=waxman"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("Campus")
    page.get_by_label("Brokers", exact=True).fill("24")
    page.get_by_label("Mean degree").fill("4.5")
    kinds.get_by_role("link", name="Ring", exact=True).click()
    page.wait_for_url(re.compile("kind=ring"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("Campus")
    expect(page.get_by_label("Brokers", exact=True)).to_have_value("24")
    kinds.get_by_role("link", name="Waxman").click()
    page.wait_for_url(re.compile("kind=waxman"))
    expect(page.get_by_label("Mean degree")).to_have_value("4.5")
    expect(page.get_by_role("img", name="between 24 brokers")).to_be_visible()
    assert asked == []
    preset = page.locator("a[data-sets*=mean_degree]").first
    preset.click()
    assert len(asked) == 1 and re.fullmatch(
        r"The preset replaces what you typed for .*Mean degree.*\. Use it\?", asked[0]
    )
    expect(page.get_by_label("Mean degree")).to_have_value("4.5")
    kinds.get_by_role("link", name="Custom", exact=True).click()
    page.wait_for_url(re.compile("kind=custom"))
    expect(page.get_by_label("Links", exact=True)).to_have_value("0 1\n1 2")


def test_a_preset_of_experiments_asks_before_it_replaces_what_was_filled_in(page: Page, shown: Shown) -> None:
    usable(page, f"{shown.url}/experiments/new/")
    presets = page.locator("details.presets")
    page.get_by_label("Name", exact=True).click()
    page.keyboard.type("Mine")
    card = presets.get_by_role("link").first
    asked: list[str] = []
    answers = iter([False, True])

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        (dialog.accept if next(answers) else dialog.dismiss)()

    page.on("dialog", answer)
    card.click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Mine")
    card.click()
    page.wait_for_url(re.compile(r"preset="))
    expect(page.get_by_text("Filled in from the preset")).to_be_visible()
    assert asked == ["Replace the form's contents with this preset?"] * 2


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_what_the_keys_r_and_g_r_do_is_in_the_list_and_the_slash_searches_every_list(page: Page, shown: Shown) -> None:
    usable(page, shown.url + shown.addresses["run-done"])
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(keys.locator("[data-keys-here]")).to_contain_text("r rerun")
    expect(keys.locator("[data-keys-places]")).to_contain_text("g r Runs")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url(f"{shown.url}/runs/")
    for place in ("networks", "reports", "schedules", "hosts"):
        usable(page, f"{shown.url}/{place}/")
        page.keyboard.press("/")
        expect(page.locator("[data-search]")).to_be_focused()
        page.keyboard.type("nowhere at all")
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="Show all")).to_be_visible()
