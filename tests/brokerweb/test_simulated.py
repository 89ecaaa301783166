"""Simulated runs from launch to pages: real simulations of a few brokers, in the processes that a worker starts."""

from __future__ import annotations

import io
import shutil
from datetime import timedelta
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.control import runs as live_runs
from brokerweb.experiments.models import Run, RunState
from brokerweb.experiments.run_durations import START_S
from brokerweb.kit.process_groups import ending
from brokerweb.networks.models import Host
from brokerweb.reports import queue as reports
from brokerweb.simulations import job, queue
from telemetry.sweep import costs
from tests.thorough import thoroughly

pytestmark = pytest.mark.django_db(transaction=True)

SMALL = {"providers": 2, "consumers": 3, "duration_s": 5, "stagger_ms": 10, "request_interval_s": 1}


def launched(api: APIClient, ring: dict, **changes: Any) -> list[Run]:
    simulated = {"engine": "simulated", "simulation": {"service_times": "none"}}
    body = {"name": "virtual", "topology": ring["id"], "workload": SMALL, "seed": 5, **simulated, **changes}
    made = api.post("/api/experiments/", body, format="json")
    assert made.status_code == 201, made.content
    answer = api.post(f"/api/experiments/{made.json()['id']}/launch/")
    assert answer.status_code == 201, answer.content
    return list(Run.objects.filter(pk__in=answer.json()["runs"]).order_by("position"))


def simulated_all() -> None:
    """Computes the next batch; what fails says why."""
    job.compute()
    assert not Run.objects.filter(state=RunState.FAILED).values_list("reason", flat=True)


def shown(api: APIClient, run: Run) -> dict[str, Any]:
    return api.get(f"/api/runs/{run.pk}/").json()


@pytest.fixture
def looking(operator: Any) -> Client:
    """The operator's browser."""
    browser = Client()
    browser.force_login(operator)
    return browser


def test_pages_say_if_clients_take_no_time(api: APIClient, ring: dict, looking: Client) -> None:
    (run,) = launched(api, ring, simulation={"service_times": "servers"})
    simulated_all()
    page = looking.get(f"/runs/{run.pk}/").content.decode()
    assert "Service times, memory and CPU time come from a model, in which clients take no time" in page


def test_a_launch_is_simulated_and_its_pages_say_so(api: APIClient, ring: dict, looking: Client) -> None:
    first, second = launched(api, ring, replicates=2)
    assert shown(api, first)["state"] == "queued"
    job.compute()
    run = shown(api, first)
    assert (run["state"], run["engine"], run["progress"], run["verdict"]) == ("done", "simulated", 1.0, "valid")
    assert (run["summary"]["requests"], run["summary"]["answered"]) == (15, 15)
    assert shown(api, second)["state"] == "done"
    brokers = api.get(f"/api/runs/{first.pk}/brokers/").json()["results"]
    assert len(brokers) == first.configuration["topology"]["brokers"]
    assert {one.get("state") for one in brokers} == {"stopped"}, "of each it is known what became of it, and where"
    assert len({one["address"] for one in brokers}) == len(brokers)
    course = [event["name"] for event in api.get(f"/api/runs/{first.pk}/events/").json()["results"]]
    assert [name for name in course if name in RunState.values][:5] == [
        "queued",
        "launching",
        "measuring",
        "collecting",
        "done",
    ]
    assert api.get(f"/api/runs/{first.pk}/samples/").json()["count"] > 15
    exported = api.get(f"/api/runs/{first.pk}/samples/?format=parquet")
    assert f"samples-{first.pk}-simulated.parquet" in exported["Content-Disposition"]
    schema = pq.read_schema(io.BytesIO(b"".join(exported.streaming_content)))
    assert schema.metadata[b"engine"] == b"simulated"
    assert api.get(f"/api/runs/{first.pk}/series/").json()["series"]["t"]
    assert api.get("/api/runs/?engine=simulated").json()["count"] == 2
    assert api.get("/api/runs/?engine=live").json()["count"] == 0
    pages = (f"/runs/{first.pk}/", "/runs/", "/experiments/", f"/experiments/{first.experiment_id}/", "/")
    for page in pages:
        assert 'class="simulated"' in looking.get(page).content.decode(), page


