"""Radiator in REST and on the pages: forms, runs, thresholds, comparison, report, networks."""

from __future__ import annotations

import json
import re

import pyarrow.parquet as pq
import pytest
from django.test import Client
from django.utils import timezone

from brokerweb.celery import app
from brokerweb.control.reconcile import reconcile_host
from brokerweb.experiments.models import Run
from brokerweb.live.feed import Feed
from brokerweb.networks.models import Network
from brokerweb.reports.models import Report
from brokerweb.simulations import job
from brokerweb.studies import services as studies
from overlay.sim.replay import replay_all
from telemetry.__main__ import main as telemetry
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems import registry
from tests.brokerweb.conftest import api, house, operator, ring, supervisor, supervisors  # noqa: F401
from tests.thorough import thoroughly
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

LINKS = re.compile(r'(?:href|hx-get)="(/(?!static|admin|accounts/logout)[^"#]*)')
BODY = {
    "name": "volumes",
    "system": "radiator",
    "engine": "simulated",
    "seed": 1,
    "settings": {"aggregability": ["{volume: 1}", "{volume: 5}"], "echo": True, "chain_percent": 20},
    "workload": {"clients": 20, "duration_s": 5, "stagger_ms": 1},
    "thresholds": ["bytes_per_pair < 5000 B", "lag_p95 < 1ms", "pairs_failed <= 0"],
}


@pytest.fixture
def looking(operator):  # noqa: F811
    browser = Client()
    browser.force_login(operator)
    return browser


@pytest.fixture
def runs(api, looking):  # noqa: F811
    made = api.post("/api/experiments/", BODY, format="json")
    assert made.status_code == 201, made.content
    assert api.post(f"/api/experiments/{made.json()['id']}/launch/").status_code == 201
    job.compute()
    return list(Run.objects.order_by("position"))


def test_live_a_run_is_launched_collected_shown_and_replayed(api, looking, supervisor, settings):  # noqa: F811
    app.conf.task_always_eager = True
    app.loader.import_default_modules()
    workload = {"clients": 10, "duration_s": 3, "stagger_ms": 5, "drain_s": 2}
    body = {**BODY, "engine": "live", "settings": {"chain_percent": 30}, "workload": workload, "record_mb": 5}
    made = api.post("/api/experiments/", {**body, "thresholds": []}, format="json")
    assert made.status_code == 201, made.content
    (pk,) = api.post(f"/api/experiments/{made.json()['id']}/launch/").json()["runs"]

    def is_over():
        reconcile_host("here", "test", supervisor)
        return Run.objects.get(pk=pk).state in ("done", "failed")

    try:
        wait_for(is_over, "the run ends", every=0.05)
    finally:
        app.conf.task_always_eager = False
    run = Run.objects.get(pk=pk)
    assert (run.state, run.reason) == ("done", "")
    found = run.summary["radiator"]
    assert found["pairs_delivered"] == found["pairs_due"] == found["accepted"] * 9
    rows = pq.read_table(Lake(settings.LAKE).part("deliveries", pk), partitioning=None)
    assert len(rows) == found["pairs_delivered"]
    page = looking.get(f"/runs/{pk}/").content.decode()
    assert "Outbound bytes per pair" in page
    (replayed,) = replay_all(settings.RUNS / pk / "journal")
    assert (replayed.difference, replayed.datagrams > 100) == (None, True)


def test_an_experiment_needs_no_topology_in_rest_or_form(looking, runs):
    assert [(run.state, run.reason) for run in runs] == [("done", "")] * 2
    page = looking.get("/experiments/new/?system=radiator").content.decode()
    for part in ("<textarea", 'name="settings-aggregability"', 'name="workload-messages_per_s"', "Churn"):
        assert part in page, part
    sent = {"name": "by form", "system": "radiator", "engine": "simulated", "replicates": "1", "seed": "1"}
    assert looking.post("/experiments/new/", {**sent, "do": "save"}).status_code == 302
    wrong = {"settings-aggregability": "{volume: 1} if friend(s r) else {volume: 2}"}
    refused = looking.post("/experiments/new/", {**sent, **wrong, "do": "save"})
    assert refused.status_code == 400
    assert "line 1, column" in refused.content.decode()


def test_thresholds_are_judged_by_its_measures(api, runs):  # noqa: F811
    found = api.get(f"/api/runs/{runs[0].pk}/").json()
    assert found["verdict"] == "valid", found["summary"]["verdict_reasons"]
    assert [one["held"] for one in found["thresholds"]] == [True, False, True]


def test_its_page_is_headed_by_its_own_figures_and_has_its_own_charts(api, looking, runs):  # noqa: F811
    page = looking.get(f"/runs/{runs[0].pk}/").content.decode()
    figures = re.search(r'<section id="figures".*?</section>', page, re.DOTALL)[0]
    titles = re.findall(r"<dt>(.*?)</dt>", figures)
    assert titles[:3] == ["Mean lag", "Lag, 95th percentile", "Outbound bytes per pair"]
    assert re.findall(r'data-chart="(\w+)"', page)[:4] == ["lag", "outbound", "rates", "pairs"]
    (shown,) = [row for row in api.get("/api/systems/").json()["results"] if row["name"] == "radiator"]
    assert shown["key_figures"][:2] == ["lag_mean_us", "lag_p95_us"]
    frame = api.get(f"/api/runs/{runs[0].pk}/series/").json()
    assert {"lag_p50", "outbound", "pairs_retained"} < frame["series"].keys()


