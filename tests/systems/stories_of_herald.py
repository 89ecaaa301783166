"""The pushing toy through REST and the pages: nothing asks, nothing is answered, and there is no topology to choose.

``test_toys_everywhere`` runs these in a process of their own.
"""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from django.utils import timezone

from brokerweb.experiments import figures
from brokerweb.experiments.models import Run
from brokerweb.networks.models import Network
from brokerweb.reports.models import Report
from brokerweb.simulations import job
from telemetry.__main__ import main as telemetry

pytestmark = pytest.mark.django_db(transaction=True)

LINKS = re.compile(r'(?:href|hx-get)="(/(?!static|admin|accounts/logout)[^"#]*)')


@pytest.fixture
def looking(operator):
    browser = Client()
    browser.force_login(operator)
    return browser


@pytest.fixture
def runs(api, looking):
    body = {"name": "news", "system": "herald", "settings": {"relays": [1, 3]}, "engine": "simulated", "seed": 1}
    made = api.post("/api/experiments/", body, format="json")
    assert made.status_code == 201, made.content
    assert api.post(f"/api/experiments/{made.json()['id']}/launch/").status_code == 201
    job.compute()
    return list(Run.objects.order_by("position"))


def test_an_experiment_needs_no_topology_in_rest_or_form(looking, runs):
    assert [(run.state, run.reason) for run in runs] == [("done", "")] * 2
    page = looking.get("/experiments/new/?system=herald").content.decode()
    assert "Runs use the default topology of Herald" in page or "runs use the default of Herald" in page
    sent = {"name": "by form", "system": "herald", "engine": "simulated", "replicates": "1", "seed": "1"}
    assert looking.post("/experiments/new/", {**sent, "do": "save"}).status_code == 302
    refused = looking.post("/experiments/new/", {**sent, "system": "context-broker", "do": "save"})
    assert refused.status_code == 400


def test_a_run_is_valid_without_a_single_request(api, looking, runs):
    run = api.get(f"/api/runs/{runs[0].pk}/").json()
    assert (run["verdict"], run["summary"]["verdict_reasons"]) == ("valid", [])
    assert run["summary"]["deliveries"]["delivered"] == pytest.approx(4 * 20, abs=4)


def test_every_table_of_a_run_can_be_downloaded(api, runs):
    at = f"/api/runs/{runs[0].pk}/tables/"
    listed = {one["name"]: one["rows"] for one in api.get(at).json()}
    assert listed["deliveries"] == api.get(f"{at}deliveries/").json()["count"] > 0
    assert b"".join(api.get(f"{at}deliveries/?format=parquet"))[:4] == b"PAR1"
    assert b"".join(api.get(f"{at}ticks/?format=csv")).startswith(b"process,")
    assert [api.get(f"{at}{name}/").status_code for name in ("manifests", "unknown", "..", "herald.none")] == [404] * 4


def test_its_page_is_headed_by_its_own_figures_and_has_its_own_charts(api, looking, runs):
    page = looking.get(f"/runs/{runs[0].pk}/").content.decode()
    head = re.search(r'<section id="figures".*?</section>', page, re.DOTALL)[0]
    titles = ["Median delay of news", "Delay of news, 95th percentile", "News delivered", "Memory added per server"]
    assert re.findall(r"<dt>(.*?)</dt>", head) == [*titles, "Busy cores"]
    delivered = runs[0].summary["deliveries"]["delivered"]
    assert f'data-figure="histograms.deliveries.n" data-format="count">{delivered}</dd>' in head
    charts = re.findall(r'data-chart="(\w+)"', page)
    assert charts == ["delay", "pushes", "subscribers", "memory", "cores"]
    frame = api.get(f"/api/runs/{runs[0].pk}/series/").json()
    assert {"delay_p50", "delay_p95", "pushed", "subscribers"} < frame["series"].keys()
    (shown,) = [row for row in api.get("/api/systems/").json()["results"] if row["name"] == "herald"]
    assert shown["key_figures"] == ["delay_p50_us", "delay_p95_us", "news", "over_idle_bytes", "cores_used"]
    assert [chart["title"] for chart in shown["series"]][:2] == ["Delay of news", "Pushes per second"]
    assert shown["series"][0]["columns"] == ["delay_p50", "delay_p95"]


def heads(page):
    return re.findall(r'<th scope="col" class="num"[^>]*>(?:<a[^>]*>)?([^<]+)', page)


