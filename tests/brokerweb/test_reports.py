"""Reports and schedules without Spark: what is accepted, what waits for what, what is found lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.experiments.models import Run, RunState
from brokerweb.reports import queue, schedules
from brokerweb.reports.models import Report, Schedule

pytestmark = pytest.mark.django_db


@pytest.fixture
def experiment(api: APIClient, ring: dict) -> dict[str, Any]:
    made = api.post("/api/experiments/", {"name": "e", "topology": ring["id"]}, format="json").json()
    api.post(f"/api/experiments/{made['id']}/launch/")
    return made


@pytest.fixture
def done(experiment: dict) -> Run:
    Run.objects.update(state=RunState.DONE)
    return Run.objects.get()


def order(api: APIClient, **body: Any) -> Any:
    return api.post("/api/reports/", {"kind": "comparison", **body}, format="json")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "runs"),
        ({"runs": []}, "runs"),
        ({"runs": ["nonsense"]}, "runs"),
        ({"experiments": ["nonsense"]}, "experiments"),
        ({"kind": "horoscope"}, "kind"),
        ({"runs": "all"}, "runs"),
    ],
)
def test_what_cannot_be_reported_on_is_named(api: APIClient, done: Run, body: dict, field: str) -> None:
    answer = order(api, **body)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert Report.objects.count() == 0


def test_runs_that_are_not_done_cannot_be_compared(api: APIClient, experiment: dict) -> None:
    run = Run.objects.get()
    for state in (RunState.QUEUED, RunState.CANCELLED, RunState.FAILED):
        Run.objects.update(state=state)
        answer = order(api, runs=[run.pk])
        assert answer.json()["sentence"] == f"only finished runs can be compared; {run.pk} is {state}"


def test_a_report_waits_for_the_run_that_measures_and_says_so(api: APIClient, done: Run) -> None:
    report = order(api, runs=[done.pk]).json()
    measuring = Run.objects.get(pk=api.post(f"/api/runs/{done.pk}/rerun/").json()["id"])
    Run.objects.filter(pk=measuring.pk).update(state=RunState.MEASURING)
    queue.ask_due()
    shown = api.get(f"/api/reports/{report['id']}/").json()
    assert (shown["state"], measuring.pk in shown["progress"]) == ("queued", True)
    assert queue.begin(report["id"]) is None
    Run.objects.filter(pk=measuring.pk).update(state=RunState.DONE)
    queue.ask_due()
    assert queue.holds_up_runs()
    assert queue.begin(report["id"]) is not None
    assert queue.begin(report["id"]) is None


def test_one_that_may_disturb_does_not_wait(api: APIClient, done: Run) -> None:
    report = order(api, runs=[done.pk], while_measuring=True).json()
    Run.objects.update(state=RunState.MEASURING)
    assert queue.begin(report["id"]) is not None


def test_a_report_whose_worker_died_is_made_again_but_not_for_ever(api: APIClient, done: Run) -> None:
    report = order(api, runs=[done.pk]).json()

    def shown_after_a_death() -> dict:
        assert queue.begin(report["id"]) is not None
        Report.objects.update(heartbeat=timezone.now() - timedelta(minutes=1))
        queue.ask_due()
        return api.get(f"/api/reports/{report['id']}/").json()

    assert shown_after_a_death()["state"] == "queued"
    assert shown_after_a_death()["state"] == "queued"
    shown = shown_after_a_death()
    assert (shown["state"], shown["reason"]) == (
        "failed",
        "The Spark worker that computed it exited, 3 times; see its log.txt.",
    )


def test_an_attempt_that_was_given_up_on_changes_nothing(api: APIClient, done: Run) -> None:
    report = order(api, runs=[done.pk]).json()
    former = queue.begin(report["id"])
    assert former is not None
    assert queue.give_back(former, "It stalled")
    assert queue.begin(report["id"]) is not None
    assert not queue.give_back(former, "It stalled")
    assert api.get(f"/api/reports/{report['id']}/").json()["state"] == "running"


def test_no_report_is_made_by_itself_of_an_experiment_that_has_nothing_to_compare(api: APIClient, ring: dict) -> None:
    body = {"name": "e", "topology": ring["id"], "report_when_done": True, "replicates": 2}
    made = api.post("/api/experiments/", body, format="json").json()
    api.post(f"/api/experiments/{made['id']}/launch/")
    Run.objects.update(state=RunState.CANCELLED)
    queue.ask_due()
    assert not Report.objects.exists(), "it could only fail, and its owner be told of a failure that is none"
    Run.objects.filter(position=0).update(state=RunState.DONE)
    queue.ask_due()
    assert Report.objects.count() == 1


def test_a_report_that_nobody_takes_says_so(api: APIClient, done: Run) -> None:
    report = order(api, runs=[done.pk]).json()
    for _ in range(5):
        Report.objects.update(asked_at=None)
        queue.ask_due()
    assert "make up" in api.get(f"/api/reports/{report['id']}/").json()["progress"]
    assert not queue.holds_up_runs()


def test_a_queued_report_is_cancelled_at_once(api: APIClient, done: Run) -> None:
    report = order(api, runs=[done.pk]).json()
    assert api.post(f"/api/reports/{report['id']}/cancel/").json()["state"] == "failed"
    assert api.post(f"/api/reports/{report['id']}/cancel/").status_code == 409
    assert api.get(f"/api/reports/{report['id']}/html/").status_code == 404


def test_a_schedule_says_its_next_times_and_orders_one_report_at_a_time(api: APIClient, experiment: dict) -> None:
    body = {"name": "mornings", "experiments": [experiment["id"]], "crontab": "0 6 * * 1"}
    made = api.post("/api/schedules/", body, format="json")
    assert made.status_code == 201, made.content
    shown = made.json()
    assert [datetime.fromisoformat(moment).hour for moment in shown["next"]] == [6, 6, 6]
    assert all(datetime.fromisoformat(moment).weekday() == 0 for moment in shown["next"])
    assert len(set(shown["next"])) == 3
    first, second = schedules.fire(shown["id"]), schedules.fire(shown["id"])
    assert (first.outcome, second.outcome) == ("done", "skipped")
    assert second.sentence == "No report was requested: the previous one is not finished."
    url = f"/api/schedules/{shown['id']}/"
    assert api.patch(url, {"enabled": False}, format="json").json()["next"] == []
    changed = api.patch(url, {"enabled": True, "every_s": 3600}, format="json").json()
    assert (changed["every_s"], changed["crontab"], len(changed["next"])) == (3600, "", 3)
    assert api.delete(url).status_code == 204
    assert (Schedule.objects.count(), Report.objects.count()) == (0, 1)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "crontab"),
        ({"crontab": "whenever"}, "crontab"),
        ({"crontab": "99 6 * * *"}, "crontab"),
        ({"crontab": "0 0 31 2 *"}, "crontab"),
        ({"crontab": "0 6 * * *", "every_s": 60}, "crontab"),
        ({"every_s": 1}, "every_s"),
        ({"every_s": 60, "experiments": []}, "experiments"),
        ({"every_s": 60, "name": ""}, "name"),
    ],
)
def test_a_wrong_schedule_is_named_and_not_made(api: APIClient, experiment: dict, body: dict, field: str) -> None:
    answer = api.post("/api/schedules/", {"name": "s", "experiments": [experiment["id"]], **body}, format="json")
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert Schedule.objects.count() == 0


def test_the_next_times_cross_a_year(api: APIClient, experiment: dict) -> None:
    body = {"name": "s", "experiments": [experiment["id"]], "crontab": "30 1 1 1 *"}
    schedule = Schedule.objects.get(pk=api.post("/api/schedules/", body, format="json").json()["id"])
    moments = schedules.next_times(schedule, datetime(2026, 11, 21, tzinfo=UTC))
    assert [moment.year for moment in moments] == [2027, 2028, 2029]