def test_its_charts_are_followed_from_before_its_manifest_is_written(runs, settings):
    run = runs[0]
    Run.objects.filter(pk=run.pk).update(state="measuring", host="here")
    manifest = RunFiles(settings.RUNS / run.pk).manifest_path
    written = manifest.read_bytes()
    manifest.unlink()
    feed = Feed("here")
    feed.frames()
    manifest.write_bytes(written)
    [(pk, frame)] = feed.frames()
    assert (pk, max(json.loads(frame["text"])["series"]["pushes"]) > 0) == (run.pk, True)


def test_runs_are_listed_filtered_and_compared(api, looking, runs):  # noqa: F811
    listed = api.get("/api/runs/?q=system = radiator and bytes_per_pair > 0").json()["results"]
    assert {row["id"] for row in listed} == {run.pk for run in runs}
    (by_volume,) = api.get('/api/runs/?q=aggregability = "{volume: 5}"').json()["results"]
    assert by_volume["id"] in {one.pk for one in runs if "5" in one.configuration["settings"]["aggregability"]}
    groups = api.get("/api/compare/?q=system = radiator&metric=lag_mean,bytes_per_pair").json()["results"]
    first, second = sorted(groups, key=lambda group: group["figures"]["lag_mean"]["value"])
    assert first["figures"]["bytes_per_pair"]["value"] > second["figures"]["bytes_per_pair"]["value"]
    page = looking.get("/compare/?q=system = radiator&metric=lag_mean,bytes_per_pair").content.decode()
    assert "Outbound bytes per pair" in page


def test_no_page_of_it_is_broken(looking, runs):
    pages = [f"/runs/{runs[0].pk}/", f"/experiments/{runs[0].experiment_id}/", "/runs/", "/compare/", "/"]
    found = {link for page in pages for link in LINKS.findall(looking.get(page).content.decode())}
    wrong = {link: looking.get(link).status_code for link in sorted(found)}
    assert {link: status for link, status in wrong.items() if status >= 500 or status == 404} == {}


def test_a_network_of_it_is_deployed_without_a_topology(api, looking):  # noqa: F811
    page = looking.get("/networks/new/?system=radiator").content.decode()
    assert 'name="settings-chain_percent"' in page
    sent = {"name": "town", "system": "radiator", "topology": "", "settings-chain_percent": "5"}
    assert looking.post("/networks/new/", sent).status_code == 302
    made = api.post("/api/networks/", {"name": "city", "system": "radiator"}, format="json")
    assert made.status_code == 201, made.content
    assert {(one.name, one.settings["chain_percent"]) for one in Network.objects.all()} == {("town", 5), ("city", 0)}
    for network in Network.objects.all():
        assert looking.get(f"/networks/{network.pk}/").status_code == 200
    share = {"name": "share", "system": "radiator", "settings": {"uplink_share": 1.1}}
    refused = api.post("/api/networks/", share, format="json")
    assert (refused.status_code, refused.json()["field"]) == (400, "settings.uplink_share")


@thoroughly
def test_a_report_on_it_is_about_deliveries(looking, runs, settings, tmp_path):
    rows = [{"run": run.pk, "replicate": run.replicate, "verdict": run.verdict} for run in runs]
    (tmp_path / "runs.json").write_text(json.dumps(rows))
    out = tmp_path / "out"
    chosen = ["report", "--runs", tmp_path / "runs.json", "--lake", settings.LAKE, "--out", out, "--var", settings.VAR]
    assert telemetry([*map(str, chosen), "--title", "Volumes"]) == 0
    result = json.loads((out / "result.json").read_text())
    found = [row["deliveries"] for row in result["configurations"]]
    assert [one["per_s"]["value"] for one in found] == pytest.approx([20 * 10] * 2, rel=0.2)
    assert {"delivery-delay", "delivery-rate"} <= {chart["id"] for chart in result["charts"]}
    report = Report.objects.create(kind="comparison", state="done", result=result, ended_at=timezone.now())
    page = looking.get(f"/reports/{report.pk}/").content.decode()
    assert "Deliveries by configuration" in page
    assert "Response time by configuration" not in page


@pytest.mark.parametrize("name", ["radiator-first-look", "radiator-scenarios", "radiator-faults"])
def test_its_presets_open_in_the_form_and_are_bodies(api, looking, name):  # noqa: F811
    page = looking.get(f"/experiments/new/?preset={name}").content.decode()
    assert "Filled in from the preset “Radiator" in page
    preset = api.get(f"/api/presets/{name}/").json()
    made = api.post("/api/experiments/", preset["definition"], format="json")
    assert made.status_code == 201, made.content


@pytest.mark.parametrize("name", ["E3.1", "E3.2", "E3.3", "E3.4"])
def test_its_studies_are_shown_offered_and_open_in_the_builder(api, looking, name):  # noqa: F811
    page = looking.get(f"/studies/{name}/").content.decode()
    assert "not known" in page
    shown = api.get(f"/api/studies/{name}/").json()
    assert (shown["system"], shown["seeds"]) == ("radiator", 0)
    builder = looking.get(f"/experiments/new/?study={name}&scale=quick").content.decode()
    assert f"the study {name} at the scale quick" in builder
    launched = api.post(f"/api/studies/{name}/launch/", {"scale": "quick"}, format="json")
    assert launched.status_code == 201, launched.content
    offer = studies.offer(registry.studies()[name], "quick")
    assert Run.objects.count() == offer.runs
    assert offer.estimated_s < 180
