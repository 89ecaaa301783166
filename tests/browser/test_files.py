"""Files that are read and written: an imported topology and its versions, an experiment's definition."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.conftest import WIDE, Complaints, Shown, answer_yes, turn_narrow

pytestmark = pytest.mark.parametrize("page", [WIDE], indirect=True)
ROOT = Path(__file__).resolve().parents[2]
HARBOUR = "a,b,delay_ms\nharbour,market,2\nmarket,station,3\nstation,harbour,4\n"


def file(name: str, text: str) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}


def test_a_topology_is_imported_changed_restored_and_exported_as_it_came(
    page: Page, shown: Shown, complaints: Complaints
) -> None:
    complaints.expected = "400 (Bad Request)"
    name = "Harbour and market"
    page.goto(f"{shown.url}/topologies/")
    page.get_by_role("link", name="Import").click()
    page.get_by_label("Name", exact=True).fill(name)
    chosen, bring = page.get_by_label("File", exact=True), page.get_by_role("button", name="Import", exact=True)
    chosen.set_input_files(file("large.csv", "0,1\n" * 1_300_000))
    bring.click()
    expect(page.get_by_role("alert").filter(has_text="Has 5.2 MB; the limit is 5 MB.")).to_be_visible()
    chosen.set_input_files(file("broken.csv", "a,b,delay_ms\nharbour,market,soon\n"))
    bring.click()
    expect(page.get_by_role("alert").filter(has_text=re.compile("line 2|soon"))).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    chosen.set_input_files(file("harbour.csv", HARBOUR))
    bring.click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    here = page.url

    turn_narrow(page)
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page.locator("#saved")).to_have_text("Version 1, saved")
    page.get_by_role("button", name="Add broker").click()
    page.get_by_role("button", name="Save as new version").click()
    expect(page.locator("#saved")).to_have_text("Version 2, saved")
    page.get_by_role("link", name="Versions").click()
    page.get_by_role("button", name="Restore version 1").press("Enter")
    expect(page.locator(".page-head")).to_contain_text("3 brokers")
    page.goto(here)
    expect(page.locator(".page-head")).to_contain_text("version 3")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV", exact=True).click()
    links = {tuple(row[:3]) for row in csv.reader(download.value.path().read_text().splitlines()[1:]) if row[1]}
    assert links == {("harbour", "market", "2.0"), ("market", "station", "3.0"), ("harbour", "station", "4.0")}


def test_a_definition_is_read_from_a_file_judged_by_thresholds_and_saved(
    page: Page, shown: Shown, complaints: Complaints
) -> None:
    complaints.expected = "400 (Bad Request)"
    quick = (ROOT / "docs/examples/quick-look.yaml").read_text()
    name = "Read from a file"
    page.goto(f"{shown.url}/experiments/new/")
    page.get_by_role("button", name="YAML", exact=True).click()
    upload, document = page.get_by_label("Or upload a file"), page.get_by_label("Definition")
    upload.set_input_files(file("huge.yaml", "#" * 1_000_001))
    expect(page.get_by_text("huge.yaml has 1,000,001 bytes; the limit is 1,000,000.").first).to_be_visible()
    upload.set_input_files(file("broken.yaml", quick.replace("duration_s: 15", "duration_s: [15")))
    expect(page.get_by_role("alert").first).to_contain_text("column")
    document.fill("name: Typed by hand")
    page.once("dialog", lambda dialog: dialog.dismiss())
    upload.set_input_files(file("quick.yaml", quick))
    expect(upload).to_have_value("")
    expect(document).to_have_value("name: Typed by hand")
    answer_yes(page)
    upload.set_input_files(file("quick.yaml", quick.replace("A quick look", name)))
    expect(document).to_have_value(re.compile(name))
    page.get_by_role("button", name="Form", exact=True).click()
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)

    turn_narrow(page)
    thresholds, bar = page.get_by_label("Thresholds"), page.locator("#launch-bar")
    thresholds.fill("p96 < 2ms")
    expect(page.locator("[data-field=thresholds] .wrong")).to_contain_text("p96")
    expect(bar).to_contain_text("p96")
    thresholds.fill("p95 < 2ms\nnot_found = 0")
    expect(bar).to_contain_text("Launch 1 run")
    page.get_by_role("button", name="Save without launching").press("Enter")
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    definition = page.locator("#definition")
    expect(definition).to_contain_text("p95 < 2ms")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.path().read_text().strip() == definition.inner_text().strip()
