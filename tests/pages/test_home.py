"""The home page: the first steps of an empty house; what runs, waits, failed, finished and comes next in a used one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment, QueuePause, Run, RunState
from brokerweb.live import overview
from brokerweb.reports import schedules
from brokerweb.reports import services as reports
from brokerweb.topologies import services as topologies
from telemetry.formatting import us
from telemetry.statistics.intervals import interval
from telemetry.systems.registry import measures
from tests.pages.furniture import House
from tests.pages.summed_up import summed_up


def home(client: Client) -> str:
    answer = client.get("/")
    assert answer.status_code == 200
    return answer.content.decode()


def end(run: Run, state: str, reason: str = "", **summary: float) -> None:
    Run.objects.filter(pk=run.pk).update(state=state, reason=reason, **summed_up(summary), ended_at=timezone.now())


@pytest.fixture
def sweep(operator: User) -> list[Run]:
    """Six queued runs: a ring and a full mesh, three of each."""
    overlays = [topologies.create(name=name, kind=kind, brokers=4).id for name, kind in KINDS]
    experiment = experiments.create({"name": "Sweep", "topology": overlays, "replicates": 3}, operator)
    return sorted(experiments.launch(experiment, operator).runs, key=lambda run: run.configuration["topology"]["kind"])


KINDS = (("Round", "ring"), ("Meshed", "full-mesh"))


IS_OPEN = 'data-remember="first-steps" open>'


def test_the_first_steps_tick_themselves_off(olga: Client, operator: User) -> None:
    page = home(olga)
    assert IS_OPEN in page
    assert page.count("<h3>", page.index(IS_OPEN), page.index("</details>")) == 3
    assert "is-done" not in page
    assert "Nothing is running or queued." in page
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    assert home(olga).count('class="is-done"') == 1
    experiment = experiments.create({"name": "First", "topology": ring.id}, operator)
    assert ">Launch</a>" in home(olga)
    run = experiments.launch(experiment).runs[0]
    assert "in progress" in home(olga)
    end(run, RunState.DONE)
    assert home(olga).count('class="is-done"') == 2
    assert "Create a report" in home(olga)
    reports.create(experiments=[experiment])
    assert "First steps" in home(olga)
    assert IS_OPEN not in home(olga)


def test_home_says_in_one_sentence_what_this_is(viktor: Client, house: House) -> None:
    page = home(viktor)
    sentence = page[page.index('what-it-is">') :].partition(">")[2].partition("</p>")[0]
    assert sentence.startswith("Waxwing ")
    assert sentence.count(". ") == 0
    assert page.index(sentence) < page.index("First steps") < page.index("Now</h2>")
    assert IS_OPEN in page, "who has set up nothing yet is offered the steps, whatever others have done"


def test_what_runs_waits_failed_finished_and_comes_is_told(olga: Client, sweep: list[Run], operator: User) -> None:
    experiment = Experiment.objects.get()
    schedules.create(name="Each morning", experiments=[experiment], crontab="0 6 * * *")
    report = reports.create(experiments=[experiment], owner=operator)
    report.state, report.ended_at = "done", timezone.now()
    report.save()
    now = timezone.now()
    Run.objects.filter(pk=sweep[0].pk).update(
        state=RunState.MEASURING, progress=0.5, launched_at=now, ends_at=now + timedelta(seconds=30)
    )
    end(sweep[1], RunState.DONE, mean=900, p95=2_000)
    for port, run in enumerate(sweep[2:5]):
        end(run, RunState.FAILED, f"Broker {port} could not bind to 127.0.0.1:70{port}: the port is in use.")
    page = home(olga)
    assert "1 run queued</a>" in page
    assert f"/runs/{sweep[0].id}/" in page.split("Recent failures")[0]
    assert "50\u202f%" in page
    assert page.count("could not bind") == 1, "the same reason but for its numbers"
    assert [failure.count for failure in overview.now()["failures"]] == [3]
    coming = page.split("Next scheduled")[1]
    assert "Each morning" in coming
    assert f"/reports/{report.id}/" in coming.split("Recent reports")[1]
    assert f"/runs/{sweep[1].id}/" in page.split("Recent runs")[1]


def test_the_queue_is_paused_and_resumed_from_the_page(olga: Client, viktor: Client, sweep: list[Run]) -> None:
    assert "Pause queue" in home(olga)
    assert "Pause queue" not in home(viktor)
    assert viktor.post("/queue/pause/").status_code == 403
    answer = olga.post("/queue/pause/", {"next": "/runs/?q=ring"})
    assert answer["Location"] == "/runs/?q=ring"
    page = home(viktor)
    assert "queue paused" in page
    assert "by olga" in page
    assert "Resume queue" not in page
    assert olga.post("/queue/resume/", {"next": "https://elsewhere.example/"})["Location"] == "/"
    assert not QueuePause.objects.exists()


def test_the_newest_finished_sweep_of_several_topologies_is_held_side_by_side(
    olga: Client, sweep: list[Run], operator: User
) -> None:
    assert "Latest sweep" not in home(olga), "its runs have not ended"
    for at, run in enumerate(sweep):
        end(run, RunState.DONE, p50=100 * (at + 1), p95=9_000, answer_ratio=1.0)
    alone = experiments.create({"name": "Alone", "topology": topologies.create(name="x", kind="ring", brokers=4).id})
    end(experiments.launch(alone, operator).runs[0], RunState.DONE, p50=1)
    found = overview.matrix()
    assert found is not None
    assert (found.name, found.heads) == ("Sweep", [("Meshed", "full-mesh"), ("Round", "ring")])
    rows = {measure.name: [(cell.text, cell.is_best) for cell in cells] for measure, cells in found.rows}
    assert rows["p50"] == [("182\u202fµs", True), ("493\u202fµs", False)], "geometric means"
    held = interval([100, 200, 300])
    p50 = dict(found.rows)[measures()["p50"]]
    assert (p50[0].spread, p50[0].n) == (f"{us(held['low'])} to {us(held['high'])}", 3)
    assert f"{p50[0].spread}, n = 3" in home(olga)
    assert rows["answer_ratio"] == [("100\u202f%", True), ("100\u202f%", True)]
    assert rows["over_idle"] == [("–", False), ("–", False)]
    page = home(olga)
    assert "Latest sweep" in page
    assert page.count('data-label="Meshed"') == page.count('data-label="Round"') == len(found.rows), "a card names both"
