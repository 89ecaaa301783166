"""The list of runs in a browser: by keyboard alone, with shift, and whatever opens over it, wide and narrow."""

from __future__ import annotations

import csv
import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, WIDE, Shown, answer_yes, both_widths, turn_narrow
from tests.browser.looking import serious


@pytest.fixture
def page(page: Page, shown: Shown) -> Page:
    """The list."""
    page.goto(f"{shown.url}/runs/?q=state+%3D+done&sort=-p95")
    return page


def test_by_keyboard_alone_a_filter_is_typed_rows_are_chosen_and_compared(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Filter")).to_be_focused()
    page.keyboard.type("state = done and p95 > 0")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"q=state\+%3D\+done\+and\+p95\+%3E\+0&sort=-p95"))
    page.wait_for_load_state()  # keys do nothing before scripts have run
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("[data-chosen]")).to_have_text("2 selected")
    page.keyboard.press("c")
    expect(page).to_have_url(re.compile(r"/compare/\?runs=\w+%2C\w+"))


def test_rows_are_chosen_with_shift_and_what_would_happen_is_shown_first(page: Page) -> None:
    boxes = page.locator("[data-select]")
    boxes.nth(1).check()
    boxes.nth(4).click(modifiers=["Shift"])
    expect(page.locator("[data-chosen]")).to_have_text("4 selected")
    assert serious(page) == []
    page.get_by_label("Action for the selected runs").select_option("tag")
    page.get_by_label("Tag", exact=True).fill("by-hand")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("Add the tag by-hand to 4 runs: 4 done.")).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    expect(page).to_have_url(re.compile(r"/runs/\?q=state\+%3D\+done&sort=-p95$"))
    expect(page.get_by_role("link", name="#by-hand")).to_have_count(0)


@both_widths
def test_columns_views_help_and_labels_open_in_their_place(page: Page) -> None:
    page.get_by_text("Filter syntax").click()
    page.get_by_role("button", name="hops < 10").click()
    expect(page.get_by_role("searchbox", name="Filter")).to_have_value("state = done and hops < 10")
    assert serious(page) == []

    page.get_by_role("button", name=re.compile("^Tags and note of")).first.click()
    expect(page.get_by_label("Tags", exact=True)).to_be_focused()
    page.get_by_label("Tags", exact=True).fill("two%words")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("is not a valid tag")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("Tags", exact=True)).to_have_count(0)

    page.get_by_role("button", name="Columns").click()
    sheet = page.get_by_role("dialog").filter(has=page.get_by_label("p99", exact=True))
    sheet.click(position={"x": 4, "y": 4})  # on its own margin
    expect(sheet).to_be_visible()
    page.mouse.click(1, 1)  # on what it covers
    expect(sheet).to_be_hidden()
    page.get_by_role("button", name="Columns").click()
    page.get_by_label("p99", exact=True).check()
    assert serious(page) == []
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("[data-label='p99']").first).to_be_visible()
    page.get_by_role("button", name="Views").click()
    assert serious(page) == []
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


@pytest.mark.parametrize("page", [NARROW], indirect=True)
def test_a_view_is_saved_found_again_and_deleted(page: Page, shown: Shown) -> None:
    answer_yes(page)
    name, filtered = "Quickest last", page.url
    page.get_by_role("button", name="Views").click()
    page.get_by_label("Save this list as").fill(name)
    page.get_by_label("Save this list as").press("Enter")
    expect(page.locator("#toasts")).to_contain_text(name)
    page.goto(f"{shown.url}/runs/")
    page.get_by_role("button", name="Views").press("Enter")
    views = page.get_by_role("dialog", name="Views")
    views.get_by_role("link", name=name, exact=True).click()
    page.wait_for_url(filtered)
    page.get_by_role("button", name="Views").click()
    views.locator("li", has_text=name).get_by_text("Rename or delete").click()
    views.locator("li", has_text=name).get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Views").click()
    expect(views.get_by_role("link", name=name, exact=True)).to_have_count(0)


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_tag_is_put_on_the_chosen_runs_and_taken_off_again(page: Page) -> None:
    tag = "odd"
    for action, does, done, left in (
        ("tag", f"Add the tag {tag} to 2 runs", f"Added the tag {tag} to 2 runs.", 2),
        ("untag", f"Remove the tag {tag} from 2 runs", f"Removed the tag {tag} from 2 runs.", 0),
    ):
        for row in (0, 1):
            page.locator("[data-select]").nth(row).check()
        page.get_by_label("Action for the selected runs").select_option(action)
        page.get_by_label("Tag", exact=True).fill(tag)
        page.get_by_role("button", name="Preview").click()
        expect(page.get_by_text(f"{does}: 2 done.")).to_be_visible()
        page.get_by_role("button", name=does).press("Enter")
        expect(page.locator("#toasts")).to_contain_text(done)
        expect(page.locator("[data-row]").get_by_role("link", name=f"#{tag}")).to_have_count(left)
        turn_narrow(page)


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_what_is_listed_is_taken_away_as_files(page: Page) -> None:
    listed = page.locator("[data-row]").count()
    page.get_by_role("button", name="Export").click()
    taken = {}
    for kind in ("CSV", "JSON", "Parquet"):
        with page.expect_download() as download:
            page.get_by_role("dialog", name="Export").get_by_role("link", name=kind, exact=True).click()
        assert download.value.suggested_filename.endswith(f".{kind.lower()}")
        taken[kind] = download.value.path().read_bytes()
    rows = list(csv.DictReader(taken["CSV"].decode().splitlines()))
    assert len(rows) == len(json.loads(taken["JSON"])) == listed
    p95 = [float(row["p95_us"] or -1) for row in rows]  # those of systems without requests come last
    assert p95 == sorted(p95, reverse=True)
    assert taken["Parquet"].startswith(b"PAR1")
    assert taken["Parquet"].endswith(b"PAR1")