def test_lists_of_its_runs_show_its_own_figures(api, looking, runs):
    own = ["Median delay of news", "Delay of news, 95th percentile", "News delivered"]
    at = looking.get(f"/experiments/{runs[0].experiment_id}/").content.decode()
    configurations, listed = at[at.index("<h2>Configurations") : at.index('id="runs"')], at[at.index('id="runs"') :]
    assert heads(configurations) == ["n", *own]
    assert "Geometric mean of the replicates. Each with" in configurations
    assert heads(listed) == ["Clients", *own]
    home = looking.get("/").content.decode()
    assert heads(home) == ["Clients", *own]
    assert f'data-label="News delivered">{runs[0].summary["deliveries"]["delivered"]}</td>' in home
    every = looking.get("/runs/").content.decode()
    assert heads(every) == ["Clients", *own[:2], "Deliveries"]
    assert "columns=state%2Ctopology%2Cclients%2Cdelay_p50%2Cdelay_p95%2Cnews%2Cverdict" in every
    table = api.get(f"/api/experiments/{runs[0].experiment_id}/configurations/?sort=-delay_p95").json()
    assert {"delay_p50_us", "delay_p50_us_low", "delay_p95_us_high", "news"} < table[0].keys()
    assert api.get(f"/api/experiments/{runs[0].experiment_id}/configurations/?sort=p50").status_code == 400


def test_a_mixed_list_shows_the_figures_of_both_systems():
    titles = [figure.title for figure in figures.of_runs(["herald", "context-broker", "herald"])]
    own = ["Median delay of news", "Delay of news, 95th percentile", "News delivered"]
    assert titles == ["Mean", "p95", "Answered", *own]


def test_a_comparison_of_its_runs_starts_with_its_first_figure(api, looking, runs):
    page = looking.get("/compare/?q=").content.decode()
    assert '<option value="delay_p50" selected>Median delay of news</option>' in page
    assert "Memory of a server, USS" in page, "it compares runs of any system"
    assert api.get("/api/compare/?q=").json()["metrics"][0]["name"] == "delay_p50"
    chart = looking.get(f"/experiments/{runs[0].experiment_id}/chart/").content.decode()
    assert '<option value="delay_p50" selected>' in chart


def test_no_page_of_it_is_broken(looking, runs):
    pages = [f"/runs/{runs[0].pk}/", f"/experiments/{runs[0].experiment_id}/", "/runs/", "/compare/", "/"]
    found = {link for page in pages for link in LINKS.findall(looking.get(page).content.decode())}
    wrong = {link: looking.get(link).status_code for link in sorted(found)}
    assert {link: status for link, status in wrong.items() if status >= 500 or status == 404} == {}


def test_a_network_of_it_is_deployed_without_a_topology(api, looking):
    page = looking.get("/networks/new/?system=herald").content.decode()
    assert "Default topology of Herald" in page
    assert 'name="settings-relays"' in page
    sent = {"name": "town", "system": "herald", "topology": "", "settings-relays": "3"}
    assert looking.post("/networks/new/", sent).status_code == 302
    made = api.post("/api/networks/", {"name": "city", "system": "herald"}, format="json")
    assert (made.status_code, made.json()["topology"]) == (201, None)
    assert {(one.name, one.settings["relays"]) for one in Network.objects.all()} == {("town", 3), ("city", 2)}
    for network in Network.objects.all():
        assert looking.get(f"/networks/{network.pk}/").status_code == 200
    refused = api.post("/api/networks/", {"name": "walks"}, format="json")
    assert (refused.status_code, refused.json()["field"]) == (400, "topology")


def test_a_report_on_it_is_about_deliveries(looking, runs, settings, tmp_path):
    rows = [{"run": run.pk, "replicate": run.replicate, "verdict": run.verdict} for run in runs]
    (tmp_path / "runs.json").write_text(json.dumps(rows))
    out = tmp_path / "out"
    told = ["report", "--runs", tmp_path / "runs.json", "--lake", settings.LAKE, "--out", out, "--var", settings.VAR]
    assert telemetry([*map(str, told), "--title", "News"]) == 0
    result = json.loads((out / "result.json").read_text())
    found = [row["deliveries"] for row in result["configurations"]]
    assert [one["per_s"]["value"] for one in found] == pytest.approx([4 * 10] * 2, rel=0.1)
    assert [(one["duplicates"]["value"], one["p50"]["value"] > 0, one["p99"]["n"]) for one in found] == [
        (0, True, 1)
    ] * 2
    assert {"delivery-delay", "delivery-rate"} <= {chart["id"] for chart in result["charts"]}
    assert "response-time" not in {chart["id"] for chart in result["charts"]}, "it has no requests"
    file = (out / "report.html").read_text()
    assert "Delivered per s" in file
    assert "Truth of the answers" not in file
    report = Report.objects.create(kind="comparison", state="done", result=result, ended_at=timezone.now())
    page = looking.get(f"/reports/{report.pk}/").content.decode()
    assert "Deliveries by configuration" in page
    assert "Delivered per s" in page
    assert "Response time by configuration" not in page
    names, *_ = looking.get(f"/api/reports/{report.pk}/configurations/?format=csv").content.decode().splitlines()
    assert {"deliveries_per_s", "delivery_delay_p95_us", "deliveries_duplicates_high"} <= set(names.split(","))
