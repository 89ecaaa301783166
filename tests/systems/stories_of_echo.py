"""The toy system through REST and the pages: set up, launched, measured, shown, filtered and compared.

``test_toys_everywhere`` runs these in a process of their own, which learns of the system by its environment as an
installation does: forms, filters and columns are made from the registry when they are imported.
"""

from __future__ import annotations

import json
import re
from collections import Counter

import pyarrow.parquet as pq
import pytest
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.experiments.models import Run
from brokerweb.simulations import job
from telemetry.__main__ import main as telemetry
from telemetry.lake.runs import Lake
from tests.pages.snapshot import Snapshot, all_rows

pytestmark = pytest.mark.django_db(transaction=True)

LINKS = re.compile(r'(?:href|hx-get)="(/(?!static|admin|accounts/logout)[^"#]*)')
WORKLOAD = {"callers": 8, "duration_s": 3, "interval_ms": 200}


@pytest.fixture
def looking(operator):
    browser = Client()
    browser.force_login(operator)
    return browser


@pytest.fixture
def operator(transactional_db):
    """Her id is the same in each test, since the runs that are kept belong to her."""
    return User.objects.create_superuser("olga", password="correct horse", id=1_000)


@pytest.fixture(scope="module")
def kept():
    """The runs, once a test has simulated them: others, which only read them, get them from here."""
    return []


@pytest.fixture
def runs(api, house, kept, request, tmp_path_factory):
    if kept:
        kept[0].restore(house)
    else:
        before = all_rows()
        simulate_all(api, request.getfixturevalue("ring"))
        kept.append(Snapshot(before, house, tmp_path_factory.mktemp("runs") / "var", None))
    found = list(Run.objects.order_by("position"))
    assert [(run.state, run.reason) for run in found] == [("done", "")] * 4
    return found


def simulate_all(api, ring):
    body = {
        "name": "echoes",
        "system": "echo",
        "topology": ring["id"],
        "settings": {"echoes": [1, 3]},
        "workload": WORKLOAD,
        "replicates": 2,
        "seed": 5,
        "engine": "simulated",
    }
    made = api.post("/api/experiments/", body, format="json")
    assert made.status_code == 201, made.content
    launched = api.post(f"/api/experiments/{made.json()['id']}/launch/")
    assert launched.status_code == 201, launched.content
    job.compute()


def test_it_is_listed_with_what_can_be_set(api):
    (echo,) = [row for row in api.get("/api/systems/").json()["results"] if row["name"] == "echo"]
    assert [row["name"] for row in echo["settings"]] == ["echoes"]
    assert [row["name"] for row in echo["workload"]] == ["callers", "interval_ms", "holders", "duration_s"]


def test_what_is_wrong_in_it_is_refused_by_its_own_check(api, ring):
    body = {"name": "wrong", "system": "echo", "topology": ring["id"], "settings": {"walk_ttl": 3}, "workload": {}}
    answer = api.post("/api/experiments/", body, format="json")
    assert answer.status_code == 400
    assert "walk_ttl" in answer.content.decode()


def test_its_runs_are_simulated_summarised_and_shown(api, looking, runs):
    run = api.get(f"/api/runs/{runs[0].pk}/").json()
    assert (run["verdict"], run["summary"]["answer_ratio"]) == ("valid", 1.0)
    assert run["summary"]["requests"] == 8 * 15
    for page in ("/", "/runs/", "/experiments/", f"/experiments/{runs[0].experiment_id}/", f"/runs/{runs[0].pk}/"):
        answer = looking.get(page)
        assert answer.status_code == 200, page
    page = looking.get(f"/runs/{runs[-1].pk}/").content.decode()
    assert "8 callers" in page
    assert "Each call was said back 3 times." in page, "a part by its own application"
    assert looking.get("/echo-chamber/").content == b"echo"
    assert 'href="/echo-chamber/"' in page
    assert "Echoes" in page
    assert "240 duplicates" in page
    assert "Load counts calls that arrived" in page
    for word in ("provider", "consumer", "Queries", "Hops"):
        assert word not in page, f"{word} is of another system"
    for path in ("brokers", "events", "samples", "series", "traces"):
        answer = api.get(f"/api/runs/{runs[0].pk}/{path}/")
        assert answer.status_code in (200, 404), (path, answer.content)


def test_each_echo_is_a_delivery_with_its_verdict(runs, settings):
    once, thrice = (run for run in runs if run.replicate == 1)
    if once.configuration["settings"]["echoes"] != 1:
        once, thrice = thrice, once
    assert once.summary["deliveries"]["duplicates"] == 0
    told = thrice.summary["deliveries"]
    assert (told["delivered"], told["duplicates"]) == (8 * 15, 2 * 8 * 15)
    assert told["delay_us"]["p50"] > 0
    rows = pq.read_table(Lake(settings.LAKE).part("deliveries", thrice.pk), partitioning=None)
    assert Counter(rows["verdict"].to_pylist())["duplicate"] == 2 * Counter(rows["verdict"].to_pylist())["first"]
    assert "connections" not in thrice.summary, "it has none"


def test_its_form_is_made_from_its_settings(looking):
    page = looking.get("/experiments/new/?system=echo").content.decode()
    assert 'name="settings-echoes"' in page
    assert 'name="workload-callers"' in page
    assert "walk_ttl" not in page
    other = looking.get("/experiments/new/").content.decode()
    assert 'href="?system=echo"' in other
    assert "echoes" not in other


