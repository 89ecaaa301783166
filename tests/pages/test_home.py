"""The home page: the first steps of an empty house; what runs, waits, failed, finished and comes next in a used one."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from brokerweb.experiments.models import Experiment, QueuePause, Run, RunState
from brokerweb.live import overview
from brokerweb.topologies import services as topologies
from tests.pages.furniture import House


def home(client: Client) -> str:
    answer = client.get("/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_first_steps_tick_themselves_off(olga: Client, operator: User, house: House) -> None:
    assert "The first three steps" not in home(olga)
    Experiment.objects.all().delete()
    page = home(olga)
    assert "The first three steps" in page
    assert page.count('class="is-done"') == 2, "topologies and reports are there still"
    assert "Set up an experiment" in page


def test_an_empty_house_offers_the_first_step_and_nothing_else_stands_in_the_way(olga: Client) -> None:
    page = home(olga)
    assert "Make a topology" in page
    assert "is-done" not in page
    assert "Nothing runs, and nothing waits." in page
    topologies.create(name="ring", kind="ring", brokers=4)
    assert home(olga).count('class="is-done"') == 1


def test_what_runs_waits_failed_finished_and_comes_is_told(olga: Client, house: House) -> None:
    page = home(olga)
    assert "run queued</a>" in page
    assert "Broker 3 could not bind to 127.0.0.1:7003" in page
    assert "Coming up" in page
    assert "Monday morning" in page
    assert "New reports" in page
    assert f"/runs/{house.runs['measuring'].id}/" in page


def test_runs_that_failed_for_the_same_reason_are_one_line_with_their_count(olga: Client, house: House) -> None:
    base = house.runs["failed"]
    for port in range(5):
        Run.objects.create(
            experiment=base.experiment,
            configuration=base.configuration,
            configuration_hash=base.configuration_hash,
            seed="1",
            state=RunState.FAILED,
            reason=f"Broker {port} could not bind to 127.0.0.1:70{port:02}: the port is in use by another program.",
            ended_at=timezone.now(),
        )
    assert [failure.count for failure in overview.now()["failures"]] == [6]
    assert home(olga).count("could not bind") == 1


def test_the_queue_is_paused_and_resumed_from_the_page(olga: Client, viktor: Client, house: House) -> None:
    assert "Pause the queue" in home(olga)
    assert "Pause the queue" not in home(viktor)
    assert viktor.post("/queue/pause/").status_code == 403
    answer = olga.post("/queue/pause/", {"next": "/runs/?q=ring"})
    assert answer["Location"] == "/runs/?q=ring"
    page = home(viktor)
    assert "queue paused" in page
    assert "by olga" in page
    assert "Resume the queue" not in page
    assert olga.post("/queue/resume/", {"next": "https://elsewhere.example/"})["Location"] == "/"
    assert not QueuePause.objects.exists()


def test_the_newest_sweep_is_an_overview_of_measures_by_topology(olga: Client, house: House) -> None:
    assert "The newest sweep" not in home(olga), "its runs have not all ended"
    Run.objects.filter(state__in=(RunState.MEASURING, RunState.QUEUED)).update(
        state=RunState.CANCELLED, ended_at=timezone.now()
    )
    found = overview.matrix()
    assert found is not None
    ring = [kind for _, kind in found.heads].index("ring")
    runs = Run.objects.filter(state=RunState.DONE, configuration__topology__kind="ring")
    p50s = [run.summary["p50"] for run in runs]
    measure, cells = found.rows[0]
    assert measure.name == "p50"
    assert cells[ring].text == overview.us(sum(p50s) / len(p50s))
    for _, row in found.rows:
        assert sum(cell.is_best for cell in row) >= 1 or all(cell.text == "–" for cell in row)
    assert "The newest sweep" in home(olga)
