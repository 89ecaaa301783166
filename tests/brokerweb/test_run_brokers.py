"""The brokers of a run, through REST: all of them in a row each, and one with all that it wrote down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.experiments.models import Run, RunState
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from tests.pages.recorded import make_run
from tests.pages.summed_up import summed_up
from tests.telemetry.synthetic import Script, write_run
from tests.telemetry.traced import ANSWERED_ID, write_traces

SMALL = {"providers": 1, "consumers": 2, "update_interval_s": 1, "request_interval_s": 0.2, "duration_s": 1}


@pytest.fixture
def run(api: APIClient, ring: dict[str, Any]) -> Run:
    """A run on a ring of four that goes on."""
    body = {"name": "looked at", "topology": ring["id"], "workload": SMALL}
    experiment = api.post("/api/experiments/", body, format="json").json()
    launched = api.post(f"/api/experiments/{experiment['id']}/launch/").json()["runs"][0]
    write_traces(write_run(Path(settings.RUNS) / launched, Script(brokers=4)), [0, 1, 2, 3])
    observed = [
        {"index": index, "state": "up", "address": f"127.0.0.1:{7000 + index}", "restarts": 0, "reason": ""}
        for index in range(4)
    ]
    Run.objects.filter(pk=launched).update(state=RunState.MEASURING, observed={"brokers": observed})
    return Run.objects.get(pk=launched)


def test_each_broker_has_a_row_with_its_state_load_and_memory(api: APIClient, run: Run) -> None:
    answer = api.get(f"/api/runs/{run.pk}/brokers/?page_size=3").json()
    assert (answer["count"], len(answer["results"]), answer["previous"]) == (4, 3, None)
    first = answer["results"][0]
    assert (first["index"], first["state"], first["address"]) == (0, "up", "127.0.0.1:7000")
    assert first["load_per_s"] == 80
    assert first["rss_bytes"] > first["uss_bytes"] > 0
    (last,) = api.get(answer["next"]).json()["results"]
    assert last["index"] == 3


def test_rows_are_what_the_snapshot_says(api: APIClient, run: Run) -> None:
    frame = api.get(f"/api/runs/{run.pk}/series/").json()
    rows = api.get(f"/api/runs/{run.pk}/brokers/").json()["results"]
    for row, memory, load in zip(rows, frame["memory"]["brokers"], frame["load"]["brokers"], strict=True):
        assert {name: row[name] for name in memory} == memory
        assert {name: row[name] for name in load} == load
    assert sum(row["load_per_s"] for row in rows) == frame["totals"]["load_per_s"]
    assert sum(row["uss_bytes"] for row in rows) == frame["totals"]["private_bytes"]


def test_one_broker_is_told_with_neighbours_and_steps(api: APIClient, run: Run) -> None:
    broker = api.get(f"/api/runs/{run.pk}/brokers/1/").json()
    assert broker["now"]["index"] == 1
    assert {row["index"] for row in broker["own"]["neighbours"]} == {0, 2}
    assert ANSWERED_ID in {step["query"] for step in broker["own"]["steps"]}
    assert broker["own"]["gauges"]["entries"] == 1
    assert broker["own"]["counters"]["forwards"] > 0
    assert broker["lately"] is None


def test_of_a_collected_run_memory_is_that_of_its_summary(api: APIClient, run: Run) -> None:
    summary = collect(RunFiles(Path(settings.RUNS) / run.pk), Lake(Path(settings.LAKE)))
    Run.objects.filter(pk=run.pk).update(state=RunState.DONE, **summed_up(summary))
    rows = api.get(f"/api/runs/{run.pk}/brokers/").json()["results"]
    measured = [row["uss_bytes"] for row in summary["memory"]["brokers"]]
    assert [row["uss_bytes"] for row in rows] == measured
    assert api.get(f"/api/runs/{run.pk}/brokers/2/").json()["now"]["uss_bytes"] == measured[2]


def test_a_recorded_run_tells_the_last_messages_and_the_data_that_they_brought(api: APIClient, operator: User) -> None:
    run = make_run(operator)
    brokers = [api.get(f"/api/runs/{run.pk}/brokers/{index}/").json() for index in range(6)]
    lately = [broker["lately"] for broker in brokers]
    assert all(0 < len(one["messages"]) <= 20 for one in lately)
    assert any(row["came_as"] == "update" for one in lately for row in one["entries"])
    held = {key for broker in brokers for key in broker["own"]["held"]["own"]}
    assert held == {row["entity"] for one in lately for row in one["entries"] if row["came_as"] == "update"}
    assert {row["state"] for row in brokers[0]["own"]["neighbours"]} == {"joined"}


def test_a_broker_there_is_not_is_404(api: APIClient, run: Run) -> None:
    for index in ("4", "99", "9999999", "x", "-1", "%00", "12345678"):
        assert api.get(f"/api/runs/{run.pk}/brokers/{index}/").status_code == 404, index


def test_a_run_of_which_nothing_was_written_has_no_rows(api: APIClient, ring: dict[str, Any]) -> None:
    body = {"name": "waiting", "topology": ring["id"], "workload": SMALL}
    experiment = api.post("/api/experiments/", body, format="json").json()
    queued = api.post(f"/api/experiments/{experiment['id']}/launch/").json()["runs"][0]
    assert api.get(f"/api/runs/{queued}/brokers/").json()["results"] == []
    broker = api.get(f"/api/runs/{queued}/brokers/0/").json()
    assert (broker["now"], broker["own"], broker["lately"]) == ({"index": 0}, None, None)


def test_brokers_are_for_whoever_may_look_and_for_nobody_else(api: APIClient, viewer: User, run: Run) -> None:
    addresses = [f"/api/runs/{run.pk}/brokers/", f"/api/runs/{run.pk}/brokers/0/"]
    looking = APIClient()
    looking.force_authenticate(viewer)
    assert [looking.get(address).status_code for address in addresses] == [200, 200]
    assert [Client().get(address).status_code for address in addresses] == [401, 401]
    wrong = api.get(f"{addresses[0]}?page_size=1001")
    assert (wrong.status_code, wrong.json()["field"]) == (400, "page_size")
    text = Client().get("/api/schema/").content.decode()
    assert "/api/runs/{id}/brokers/{index}/:" in text