def test_the_same_seed_is_linked_and_never_computed_twice(api: APIClient, ring: dict) -> None:
    (first,) = launched(api, ring)
    job.compute()
    (second,) = launched(api, ring)
    job.compute()
    rows = {run.pk: run.observed["simulation"] for run in Run.objects.all()}
    assert (rows[first.pk]["was_kept"], rows[second.pk]["was_kept"]) == (False, True)
    assert rows[first.pk]["digest"] == rows[second.pk]["digest"]
    assert len(list((settings.VAR / "simulated").iterdir())) == 1


def test_the_same_again_is_computed_again_and_its_digest_compared(api: APIClient, ring: dict) -> None:
    (first,) = launched(api, ring)
    job.compute()
    again = api.post(f"/api/runs/{first.pk}/rerun/").json()
    job.compute()
    observed = Run.objects.get(pk=again["id"]).observed["simulation"]
    assert (observed["was_kept"], observed["differs_from"]) == (False, "")
    (kept,) = (settings.VAR / "simulated").iterdir()
    outcome = kept / "outcome.json"
    outcome.write_text(outcome.read_text().replace(observed["digest"], "0" * 32))
    other = api.post(f"/api/runs/{first.pk}/rerun/").json()
    job.compute()
    run = api.get(f"/api/runs/{other['id']}/").json()
    assert run["state"] == "failed"
    assert f"gave another digest: {observed['digest']} instead of {'0' * 32}" in run["reason"]


@thoroughly
def test_the_same_again_says_how_it_compares_after_what_was_kept_is_gone(
    api: APIClient, ring: dict, looking: Client
) -> None:
    (first,) = launched(api, ring)
    job.compute()
    assert shown(api, first)["simulated"]["repeat"] is None

    def again() -> tuple[dict[str, Any], str]:
        shutil.rmtree(settings.VAR / "simulated")
        made = api.post(f"/api/runs/{first.pk}/rerun/").json()
        job.compute()
        return shown(api, Run(pk=made["id"])), looking.get(f"/runs/{made['id']}/").content.decode()

    run, page = again()
    assert (run["state"], run["simulated"]["repeat"]["outcome"]) == ("done", "identical")
    assert run["simulated"]["repeat"]["run"] == first.pk
    assert "<strong>identical</strong> to that of" in page
    known = Run.objects.get(pk=first.pk).observed["simulation"]
    earlier = {"simulation": {**known, "key": "of other code", "digest": "0" * 32}}
    Run.objects.filter(pk=first.pk).update(observed=earlier)
    run, page = again()
    assert (run["state"], run["simulated"]["repeat"]["outcome"]) == ("done", "not comparable")
    assert "<strong>not comparable</strong> with" in page


def test_more_than_a_few_are_estimated_by_those_that_were_simulated(api: APIClient, ring: dict) -> None:
    body = {"name": "e", "topology": ring["id"], "workload": SMALL, "engine": "simulated", "replicates": 100}
    assert "Rough estimate" in api.post("/api/experiments/estimate/", body, format="json").json()["basis"]
    launched(api, ring)
    job.compute()
    assert "simulated on this host" in api.post("/api/experiments/estimate/", body, format="json").json()["basis"]
    live = api.post("/api/experiments/estimate/", {**body, "engine": "live"}, format="json").json()
    assert (live["basis"], live["estimated_s"] > 1000) == ("", True)


