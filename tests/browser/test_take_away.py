"""The two charts of a run that is held against another are taken away as pictures that can be edited."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import WIDE, Shown

SVG = "{http://www.w3.org/2000/svg}"


def saved(page: Page, figure: Locator, named: str) -> Element:
    expect(figure.locator("canvas")).to_be_visible()
    with page.expect_download() as download:
        figure.get_by_role("button", name="SVG").click()
    assert download.value.suggested_filename.endswith(f"{named}.svg")
    return fromstring(Path(download.value.path()).read_text())


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_the_difference_to_another_run_and_its_copies_are_pictures(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["varied"])
    difference = saved(page, page.locator("[data-difference]"), "difference")
    words = [text.text or "" for text in difference.iter(f"{SVG}text")]
    assert words[0].startswith("Cumulative distribution of the difference, simulated, run ")
    assert "requests with at most this difference; negative is faster" in words
    assert any(line.get("stroke-dasharray") == "4 4" for line in difference.iter(f"{SVG}line")), "zero is marked"
    page.goto(f"{shown.url}{shown.addresses['varied']}difference/")
    expect(page.locator("[data-difference] canvas")).to_be_visible()
    page.go_back()
    copies = saved(page, page.locator("[data-copies]"), "copies")
    legend = [text.text for text in copies.iter(f"{SVG}text")][-3:]
    assert legend[:2] == ["entities", "square root"] or legend[1:] == ["entities", "square root"]
    assert len(list(copies.iter(f"{SVG}circle"))) > 1, "a point for each entity"