def test_the_form_saves_and_launches_it(looking, ring):
    sent = {
        "name": "by form",
        "system": "echo",
        "engine": "simulated",
        "topology": ring["id"],
        "replicates": "1",
        "seed": "1",
        "do": "launch",
        "workload-callers": "4, 8",
        "workload-duration_s": "2",
        "settings-echoes": "2",
    }
    assert looking.post("/experiments/new/", sent).status_code == 302
    job.compute()
    assert set(Run.objects.values_list("state", flat=True)) == {"done"}
    assert Run.objects.count() == 2


def test_pages_with_its_figures_say_that_its_costs_are_defaults(api, looking, runs):
    run, missing = runs[0], "No measured service times for echo, callers: default costs are used."
    for page in (f"/runs/{run.pk}/", f"/experiments/{run.experiment_id}/", "/compare/?q=echoes+%3E+0"):
        assert missing in looking.get(page).content.decode(), page
    assert api.get(f"/api/runs/{run.pk}/").json()["simulated"]["unmeasured"] == ["echo", "callers"]


def test_its_runs_are_filtered_and_compared(api, looking, runs):
    assert api.get("/api/runs/?q=echoes = 3").json()["count"] == 2
    answer = api.get("/api/compare/?by=echoes")
    assert answer.status_code == 200, answer.content
    assert looking.get("/compare/?by=echoes").status_code == 200


def test_a_setting_that_another_system_has_with_another_meaning_is_named_by_system(api, looking, runs):
    assert api.get("/api/runs/?q=echo.workload.holders = 0.5").json()["count"] == 4
    assert api.get("/api/runs/?q=context-broker.workload.holders = 0").json()["count"] == 0
    assert api.get("/api/runs/?q=holders = 0.5").json()["count"] == 0, "the bare name stays the first system's"
    assert api.get("/api/runs/?q=echo.holders = 0.5").json()["count"] == 4
    assert api.get("/api/runs/?q=workload.duration_s = 3").json()["count"] == 4, "both mean seconds"
    names = "echo.workload.holders,context-broker.workload.holders"
    exported = looking.get(f"/runs/export/?format=csv&columns={names}").content.decode()
    assert "0.5" in exported
    page = looking.get(f"/runs/?columns={names}").content.decode()
    assert "Holders, share (Echo)" in page
    assert page.count("0.500") == 4, "one for each run"


def test_its_study_is_listed_launched_and_judged_by_rest_and_page(api, looking):
    listed = api.get("/api/studies/?system=echo").json()["results"]
    assert [(row["id"], row["experiment"]) for row in listed] == [("T.2", None)]
    (echo,) = [row for row in api.get("/api/systems/").json()["results"] if row["name"] == "echo"]
    assert [row["id"] for row in echo["studies"]] == ["T.2"]
    assert "Not run yet" in looking.get("/studies/T.2/").content.decode()
    launched = api.post("/api/studies/T.2/launch/", {"scale": "quick"}, format="json")
    assert (launched.status_code, launched.json()["count"]) == (201, 4), launched.content
    job.compute()
    found = api.get("/api/studies/T.2/").json()
    assert next((row["id"], row["n"], row["published"]) for row in found["claims"]) == ("alike", 2, 1.0)
    assert found["verdicts"]["alike"] == "reproduced"
    assert found["experiment"] == launched.json()["experiment"]
    page = looking.get("/studies/T.2/").content.decode()
    assert "It does not." in page
    assert "Echoes are alike" in page
    assert "study T.2, quick" in looking.get(f"/experiments/{found['experiment']}/").content.decode()


def test_its_study_runs_by_the_command(tmp_path, capsys):
    assert telemetry(["study", "T.2", "--json", "--var", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert next((row["id"], row["verdict"]) for row in found["claims"]) == ("alike", "reproduced")


def test_no_link_of_its_pages_is_broken(looking, runs):
    """Every address that its pages name, one step far: each opens, or says in a sentence why there is nothing."""
    pages = [f"/runs/{runs[0].pk}/", f"/experiments/{runs[0].experiment_id}/", "/runs/", "/compare/", "/"]
    found = {link for page in pages for link in LINKS.findall(looking.get(page).content.decode())}
    found |= {f"/runs/{runs[0].pk}/{part}/" for part in ("queries", "replay", "what-if", "difference", "log")}
    assert len(found) > 40
    wrong = {link: looking.get(link).status_code for link in sorted(found)}
    assert {link: status for link, status in wrong.items() if status >= 500 or status == 404} == {}


def test_spark_reports_on_it(runs, settings, tmp_path):
    rows = [{"run": run.pk, "replicate": run.replicate, "verdict": run.verdict} for run in runs]
    (tmp_path / "runs.json").write_text(json.dumps(rows))
    out = tmp_path / "out"
    told = ["report", "--runs", tmp_path / "runs.json", "--lake", settings.LAKE, "--out", out, "--var", settings.VAR]
    assert telemetry([*map(str, told), "--title", "Echoes"]) == 0
    report = json.loads((out / "result.json").read_text())
    assert [row["n"] for row in report["configurations"]] == [2, 2]
    assert "echo: No measured service times for echo, callers: default costs are used." in report["notes"]
    assert {row["system"] for row in report["configurations"]} == {"echo"}
    assert all(row["answer_ratio"]["value"] == 1 for row in report["configurations"])
    assert all(row["response"]["from_intended"]["mean"]["value"] > 0 for row in report["configurations"])
    assert "Echoes" in (out / "report.html").read_text()