def test_an_estimate_follows_from_how_long_runs_took_here(api: APIClient, ring: dict) -> None:
    """Five times as long as estimated: the next estimates include all of it, once."""
    body = {"name": "e", "topology": ring["id"], "workload": SMALL, "engine": "simulated", "replicates": 40}

    def said() -> dict[str, Any]:
        return api.post("/api/experiments/estimate/", body, format="json").json()

    rough_s = said()["estimated_s"] - START_S
    (run,) = launched(api, ring)
    took_s = 5 * costs.seconds(run.configuration)
    observed = {"simulation": {"was_kept": False, "computed_s": took_s / 2, "took_s": took_s}}
    Run.objects.filter(pk=run.pk).update(state=RunState.DONE, observed=observed, ended_at=timezone.now())
    assert said()["estimated_s"] - START_S == pytest.approx(5 * rough_s, rel=0.02)


def test_what_goes_before_is_reckoned_as_the_queue_reckons_it(api: APIClient, ring: dict) -> None:
    Host.objects.create(name="here", heartbeat=timezone.now())
    runs = launched(api, ring, replicates=3)
    took = {"launched_at": timezone.now() - timedelta(seconds=30), "ended_at": timezone.now(), "estimated_s": 15.0}
    Run.objects.filter(pk=runs[0].pk).update(state=RunState.DONE, observed={"simulation": {"was_kept": False}}, **took)
    body = {"name": "e", "topology": ring["id"], "workload": SMALL, "engine": "live"}
    estimate = api.post("/api/experiments/estimate/", body, format="json").json()
    assert estimate["runs_ahead"] == 2
    assert estimate["ahead_s"] == max(shown(api, run)["eta_s"] for run in runs)


def test_a_run_whose_batch_was_begun_waits_for_no_other(api: APIClient, ring: dict) -> None:
    Host.objects.create(name="here", heartbeat=timezone.now())
    first, second = launched(api, ring, replicates=2)
    queue.begin("worker")
    assert shown(api, second)["waiting_for"] == "its batch is starting"
    Run.objects.filter(pk=first.pk).update(state=RunState.MEASURING)
    assert shown(api, second)["waiting_for"] == "in the batch being simulated"


def test_a_batch_waits_for_a_live_run_and_a_live_run_for_a_batch(api: APIClient, ring: dict) -> None:
    Host.objects.create(name="here", heartbeat=timezone.now())
    (simulated,) = launched(api, ring)
    (live,) = launched(api, ring, engine="live", simulation={}, name="real")
    assert live_runs.claim("here", "me") == live  # the batch was not asked for yet
    assert queue.begin("worker") == []
    assert "behind run 1 of real" in shown(api, simulated)["waiting_for"]
    Run.objects.filter(pk=live.pk).update(state=RunState.DONE)
    (other,) = launched(api, ring, engine="live", simulation={}, name="later")
    assert queue.begin("worker") == [simulated]
    assert live_runs.claim("here", "me") is None
    assert "behind run 1 of virtual" in shown(api, other)["waiting_for"]


def test_a_report_waits_for_a_batch(api: APIClient, ring: dict) -> None:
    (done,) = launched(api, ring)
    Run.objects.filter(pk=done.pk).update(state=RunState.DONE)
    launched(api, ring)
    assert queue.begin("worker")
    report = api.post("/api/reports/", {"kind": "comparison", "runs": [done.pk]}, format="json").json()
    reports.ask_due()
    assert "simulated runs" in api.get(f"/api/reports/{report['id']}/").json()["progress"]


def test_runs_of_a_worker_that_died_are_queued_again_but_not_for_ever(api: APIClient, ring: dict) -> None:
    (run,) = launched(api, ring)

    def die() -> dict[str, Any]:
        (begun,) = queue.begin("worker")
        Run.objects.filter(pk=begun.pk).update(
            state=RunState.MEASURING, lease_expires=timezone.now() - timedelta(minutes=1)
        )
        queue.take_up_lost()
        return shown(api, run)

    assert die()["state"] == "queued"
    assert die()["state"] == "queued"
    assert (die()["state"], "Given up after 3 attempts" in shown(api, run)["reason"]) == ("failed", True)


