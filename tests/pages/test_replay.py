"""A recorded run is replayed on its page, and repeated with one thing changed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.experiments.models import Experiment, Run
from brokerweb.systems.context_broker.replay import recorded
from tests.pages.recorded import make_run, run_it


@pytest.fixture
def run(operator: User, var: Path) -> Run:
    return make_run(operator)


def data_of(page: str, name: str) -> dict[str, Any]:
    found = re.search(rf'<script id="{name}" type="application/json">(.*?)</script>', page)
    assert found
    return json.loads(found[1])


def test_the_replay_page_has_what_the_slider_needs_and_rest_has_the_messages(olga: Client, run: Run) -> None:
    page = olga.get(f"/runs/{run.id}/replay/").content.decode()
    shown = data_of(page, "replay-data")
    assert "simulated" in page
    assert [mark["label"] for mark in data_of(page, "marks-data")] == ["warming", "measuring", "draining"]
    assert sum(shown["bins"]) == shown["count"] > 500
    first = olga.get(shown["messages"], {"page_size": 10}).json()
    assert first["count"] == shown["count"]
    assert first["results"][0]["at_us"] == shown["first_us"]
    assert first["results"][0]["kind"] == "joining"
    assert "page=2" in first["next"]
    middle = (shown["first_us"] + shown["last_us"]) // 2
    later = olga.get(shown["messages"], {"from_us": middle, "to_us": middle + 10**6}).json()
    assert 0 < later["count"] < first["count"]
    assert all(middle <= row["at_us"] < middle + 10**6 for row in later["results"])


def test_no_number_in_an_address_is_too_strange(olga: Client, run: Run) -> None:
    for name in ("from_us", "to_us", "page", "page_size"):
        for value in ("-1", "1e3", "²", "1" + "0" * 20, "0" * 11 + "1" + "9" * 20, "9" * 5000):
            answer = olga.get(f"/api/runs/{run.id}/messages/", {name: value})
            assert (answer.status_code, answer.json()["field"]) == (400, name), value


def test_a_query_is_followed_from_its_trace(olga: Client, run: Run) -> None:
    trace = olga.get(f"/api/runs/{run.id}/traces/", {"order": "longest"}).json()["results"][0]
    page = olga.get(f"/runs/{run.id}/queries/{trace['id']}/").content.decode()
    assert f"/runs/{run.id}/replay/?query={trace['id']}" in page
    found = olga.get(f"/api/runs/{run.id}/messages/", {"query": trace["id"]}).json()["results"]
    between = [row for row in found if None not in (row["sender"], row["receiver"])]
    assert [row["family"] for row in between].count("request") == trace["hops"]


def test_what_is_simulated_says_so_wherever_it_is_shown_and_in_files_of_it(olga: Client, run: Run) -> None:
    trace = olga.get(f"/api/runs/{run.id}/traces/").json()["results"][0]
    page = olga.get(f"/runs/{run.id}/queries/{trace['id']}/").content.decode()
    assert 'class="simulated"' in page
    assert data_of(page, "sequence-data")["file"] == f"run-{run.id}-simulated-query-{trace['id']}"
    rows = olga.get("/runs/export/?format=json").json()
    assert list(rows[0])[:3] == ["run", "experiment", "engine"]
    assert {row["engine"] for row in rows} == {"simulated"}


def test_a_run_that_was_not_recorded_says_how_to_record_it(olga: Client, viktor: Client, run: Run) -> None:
    recorded.path_of(run).unlink()
    Run.objects.filter(pk=run.pk).update(configuration={k: v for k, v in run.configuration.items() if k != "record_mb"})
    page = olga.get(f"/runs/{run.id}/replay/").content.decode()
    assert "This run was not recorded" in page
    assert "Rerun with recording" in page
    assert "Rerun with recording" not in viktor.get(f"/runs/{run.id}/replay/").content.decode()
    answer = olga.get(f"/api/runs/{run.id}/messages/")
    assert (answer.status_code, "record_mb" in answer.json()["sentence"]) == (404, True)
    made = olga.post(f"/runs/{run.id}/what-if/", {"change": "record_mb", "record_mb": "8"})
    again = Run.objects.get(compared_with=run)
    assert made.url == f"/runs/{again.id}/"
    assert (again.configuration["record_mb"], again.seed) == (8, run.seed)


@pytest.mark.parametrize(
    ("form", "change"),
    [
        ({"change": "settings", "setting": "search", "value": "flood"}, {"settings": {"search": "flood"}}),
        ({"change": "settings", "setting": "walk_ttl", "value": "9"}, {"settings": {"walk_ttl": 9}}),
        ({"change": "settings", "setting": "monitoring", "value": "off"}, {"settings": {"monitoring": False}}),
        ({"change": "add_link", "add_link_a": "0", "add_link_b": "3"}, {"add_link": [0, 3]}),
        ({"change": "cut_link", "cut_link_a": "0", "cut_link_b": "1"}, {"cut_link": [0, 1]}),
        ({"change": "kill", "kill": "2"}, {"kill": 2}),
    ],
)
def test_one_thing_is_changed_by_the_form(olga: Client, run: Run, form: dict[str, str], change: dict[str, Any]) -> None:
    assert olga.post(f"/runs/{run.id}/what-if/", form).status_code == 302
    again = Run.objects.get(compared_with=run)
    assert (again.change, again.seed, again.state) == (change, run.seed, "queued")
    assert again.configuration_hash != run.configuration_hash


def test_what_cannot_be_changed_is_said_and_nothing_is_made(olga: Client, viktor: Client, run: Run) -> None:
    for form, sentence in (
        ({}, "Select a change"),
        ({"change": "add_link", "add_link_a": "0", "add_link_b": "1"}, "Brokers 0 and 1 are linked already"),
        ({"change": "settings", "setting": "walk_ttl", "value": "many"}, "“many” is not a number"),
        ({"change": "kill", "kill": "-1"}, "“-1” is not a whole number"),
    ):
        answer = olga.post(f"/runs/{run.id}/what-if/", form)
        assert (answer.status_code, sentence.lower() in answer.content.decode().lower()) == (400, True), sentence
    assert viktor.post(f"/runs/{run.id}/what-if/", {"change": "kill", "kill": "1"}).status_code == 403
    Run.objects.filter(pk=run.pk).update(state="measuring")
    assert olga.post(f"/runs/{run.id}/what-if/", {"change": "kill", "kill": "1"}).status_code == 409
    assert Run.objects.count() == 1


def test_what_a_change_made_is_told_request_by_request(olga: Client, run: Run) -> None:
    link = {"cut_link": [0, 1]}
    made = olga.post(f"/api/runs/{run.id}/what-if/", link, content_type="application/json")
    assert (made.status_code, made.json()["compared_with"], made.json()["change"]) == (201, run.id, link)
    again = Run.objects.get(pk=made.json()["id"])
    assert olga.get(f"/api/runs/{again.id}/difference/").status_code == 404
    assert "Available when both runs are done" in olga.get(f"/runs/{again.id}/difference/").content.decode()
    run_it(again)
    found = olga.get(f"/api/runs/{again.id}/difference/").json()
    assert found["pairs"] > 50
    assert found["unpaired"] == 0
    assert found["median"]["low"] <= found["median"]["value"] <= found["median"]["high"]
    assert sum(row["requests"] for row in found["outcomes"]) == found["pairs"]
    page = olga.get(f"/runs/{again.id}/difference/").content.decode()
    assert "without the link 0–1" in page
    assert page.count("(95 %, this seed only)") == 3
    assert len(data_of(page, "difference-data")["differences"]) == 101
    page = olga.get(f"/runs/{again.id}/").content.decode()
    assert f"/runs/{again.id}/difference/" in page
    assert "what if: without the link 0–1" in page


def test_the_same_again_in_virtual_time_changes_nothing(olga: Client, run: Run) -> None:
    olga.post(f"/runs/{run.id}/rerun/")
    again = run_it(Run.objects.get(rerun_of=run))
    found = olga.get(f"/api/runs/{again.id}/difference/").json()
    assert (found["faster"], found["slower"], found["mean"]["value"]) == (0, 0, 0)
    assert "any difference is due to chance" in olga.get(f"/runs/{again.id}/difference/").content.decode()


def test_an_experiment_is_made_to_be_recorded_by_form_and_by_rest(olga: Client, run: Run) -> None:
    body = {**run.experiment.definition, "record_mb": 16}
    made = olga.post("/api/experiments/", json.dumps(body), content_type="application/json")
    assert (made.status_code, made.json()["record_mb"]) == (201, 16)
    assert 'name="record_mb" value="16"' in olga.get(f"/experiments/new/?from={made.json()['id']}").content.decode()
    body["record_mb"] = 5000
    wrong = olga.post("/api/experiments/", json.dumps(body), content_type="application/json")
    assert (wrong.status_code, wrong.json()["field"]) == (400, "record_mb")
    form = {
        "name": "By form",
        "system": "context-broker",
        "engine": "live",
        "topology": run.experiment.definition["topology"],
    }
    form |= {"replicates": "1", "seed": "1", "record_mb": "32"}
    page = olga.post("/experiments/estimate/", form)
    assert page.status_code == 200
    olga.post("/experiments/new/", {**form, "launch": "no"})
    assert Experiment.objects.get(name="By form").definition["record_mb"] == 32
