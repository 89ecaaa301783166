"""How far simulated times may be believed: the page says it of the calibration in use, whichever that is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from overlay.runtime.calibrated import FILE, REFERENCE, reference
from overlay.systems.context_broker.system import SYSTEM
from telemetry.calibration.residuals import REFERENCE_RESIDUALS, RESIDUALS, residuals_path
from telemetry.calibration.trust import trust
from tests.pages.recorded import make_run


@pytest.fixture
def residuals() -> dict[str, Any]:
    """Those of the reference."""
    return json.loads(REFERENCE_RESIDUALS.read_bytes())["systems"][SYSTEM.name]


def calibrated(var: Path, residuals: dict[str, Any] | None = None, **measured: Any) -> None:
    """As ``make calibrate`` leaves it: the model, and its residuals where it was held against live runs."""
    model = json.loads(REFERENCE.read_bytes())
    model["systems"][SYSTEM.name]["measured"] |= measured
    (var / FILE).write_text(json.dumps(model))
    if residuals:
        residuals["measured"] |= measured
        (var / RESIDUALS).write_text(json.dumps({"systems": {SYSTEM.name: residuals}}))


def test_the_reference_comes_with_how_far_it_may_be_believed(var: Path) -> None:
    found = trust(var, SYSTEM)
    assert not found.is_own
    assert len(found.anchors) == 5, "a reference that is measured again has its residuals next to it"
    assert found.measured == reference().systems[SYSTEM.name].measured


def test_residuals_are_written_where_they_are_read(tmp_path: Path) -> None:
    assert residuals_path(REFERENCE) == REFERENCE_RESIDUALS
    assert residuals_path(tmp_path / FILE) == tmp_path / RESIDUALS


def test_the_page_shows_live_beside_simulated_and_names_what_is_not_near(olga: Client, residuals: dict) -> None:
    page = olga.get("/calibration/").content.decode()
    for row in residuals["anchors"]:
        assert f'data-label="Configuration">{row["anchor"]}<' in page
    wrong = [row["anchor"] for row in residuals["anchors"] if not row["is_close"]]
    assert "central, linear table of 500" in wrong, "those of the growth count as well"
    for name in wrong:
        assert f"{name} (" in page.partition("Not within")[2].partition("</p>")[0]
    assert "the reference shipped with Waxwing" in page
    assert 'data-report-chart="calibration"' in page
    shown = olga.get("/api/calibration/").json()
    rows = [*shown["anchors"], *shown["growth"]]
    assert [one["name"] for one in rows if not one["is_close"]] == wrong
    assert shown["near"] == len(rows) - len(wrong) == 8
    assert "8 of 11 simulated medians are within 20\u202f% of the live ones" in page
    assert (shown["own"], shown["close"]) == (False, 0.2)
    first = shown["anchors"][0]["off"]
    assert first["low"] < first["value"] < first["high"]


def test_the_age_and_the_machine_are_those_of_the_calibration_in_use(
    olga: Client, var: Path, residuals: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = {**residuals["measured"]["machine"], "processor": "Some other processor"}
    calibrated(var, residuals, date="2020-01-01", machine=machine)
    page = olga.get("/calibration/").content.decode()
    assert "this installation, by" in page
    assert "days ago, 2020-01-01" in page
    assert "<strong>Measured on another machine:</strong> Some other processor" in page
    shown = olga.get("/api/calibration/").json()
    assert (shown["own"], shown["another_machine"], shown["age_days"] > 2000) == (True, True, True)


def test_a_calibration_that_was_held_against_nothing_says_so(olga: Client, var: Path, residuals: dict) -> None:
    calibrated(var)
    assert "Not validated" in olga.get("/calibration/").content.decode()
    calibrated(var, residuals, date="2020-01-01")
    calibrated(var, None, date="2021-01-01")
    page = olga.get("/calibration/").content.decode()
    assert "Not validated" in page, "residuals of the one before say nothing of this one"


def test_what_is_damaged_is_a_sentence(olga: Client, var: Path) -> None:
    calibrated(var)
    (var / RESIDUALS).write_text("{")
    assert "cannot be read" in olga.get("/calibration/").content.decode()
    assert olga.get("/api/calibration/").status_code == 409
    (var / FILE).write_text("{")
    assert "cannot be read" in olga.get("/calibration/").content.decode()
    assert olga.get("/api/calibration/").status_code == 400


def test_simulated_runs_and_hosts_lead_to_it(olga: Client, operator: User, var: Path) -> None:
    run = make_run(operator, record_mb=0)
    for address in (f"/runs/{run.id}/", "/hosts/"):
        assert 'href="/calibration/' in olga.get(address).content.decode(), address
