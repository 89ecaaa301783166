"""Schedules as people use them: their hours in words, what came of them, and what they do by hand."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.reports import hours, schedules
from brokerweb.reports.models import Firing, Report, Schedule
from brokerweb.topologies import services as topologies
from overlay.core.errors import InvalidSetting


@pytest.fixture
def experiment(operator: User) -> Experiment:
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    return experiments.create({"name": "Nightly ring", "topology": ring.id, "replicates": 2}, operator)


def body(experiment: Experiment, **more: str) -> dict[str, str]:
    return {"name": "nightly", "experiments": experiment.id, "by": "crontab", "crontab": "0 3 * * *", **more}


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def test_a_schedule_says_its_hours_its_next_times_and_what_came_of_it(olga: Client, experiment: Experiment) -> None:
    olga.post("/schedules/create/", body(experiment))
    schedule = Schedule.objects.get()
    page = text(olga, "/schedules/")
    assert "Every day at 03:00, UTC" in page
    assert page.count("<time datetime=") >= 3
    assert "none yet" in page
    olga.post(f"/schedules/{schedule.id}/now/")
    Report.objects.update(state="failed", reason="Spark ended.", started_at=timezone.now(), ended_at=timezone.now())
    assert "Spark ended." in text(olga, "/schedules/")
    history = text(olga, f"/schedules/{schedule.id}/")
    assert "Spark ended." in history
    assert "olga" in history


def test_it_is_edited_paused_resumed_and_deleted(olga: Client, experiment: Experiment) -> None:
    olga.post("/schedules/create/", body(experiment))
    schedule = Schedule.objects.get()
    form = text(olga, f"/schedules/{schedule.id}/edit/")
    assert 'value="0 3 * * *"' in form
    olga.post(f"/schedules/{schedule.id}/edit/", body(experiment, name="each Monday", crontab="0 6 * * 1"))
    assert "Mondays at 06:00, UTC" in text(olga, "/schedules/")
    olga.post(f"/schedules/{schedule.id}/switch/", {"enabled": "no"})
    assert "none while it is paused" in text(olga, "/schedules/")
    olga.post(f"/schedules/{schedule.id}/switch/", {"enabled": "yes"})
    assert "none while it is paused" not in text(olga, "/schedules/")
    olga.post(f"/schedules/{schedule.id}/delete/")
    assert not Schedule.objects.exists()


def test_one_that_launches_makes_the_runs_again_but_not_beside_those_of_the_last_time(
    olga: Client, experiment: Experiment
) -> None:
    olga.post("/schedules/create/", body(experiment, kind="launch"))
    schedule = Schedule.objects.get()
    first = schedules.fire(schedule.id)
    assert first is not None
    assert first.runs.count() == Run.objects.count() == 2
    olga.post(f"/schedules/{schedule.id}/now/")
    assert Run.objects.count() == 2
    assert "Nothing was launched: 2 of its runs have not ended yet." in text(olga, "/schedules/")
    Run.objects.update(state=RunState.DONE, ended_at=timezone.now())
    olga.post(f"/schedules/{schedule.id}/now/")
    assert Run.objects.count() == 4
    history = olga.get(f"/api/schedules/{schedule.id}/history/").json()["results"]
    assert [(row["outcome"], row["runs"]) for row in history] == [
        ("done", {"queued": 2}),
        ("skipped", {}),
        ("done", {"done": 2}),
    ]
    assert not Report.objects.exists()


def test_what_is_wrong_is_said_beside_the_field_and_nothing_that_was_typed_is_lost(
    olga: Client, experiment: Experiment
) -> None:
    for wrong, sentence in (
        ({"crontab": "at night"}, "Has five fields"),
        ({"crontab": "99 3 * * *"}, "Cannot be read"),
        ({"by": "every", "every_min": "soon"}, "Must be a whole number of minutes"),
        ({"by": "every", "every_min": "0"}, "Must be at least 60 s"),
        ({"name": " "}, "Must be 1 to 100 printable characters"),
        ({"experiments": ""}, "A schedule needs an experiment"),
    ):
        answer = olga.post("/schedules/create/", {**body(experiment), **wrong})
        assert answer.status_code == 400, wrong
        page = answer.content.decode()
        assert sentence in page, wrong
        assert 'name="crontab"' in page
        assert f'value="{experiment.id}" checked' in page or "experiments" in wrong
    assert not Schedule.objects.exists()


def test_hours_are_told_while_they_are_typed(olga: Client, db: None) -> None:
    said = text(olga, "/schedules/preview/?by=crontab&crontab=30+1+*+*+1-5")
    assert "Mondays to Fridays at 01:30, UTC." in said
    assert said.count("data-exact") == 3
    assert "cannot be read" in text(olga, "/schedules/preview/?by=crontab&crontab=61+*+*+*+*").lower()
    assert "Every 2\u202fh" in text(olga, "/schedules/preview/?by=every&every_min=120")


def test_the_history_is_bounded(olga: Client, experiment: Experiment) -> None:
    olga.post("/schedules/create/", body(experiment))
    schedule = Schedule.objects.get()
    Firing.objects.bulk_create(Firing(schedule=schedule, outcome="skipped") for _ in range(300))
    schedules.fire(schedule.id)
    assert schedule.firings.count() == schedules.MOST_FIRINGS
    assert schedule.firings.first().outcome == "done"


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("0 6 * * 1", "Mondays at 06:00, UTC"),
        ("0 6,18 * * *", "every day at 06:00 and 18:00, UTC"),
        ("*/15 * * * *", "every 15 minutes, UTC"),
        ("*/15 * * * 0,6", "every 15 minutes, Saturdays and Sundays, UTC"),
        ("5 * * * *", "every hour at 05 past, UTC"),
        ("0 */2 * * *", "every 2 hours at 00 past, UTC"),
        ("30 1 1 1 *", "on the 1st in January at 01:30, UTC"),
        ("0 4 2,22 * *", "on the 2nd and 22nd of every month at 04:00, UTC"),
        ("* * * * *", "every minute, UTC"),
        ("*/10 8-17 * * 1-5", "every 10 min in the hours 8 to 17, Mondays to Fridays, UTC"),
    ],
)
def test_crontabs_in_words(cron: str, words: str) -> None:
    assert hours.of_crontab(cron) == words


FIELD = st.sampled_from(["*", "*/7", "1", "1-5", "0,3", "*/2", "2-4/2", "x", "70", "", "mon"])


@given(fields=st.lists(FIELD, min_size=4, max_size=6))
def test_whatever_is_typed_has_words_and_times_or_a_sentence(fields: list[str]) -> None:
    try:
        words, times = schedules.preview(" ".join(fields), None, timezone.now())
    except InvalidSetting as error:
        assert error.sentence
        return
    assert words.endswith(", UTC")
    assert times == sorted(times)