def test_a_batch_whose_worker_dies_before_it_begins_is_not_asked_for_for_ever(api: APIClient, ring: dict) -> None:
    first, second = launched(api, ring, replicates=2)

    def die(began: str | None = None) -> list[str]:
        batch = queue.begin("worker")
        assert [run.pk for run in batch] == [first.pk, second.pk]
        Run.objects.update(lease_expires=timezone.now() - timedelta(minutes=1))
        Run.objects.filter(pk=began).update(state=RunState.MEASURING)
        queue.take_up_lost()
        return [shown(api, run)["state"] for run in (first, second)]

    assert die() == ["queued", "queued"]
    assert die() == ["queued", "queued"]
    assert die(began=first.pk) == ["failed", "queued"]  # what had not begun is not to blame


def test_runs_whose_batches_never_begin_fail_with_the_reason(
    api: APIClient, ring: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,) = launched(api, ring)
    monkeypatch.setattr(job, "PLAIN", 0)  # by Spark, which there is not without Java
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    for state in ("queued", "queued", "failed"):
        job.compute()
        assert shown(api, run)["state"] == state
    assert "Given up after 3 attempts" in shown(api, run)["reason"]
    assert "JAVA_HOME" in shown(api, run)["reason"]


def test_a_batch_is_given_back_when_the_house_ends(api: APIClient, ring: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    long = {**SMALL, "duration_s": 3000, "consumers": 200}
    (run,) = launched(api, ring, workload=long)
    monkeypatch.setattr(ending, "is_set", lambda: True)
    job.compute()
    run.refresh_from_db()
    assert (run.state, run.lease_expires) == (RunState.QUEUED, None)
    assert not list((settings.VAR / "simulations").iterdir())


def test_a_queued_one_is_cancelled_at_once_and_one_under_way_keeps_what_it_has(
    api: APIClient, ring: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = {**SMALL, "duration_s": 3000, "consumers": 200}
    first, second = launched(api, ring, workload=long, replicates=2)
    assert api.post(f"/api/runs/{second.pk}/cancel/").json()["state"] == "cancelled"
    beat = job._Job._beat

    def cancel_and_beat(self: Any) -> None:
        if Run.objects.get(pk=first.pk).state == RunState.MEASURING:
            api.post(f"/api/runs/{first.pk}/cancel/")
        beat(self)

    monkeypatch.setattr(job._Job, "_beat", cancel_and_beat)
    monkeypatch.setattr(job, "HEARTBEAT_S", 0.1)
    job.compute()
    run = shown(api, first)
    assert (run["state"], "kept" in run["reason"]) == ("cancelled", True)
    assert shown(api, second)["state"] == "cancelled"
    assert not (settings.VAR / "simulated").exists() or not list((settings.VAR / "simulated").glob("*/outcome.json"))


def test_one_that_is_cancelled_as_it_ends_is_cancelled_and_keeps_all(
    api: APIClient, ring: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,) = launched(api, ring)
    end = job._Job._end

    def cancel_and_end(self: Any, *told: Any) -> None:
        assert api.post(f"/api/runs/{run.pk}/cancel/").status_code == 200
        end(self, *told)

    monkeypatch.setattr(job._Job, "_end", cancel_and_end)
    job.compute()
    found = shown(api, run)
    assert (found["state"], "kept" in found["reason"]) == ("cancelled", True)
    assert found["summary"]["answered"] == 15


def test_what_cannot_be_simulated_fails_alone(api: APIClient, ring: dict) -> None:
    first, second = launched(api, ring, replicates=2)
    broken = {**first.configuration, "workload": {**first.configuration["workload"], "duration_s": -1}}
    Run.objects.filter(pk=first.pk).update(configuration=broken, estimated_s=0)
    job.compute()
    assert (shown(api, first)["state"], "duration_s" in shown(api, first)["reason"]) == ("failed", True)
    assert shown(api, second)["state"] == "done"
