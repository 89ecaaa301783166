"""Maps over time in a browser: stepped, followed, and found again by their address."""

from __future__ import annotations

from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Page, expect

from tests.browser.conftest import Shown


def asked(page: Page) -> dict[str, str]:
    """What the address says."""
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def test_vehicles_of_silbops_are_followed_and_the_address_leads_back(page: Page, shown: Shown) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(shown.url + shown.addresses["silbops-map"])
    step, clock, drawn = page.locator("#step"), page.locator("#clock"), page.locator("#map svg")
    expect(step).to_be_enabled()
    began = clock.inner_text()
    step.click()
    expect(clock).not_to_have_text(began)
    expect(page.locator("#notes [aria-current]")).to_have_count(1)
    expect(drawn.locator("line.note").first).to_be_attached()
    page.locator("#follow").select_option(index=1)
    expect(drawn.locator("g.followed")).to_have_count(1)
    here, told = asked(page), clock.inner_text()
    assert set(here) == {"t_s", "follow"}
    page.reload()
    expect(clock).to_have_text(told)
    expect(page.locator("#follow")).to_have_value(here["follow"])
    page.locator("#time").press("ArrowRight")
    expect(clock).not_to_have_text(told)
    assert errors == []


def test_squares_of_silbops_leave_in_sight_what_they_lie_over(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["silbops-map"])
    expect(page.locator("#map rect.square").first).to_be_attached()
    opacities = page.locator("#map rect.square").evaluate_all(
        "all => all.map(one => +getComputedStyle(one).fillOpacity)"
    )
    layers = float(page.locator("#map svg > g").first.evaluate("one => one.style.getPropertyValue('--layers')"))
    assert min(opacities) > 0
    assert 1 - (1 - max(opacities)) ** layers < 0.4


def test_nodes_of_contextnet_drive_and_get_what_is_sent_to_their_region(page: Page, shown: Shown) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(shown.url + shown.addresses["contextnet-map"])
    step = page.locator("#step")
    expect(step).to_be_enabled()
    step.click()
    expect(page.locator("#map rect.region.cast")).to_have_count(1)
    page.locator("#clock").click()
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_text("Pause")
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_text("Play")
    assert "t_s" in asked(page)
    assert errors == []
