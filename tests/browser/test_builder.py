"""An experiment is set up in a browser: from a preset, by mouse and by keyboard, as a form and as a document."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Shown, both_widths


def test_a_preset_becomes_a_sweep_of_one_s_own_by_keyboard_alone(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/experiments/new/")
    page.get_by_role("link", name=re.compile("A quick look")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Filled in from the preset")).to_be_visible()
    bar = page.locator("#launch-bar")
    expect(bar).to_contain_text(re.compile(r"Launch 1 run, about \d+\ss"))

    consumers = page.get_by_label("Consumers")
    consumers.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("10, 20")
    expect(bar).to_contain_text("Launch 2 runs")
    expect(page.locator("[data-setting=workload-consumers] [data-changed]")).to_be_visible()

    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("90000")
    sentence = page.locator("[data-setting=workload-consumers] .wrong")
    expect(sentence).to_contain_text("fit; the simulated engine needs no ports")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("10, 20")
    expect(sentence).to_have_count(0)
    expect(bar).to_contain_text("Launch 2 runs")

    page.get_by_role("button", name=re.compile("^Save without launching")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="A quick look")).to_be_visible()
    expect(page.locator("#definition")).to_contain_text("consumers: [10, 20]")
    expect(page.get_by_role("button", name=re.compile("Launch 2 runs"))).to_be_visible()


def test_an_estimate_that_a_newer_one_replaces_is_no_error(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/experiments/new/?preset=rare-data")
    slow: list[Route] = []
    page.route("**/experiments/estimate/", lambda route: route.continue_() if slow else slow.append(route))
    with page.expect_request("**/experiments/estimate/"):
        page.get_by_label("Replicates").fill("2")
    page.get_by_label("Replicates").fill("3")
    expect(page.locator("#launch-bar")).to_contain_text("3 replicates")


@both_widths
def test_settings_come_and_go_with_the_choice_that_uses_them(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/experiments/new/?preset=rare-data")
    page.get_by_text(re.compile("^Broker settings")).click()
    walkers, flood = page.locator("[data-setting=settings-walkers]"), page.locator("[data-setting=settings-flood_ttl]")
    expect(walkers).to_be_hidden()
    page.get_by_label("k-walkers", exact=True).check()
    expect(walkers).to_be_visible()
    expect(flood).to_be_hidden()
    walkers.locator("input").fill("8")
    expect(walkers.get_by_role("button", name="Reset to default 4 walks")).to_be_visible()
    page.get_by_label("k-walkers", exact=True).uncheck()
    page.get_by_label("flood", exact=True).check()
    expect(walkers).to_be_hidden()
    expect(flood).to_be_visible()
    page.get_by_text(re.compile("unused settings? hidden")).click()
    expect(page.locator("#unused")).to_contain_text("Walkers with search k-walkers; value 8")
    page.get_by_label("k-walkers", exact=True).check()
    expect(walkers.locator("input")).to_have_value("8")
    walkers.get_by_role("button", name="Reset to default 4 walks").click()
    expect(walkers.locator("input")).to_have_value("4")
    expect(walkers.locator("[data-changed]")).to_be_hidden()


def test_a_fault_that_was_removed_is_given_back_as_it_was_filled_in(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/experiments/new/")
    page.get_by_text("Faults", exact=True).click()
    for brokers in ("1", "2, 3"):
        page.get_by_role("button", name="Add fault").click()
        page.get_by_label("Target").last.fill(brokers)
    page.get_by_role("button", name="Remove").first.click()
    expect(page.get_by_label("Target")).to_have_value("2, 3")
    page.get_by_role("button", name="Undo").press("Enter")
    expect(page.get_by_label("Target")).to_have_count(2)
    expect(page.get_by_label("Target").first).to_have_value("1")


def test_the_document_follows_the_form_and_the_form_the_document(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/experiments/new/?preset=search-compared")
    page.get_by_label("Duration").fill("1m30s")
    page.get_by_role("button", name="YAML", exact=True).click()
    document = page.get_by_label("Definition")
    expect(document).to_have_value(re.compile(r"duration_s: 90"))
    expect(document).to_have_value(re.compile(r"arm: structured"))
    text = document.input_value()
    document.fill(text.replace("duration_s: 90", "duration_s: [90"))
    expect(page.locator("#launch-bar")).to_contain_text("column")
    page.get_by_role("button", name="Form", exact=True).click()
    expect(document).to_have_value(re.compile(r"duration_s: \[90"))
    expect(page.get_by_role("alert").first).to_contain_text("column")
    document.fill(text.replace("duration_s: 90", "duration_s: [90, 60]"))
    expect(page.locator("#launch-bar")).to_contain_text("Launch 70 runs")
    page.get_by_role("button", name="Form", exact=True).click()
    expect(page.get_by_label("Duration")).to_have_value("90, 60")
    expect(page.get_by_role("heading", name="Union of 2 blocks")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="YAML", exact=True).click()
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "search-strategies-compared.yaml"
