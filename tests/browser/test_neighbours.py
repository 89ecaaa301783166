"""The admin and the REST documentation wear the product's colours, and one choice of theme holds everywhere."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Shown, both_widths

GROUND = "getComputedStyle(document.body).backgroundColor"
PLACES = ("/admin/", "/admin/experiments/run/", "/api/docs/")


def ground(page: Page, shown: Shown, address: str) -> str:
    page.goto(shown.url + address)
    return str(page.evaluate(GROUND))


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_theme_chosen_anywhere_is_everywhere(page: Page, shown: Shown) -> None:
    grounds = {}
    for theme, where in (("Dark", "/"), ("Light", "/admin/"), ("Dark", "/api/docs/")):
        page.goto(shown.url + where)
        page.get_by_role("button", name=theme, exact=True).click()
        seen = {ground(page, shown, address) for address in ("/", "/runs/", *PLACES)}
        assert len(seen) == 1
        grounds[theme] = seen.pop()
        for address in ("/", *PLACES):
            page.goto(shown.url + address)
            expect(page.get_by_role("button", name=theme, exact=True)).to_have_attribute("aria-pressed", "true")
        assert page.evaluate("localStorage.getItem('theme')") == theme.lower()
    assert grounds["Dark"] != grounds["Light"]


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_without_a_choice_they_follow_the_system(page: Page, shown: Shown) -> None:
    light = {ground(page, shown, address) for address in ("/", *PLACES)}
    page.emulate_media(color_scheme="dark")
    dark = {ground(page, shown, address) for address in ("/", *PLACES)}
    assert len(light) == len(dark) == 1
    assert light != dark
    assert page.evaluate("localStorage.getItem('theme')") is None


@both_widths
def test_their_head_leads_back(page: Page, shown: Shown) -> None:
    for address in PLACES:
        page.goto(shown.url + address)
        page.get_by_role("banner").get_by_role("link", name="Runs").click()
        page.wait_for_url(f"{shown.url}/runs/")
