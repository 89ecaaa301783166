"""Live runs of real brokers and clients under a real supervisor, moved by rounds of the reconciler."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.celery import app
from brokerweb.control.reaping import Reaper, reap_lost
from brokerweb.control.reconcile import reconcile_host
from brokerweb.control.runs import adopt, claim
from brokerweb.experiments import collection
from brokerweb.experiments.models import Run, RunState
from brokerweb.reports.models import Report
from overlay.runtime.supervisor_client import SupervisorClient, SupervisorUnavailable
from tests.waiting import is_alive, wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]

SMALL = {"providers": 2, "consumers": 4, "update_interval_s": 0.5, "request_interval_s": 0.2, "stagger_ms": 10}


@pytest.fixture(autouse=True)
def tasks_at_once() -> Iterator[None]:
    """A task is done where it is asked for: no queue is what these stories are about."""
    app.conf.task_always_eager = True
    app.loader.import_default_modules()
    yield
    app.conf.task_always_eager = False


@pytest.fixture
def launch(api: APIClient, ring: dict) -> Callable[..., list[str]]:
    def launch(duration_s: float = 1, **more: Any) -> list[str]:
        body = {"name": "e", "topology": ring["id"], "workload": {**SMALL, "duration_s": duration_s}, **more}
        made = api.post("/api/experiments/", body, format="json")
        assert made.status_code == 201, made.content
        return api.post(f"/api/experiments/{made.json()['id']}/launch/").json()["runs"]

    return launch


def rounds_until(supervisor: SupervisorClient, holds: Callable[[], bool], owner: str = "test") -> None:
    def holds_after_a_round() -> bool:
        reconcile_host("here", owner, supervisor)
        return holds()

    wait_for(holds_after_a_round, "it came to hold", every=0.05)


def state_of(run: str) -> str:
    return Run.objects.get(pk=run).state


def test_a_run_goes_through_every_state_to_its_summary(
    api: APIClient, supervisor: SupervisorClient, launch: Callable[..., list[str]]
) -> None:
    (run,) = launch()
    rounds_until(supervisor, lambda: state_of(run) in ("done", "failed"))
    shown = api.get(f"/api/runs/{run}/").json()
    assert (shown["state"], shown["reason"], shown["progress"]) == ("done", "", 1.0)
    summary = shown["summary"]
    assert summary["requests"] == summary["answered"] == 20
    assert 0 < summary["p50"] <= summary["p95"] <= summary["p99"]
    assert len(summary["memory"]["brokers"]) == 4
    assert shown["verdict"] in ("valid", "suspect")
    events = api.get(f"/api/runs/{run}/events/?page_size=200").json()["results"]
    names = [event["name"] for event in events if not event["process"]]
    assert names == ["queued", "launching", "warming", "measuring", "collecting", "done"]
    assert {event["process"] for event in events if event["name"] == "NeighbourJoined"} == {
        f"broker-{index}" for index in range(4)
    }
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    assert api.get(f"/api/runs/{run}/series/").json()["outcomes"]["answered"] > 0

    page = api.get(f"/api/runs/{run}/samples/?page_size=5").json()
    assert (len(page["results"]), page["previous"]) == (5, None)
    text = b"".join(api.get(f"/api/runs/{run}/samples/?format=csv")).decode()
    assert text.startswith("role,client,")
    assert len(text.splitlines()) == page["count"] + 1
    assert b"".join(api.get(f"/api/runs/{run}/samples/?format=parquet"))[:4] == b"PAR1"
    assert api.get(f"/api/runs/{run}/samples/?format=xml").status_code == 400

    held = api.get(f"/api/runs/{run}/holdings/").json()
    assert (held["brokers"], held["count"]) == (4, 1), "every broker said what it held before the run was collected"
    assert held["results"][0]["queries"] == 20
    assert 1 <= held["results"][0]["holders"] <= 4

    rounds_until(supervisor, lambda: supervisor.hello()["deployments"] == [])


def test_every_query_of_a_live_run_can_be_followed_through_its_brokers(
    api: APIClient, supervisor: SupervisorClient, launch: Callable[..., list[str]]
) -> None:
    workload = {**SMALL, "entities": 2, "duration_s": 2}
    (run,) = launch(workload=workload, settings={"trace_one_in": 1, "replication_index": 0})
    rounds_until(supervisor, lambda: state_of(run) in ("done", "failed"))
    listed = api.get(f"/api/runs/{run}/traces/?order=longest").json()
    sent = api.get(f"/api/runs/{run}/samples/").json()["results"]
    assert listed["count"] == sum(row["attempts"] for row in sent if row["role"] == "consumer")
    farthest = listed["results"][0]
    assert farthest["hops"] >= 1
    query = api.get(f"/api/runs/{run}/traces/{farthest['id']}/").json()
    assert [one["number"] for one in query["passages"] if one["kind"] == "request"] == [*range(1, query["hops"] + 1)]
    assert all(one["ms"] > 0 for one in query["passages"])
    assert sum(one["ms"] for one in query["passages"]) <= query["ms"] + 0.01
    links = {frozenset((link["a"], link["b"])) for link in Run.objects.get(pk=run).configuration["topology"]["links"]}
    assert {frozenset((one["sender"], one["receiver"])) for one in query["passages"]} <= links
    if query["client"]:
        assert query["client"]["took_ms"] >= query["ms"]


def test_one_run_measures_at_a_time(supervisor: SupervisorClient, launch: Callable[..., list[str]]) -> None:
    first, second = sorted(launch(replicates=2), key=lambda run: Run.objects.get(pk=run).position)
    rounds_until(supervisor, lambda: state_of(first) == "measuring")
    assert state_of(second) == "queued"
    assert claim("here", "test") is None
    rounds_until(supervisor, lambda: state_of(second) == "done")
    earlier, later = Run.objects.get(pk=first), Run.objects.get(pk=second)
    assert earlier.ended_at <= later.launched_at


def test_a_cancelled_run_keeps_what_was_measured(
    api: APIClient, supervisor: SupervisorClient, launch: Callable[..., list[str]]
) -> None:
    (run,) = launch(duration_s=600)
    rounds_until(supervisor, lambda: state_of(run) == "measuring")

    def answered() -> int:
        count: int = api.get(f"/api/runs/{run}/series/").json()["outcomes"]["answered"]
        return count

    before = answered()  # some of them in warming, which no summary counts
    rounds_until(supervisor, lambda: answered() > before + 5)
    assert api.post(f"/api/runs/{run}/cancel/").json()["cancel_requested"] is True
    rounds_until(supervisor, lambda: state_of(run) == "cancelled")
    shown = api.get(f"/api/runs/{run}/").json()
    assert shown["summary"]["answered"] > 0
    assert "kept" in shown["reason"]


def test_a_killed_supervisor_fails_its_run_with_the_reason(
    house: Any, supervisor: SupervisorClient, launch: Callable[..., list[str]], restart: Callable[[], None]
) -> None:
    (run,) = launch(duration_s=600)
    rounds_until(supervisor, lambda: state_of(run) == "measuring")
    brokers = [broker["pid"] for broker in supervisor.status(run)["brokers"]]
    os.kill(supervisor.hello()["pid"], signal.SIGKILL)
    with pytest.raises(SupervisorUnavailable):
        rounds_until(supervisor, lambda: False)
    restart()
    rounds_until(supervisor, lambda: state_of(run) == "failed")
    assert "supervisor of host here ended" in Run.objects.get(pk=run).reason
    wait_for(lambda: not any(map(is_alive, brokers)), "the brokers end with their supervisor")


def test_a_returning_worker_adopts_its_run_and_the_former_one_is_fenced_off(
    supervisor: SupervisorClient, launch: Callable[..., list[str]]
) -> None:
    (run,) = launch(duration_s=4)
    rounds_until(supervisor, lambda: state_of(run) == "measuring")
    before = Run.objects.get(pk=run)
    adopt("here", "second")
    rounds_until(supervisor, lambda: state_of(run) == "done", owner="second")
    after = Run.objects.get(pk=run)
    assert after.lease_epoch == before.lease_epoch + 1
    assert after.events.filter(name="adopted").exists()


def test_a_run_that_nobody_looks_after_fails_with_a_sentence(
    supervisor: SupervisorClient, launch: Callable[..., list[str]]
) -> None:
    (run,) = launch(duration_s=600)
    rounds_until(supervisor, lambda: state_of(run) == "measuring")
    Run.objects.filter(pk=run).update(lease_expires=timezone.now() - timedelta(seconds=1))
    reap_lost()
    lost = Run.objects.get(pk=run)
    assert (lost.state, "make up" in lost.reason) == ("failed", True)
    rounds_until(supervisor, lambda: supervisor.hello()["deployments"] == [])


def test_one_who_was_away_itself_does_not_believe_an_expired_lease(
    supervisor: SupervisorClient, launch: Callable[..., list[str]]
) -> None:
    (run,) = launch(duration_s=600)
    rounds_until(supervisor, lambda: state_of(run) == "measuring")
    Run.objects.filter(pk=run).update(lease_expires=timezone.now() - timedelta(seconds=1))
    reaper, began = Reaper(), timezone.now()
    for second in (0, 5, 10, 60, 65):  # it slept between 10 and 60
        reaper.look(began + timedelta(seconds=second))
        assert state_of(run) == "measuring"
    for second in (70, 75):
        reaper.look(began + timedelta(seconds=second))
    assert state_of(run) == "failed"
    rounds_until(supervisor, lambda: supervisor.hello()["deployments"] == [])


def test_a_collection_that_was_lost_is_asked_for_again(
    supervisor: SupervisorClient, launch: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    app.conf.task_always_eager = False  # it goes to a queue without a reader
    (run,) = launch()
    rounds_until(supervisor, lambda: state_of(run) == "collecting")
    reconcile_host("here", "test", supervisor)
    assert Run.objects.get(pk=run).asked_at
    app.conf.task_always_eager = True
    app.loader.import_default_modules()
    monkeypatch.setattr(collection, "ASK_AGAIN", timedelta(0))
    rounds_until(supervisor, lambda: state_of(run) == "done")


@pytest.mark.spark
def test_a_report_is_made_when_the_last_run_has_ended(
    supervisor: SupervisorClient, launch: Callable[..., list[str]]
) -> None:
    runs = launch(report_when_done=True, replicates=2)
    rounds_until(supervisor, lambda: all(state_of(run) == RunState.DONE for run in runs))
    rounds_until(supervisor, lambda: Report.objects.filter(state__in=["done", "failed"]).exists())
    report = Report.objects.get()
    assert (report.state, report.reason) == ("done", "")
    assert report.result["charts"]
    for _ in range(3):
        reconcile_host("here", "test", supervisor)
    assert Report.objects.count() == 1


def test_a_run_without_a_disk_to_write_on_fails_with_a_sentence(
    house: Any, supervisor: SupervisorClient, launch: Callable[..., list[str]]
) -> None:
    (run,) = launch()
    (house / "runs").write_text("a file where the directory should be")
    rounds_until(supervisor, lambda: state_of(run) == "failed")
    assert str(house / "runs") in Run.objects.get(pk=run).reason
