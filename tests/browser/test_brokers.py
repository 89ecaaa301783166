"""Overlays in a browser: from near and far, one broker gone to by the keyboard, the picture taken away, a network's."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Shown, both_widths

SELECTED = "box => box._cyreg.cy.nodes(':selected').map(node => node.data('index'))"
ZOOM = "box => box._cyreg.cy.zoom()"
FROM_THE_MIDDLE = """(box, index) => {
  const at = box._cyreg.cy.getElementById(`n${index}`).renderedPosition();
  return Math.round(Math.hypot(at.x - box.clientWidth / 2, at.y - box.clientHeight / 2));
}"""
PNG = b"\x89PNG\r\n\x1a\n"


@both_widths
def test_an_overlay_is_looked_at_from_near_and_far_and_whole_again(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-measuring"])
    overlay, tools = page.locator("#overlay"), page.get_by_role("group", name="Graph tools")
    whole = overlay.evaluate(ZOOM)
    tools.get_by_role("button", name="Zoom in").click()
    tools.get_by_role("button", name="Zoom in").click()
    assert overlay.evaluate(ZOOM) == pytest.approx(whole * 1.4**2)
    tools.get_by_role("button", name="Zoom out").click()
    assert overlay.evaluate(ZOOM) == pytest.approx(whole * 1.4)
    tools.get_by_role("button", name="Fit").click()
    assert overlay.evaluate(ZOOM) == pytest.approx(whole, rel=0.1)  # brokers have grown meanwhile by their load


def test_a_broker_is_gone_to_by_its_number_and_the_keyboard_alone(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-measuring"])
    overlay, field = page.locator("#overlay"), page.get_by_label("Go to broker")
    page.keyboard.press("/")
    expect(field).to_be_focused()
    page.keyboard.type("400")
    page.keyboard.press("Enter")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("No broker is named “400”. Valid numbers: 0 to 9.")).to_be_visible()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("7")
    expect(field).to_have_attribute("aria-invalid", "false")
    page.keyboard.press("Enter")
    expect(page.locator("#broker").get_by_role("heading", name="Broker 7")).to_be_visible()
    expect(field).to_be_focused()
    assert overlay.evaluate(SELECTED) == [7]
    assert overlay.evaluate(FROM_THE_MIDDLE, 7) < 10
    assert page.url.endswith("?broker=7")


def test_the_picture_of_an_overlay_is_taken_away(page: Page, shown: Shown) -> None:
    for name in ("run-measuring", "network", "topology-waxman"):
        page.goto(shown.url + shown.addresses[name])
        with page.expect_download() as download:
            page.get_by_role("group", name="Graph tools").get_by_role("button", name="PNG").click()
        assert re.fullmatch(r"\w+-\w+-overlay\.png", download.value.suggested_filename)
        picture = download.value.path().read_bytes()
        assert picture.startswith(PNG)
        assert len(picture) > 2_000


def test_a_broker_of_a_network_is_opened_in_its_picture_and_from_its_table(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["network"])
    overlay, panel = page.locator("#overlay"), page.locator("#broker")
    # None of these brokers really runs, so that only their states are known.
    expect(page.locator("#load-scale")).to_have_text("no data")
    overlay.click(position=overlay.evaluate("box => box._cyreg.cy.getElementById('n9').renderedPosition()"))
    expect(panel.get_by_role("heading", name="Broker 9")).to_be_visible()
    expect(panel).to_contain_text("The broker does not answer.")
    assert overlay.evaluate(SELECTED) == [9]
    assert page.url.endswith("?broker=9")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_contain_text("All brokers")
    # The table asks for itself again; whoever opened a broker from it comes back to the button that is there then.
    button = page.get_by_role("button", name="Show broker 2")
    button.focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("heading", name="Broker 2")).to_be_focused()
    with page.expect_response(re.compile(r"/brokers/\?shown=")):
        pass
    page.keyboard.press("Escape")
    expect(button).to_be_focused()


@both_widths
def test_names_of_few_are_always_shown_and_those_of_many_as_soon_as_one_is_near(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/topologies/new/?kind=ring")
    height = "box => box._cyreg.cy.nodes()[0].pstyle('font-size').pfValue * box._cyreg.cy.zoom()"
    least = "box => box._cyreg.cy.nodes()[0].pstyle('min-zoomed-font-size').pfValue"
    graph = page.locator(".graph[data-drawn]")
    for brokers, are_shown in (("20", True), ("100", False)):
        page.get_by_label("Brokers", exact=True).fill(brokers)
        page.get_by_label("Brokers", exact=True).press("Tab")
        expect(graph).to_have_attribute("aria-label", re.compile(f"between {brokers} brokers"))
        assert (graph.evaluate(height) >= graph.evaluate(least)) == are_shown
    page.get_by_label("Go to broker").fill("63")
    page.get_by_role("button", name="Show broker").click()
    assert graph.evaluate(height) >= graph.evaluate(least)
    expect(page.get_by_label("Brokers", exact=True)).to_have_value("100")
