"""Thresholds of an experiment that has run: set and changed on its page, by REST and by a command."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from brokerweb.experiments import evaluation
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment, Run, RunEvent, RunState
from brokerweb.kit import ids
from brokerweb.topologies import services as topologies
from overlay.systems.registry import SYSTEMS
from telemetry import thresholds
from telemetry.systems.registry import measures_of
from tests.pages.summed_up import summed_up

P95_US = (900.0, 1_500.0, 2_500.0)


@pytest.fixture
def sweep(operator: User) -> Experiment:
    """Of its four runs three are done, within 0.9, 1.5 and 2.5 ms; the last waits."""
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    made = experiments.create({"name": "sweep", "topology": ring.pk, "replicates": 4}, operator)
    runs = sorted(experiments.launch(made, operator).runs, key=lambda run: run.position)
    for run, p95 in zip(runs, P95_US, strict=False):
        done = {"state": RunState.DONE, "ended_at": timezone.now()}
        Run.objects.filter(pk=run.pk).update(**done, **summed_up({"p95": p95, "not_found": 0}))
    return made


def outcomes(experiment: Experiment) -> list[bool | None]:
    return list(experiment.runs.order_by("position").values_list("passed", flat=True))


def page(client: Client, experiment: Experiment, address: str = "") -> str:
    answer = client.get(f"/experiments/{experiment.pk}/{address}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_runs_that_are_done_are_judged_again_and_say_who_demanded_it(olga: Client, sweep: Experiment) -> None:
    assert "None: runs are not evaluated." in page(olga, sweep)
    address = f"/experiments/{sweep.pk}/thresholds/"
    tried = olga.post(f"{address}preview/", {"thresholds": "p95 < 2ms"}).content.decode()
    assert "Of 3 finished runs, <strong>2</strong> would pass and <strong>1</strong> would fail." in tried
    assert outcomes(sweep) == [None] * 4

    saved = olga.post(address, {"thresholds": "p95 < 2ms\nnot_found = 0"}, follow=True).content.decode()
    assert "Saved. 2 of 3 finished runs passed all thresholds." in saved
    assert "Set by olga" in saved
    assert "1 failed" in saved
    assert outcomes(sweep) == [True, True, False, None]
    broken = sweep.runs.get(passed=False)
    assert broken.thresholds[0] == {"text": "p95 < 2ms", "value": 2_500.0, "held": False, "why": ""}
    assert broken.thresholds[1] == {"text": "not_found = 0", "value": 0, "held": True, "why": ""}
    said = broken.events.get(name="judged again").detail
    assert (
        said
        == "olga set the thresholds p95 < 2ms, not_found = 0; previously none. Thresholds broken: p95 < 2ms (2.5ms)."
    )
    assert "Thresholds broken: p95 &lt; 2ms (2.5ms)." in olga.get(f"/runs/{broken.pk}/").content.decode()

    olga.post(address, {"thresholds": "p95 < 3ms"})
    assert outcomes(sweep) == [True, True, True, None]
    olga.post(address, {"thresholds": ""})
    assert outcomes(sweep) == [None] * 4
    assert "None: runs are not evaluated." in page(olga, sweep)


def test_lost_requests_break_a_threshold_on_time_and_it_says_how_many(olga: Client, sweep: Experiment) -> None:
    """The 800 answers of the first run are as quick as ever; 200 requests timed out."""
    lossy = sweep.runs.order_by("position")[0]
    outcomes = {"requests": 1_000, "answered": 800, "timed_out": 200, "not_found": 0, "answer_ratio": 0.8}
    bounds = {"requests": 1_000, "unanswered": 200, "mean": None, "p50": 700.0, "p95": None, "p99": None}
    Run.objects.filter(pk=lossy.pk).update(**summed_up({"p50": 650.0, "p95": 900.0, **outcomes, "bounds": bounds}))
    assert (evaluation.tried(sweep, ["p95 < 2ms"]).kept, evaluation.tried(sweep, ["p50 < 2ms"]).broken) == (1, 2)
    came_to = evaluation.demand(sweep, ["p95 < 2ms"])
    assert (came_to.kept, came_to.broken) == (1, 2)
    said = "200 of 1,000 requests got no answer, so p95 is unbounded"
    shown = olga.get(f"/runs/{lossy.pk}/").content.decode()
    assert said in shown
    assert "80 %" in shown.replace("\u202f", " ")
    judged = olga.get(f"/api/runs/{lossy.pk}/").json()["thresholds"]
    assert judged == [{"text": "p95 < 2ms", "value": None, "held": False, "why": said}]
    out = StringIO()
    with pytest.raises(SystemExit) as code:
        call_command("thresholds", sweep.pk, stdout=out)
    assert code.value.code == 4


def test_a_run_that_is_done_later_is_held_to_the_new_ones(olga: Client, sweep: Experiment) -> None:
    waiting = sweep.runs.select_related("experiment").get(state=RunState.QUEUED)
    evaluation.demand(sweep, ["p95 < 1ms"])
    late = evaluation.measured(waiting, {"p95": 1_100.0}, is_done=True)
    assert (late["passed"], late["thresholds"][0]["text"]) == (False, "p95 < 1ms")


def test_a_line_that_cannot_be_read_is_named_and_nothing_changes(olga: Client, sweep: Experiment) -> None:
    address = f"/experiments/{sweep.pk}/thresholds/"
    for typed, sentence in (
        ("p95 < 2ms\np59 < 1ms", "“p59 &lt; 1ms”: there is no figure “p59”"),
        ("p95 < 2ms\np95 < 2ms\np59 < 1ms", "“p59 &lt; 1ms”: there is no figure “p59”"),
        ("p95 < 2", "needs a unit"),
        ("\n".join(f"not_found < {number}" for number in range(21)), "at most 20"),
    ):
        answer = olga.post(address, {"thresholds": typed})
        assert answer.status_code == 400
        assert sentence in answer.content.decode(), typed
        assert typed.split("\n")[-1].replace("<", "&lt;") in answer.content.decode()
    assert "there is no figure" in olga.post(f"{address}preview/", {"thresholds": "p59 < 1ms"}).content.decode()
    assert outcomes(sweep) == [None] * 4
    assert not RunEvent.objects.filter(name="judged again").exists()


def test_others_that_were_set_meanwhile_are_not_written_over(olga: Client, sweep: Experiment) -> None:
    address = f"/experiments/{sweep.pk}/thresholds/"
    seen = olga.get(address).context["seen"]
    evaluation.demand(sweep, ["p95 < 1ms"])
    refused = olga.post(address, {"thresholds": "p95 < 9ms", "seen": seen})
    assert refused.status_code == 409
    text = refused.content.decode()
    assert "Nothing was saved: the stored values changed after you opened this form." in text
    assert "Stored value: <strong>p95 &lt; 1ms</strong>" in text
    assert "p95 &lt; 9ms</textarea>" in text
    assert outcomes(sweep) == [True, False, False, None]
    assert olga.post(address, {"thresholds": "p95 < 9ms", "seen": refused.context["seen"]}).status_code == 302
    assert outcomes(sweep) == [True, True, True, None]


def test_rest_sets_nothing_but_the_thresholds(olga: Client, viktor: Client, sweep: Experiment) -> None:
    address = f"/api/experiments/{sweep.pk}/"

    def sent(client: Client, body: dict[str, Any], **headers: str) -> Any:
        return client.patch(address, body, content_type="application/json", headers=headers)

    answer = sent(olga, {"thresholds": ["p95 < 2ms"]})
    assert answer.status_code == 200
    assert answer.json()["thresholds"] == ["p95 < 2ms"]
    assert answer.json()["judged"] == {"passed": 2, "broken": 1, "left": 1}
    assert olga.get("/api/experiments/").json()["results"][0]["judged"] == answer.json()["judged"]
    assert sent(olga, {"thresholds": ["p59 < 2ms"]}).json()["field"] == "thresholds.0"
    assert "is unknown" in sent(olga, {"thresholds": [], "replicates": 9}).json()["sentence"]
    assert sent(olga, {}).status_code == 400
    assert sent(viktor, {"thresholds": []}).status_code == 403
    mark = answer.json()["mark"]
    assert sent(olga, {"thresholds": []}, **{"If-Match": '"other"'}).status_code == 412
    assert sent(olga, {"thresholds": []}, **{"If-Match": f'"{mark}"'}).json()["judged"] is None


def test_conditions_of_a_pipeline_are_judged_and_nothing_is_stored(
    olga: Client, viktor: Client, sweep: Experiment
) -> None:
    def judged(**body: Any) -> Any:
        return viktor.post(f"/api/experiments/{sweep.pk}/judge/", body, content_type="application/json")

    runs = list(sweep.runs.order_by("position").values_list("pk", flat=True))
    answer = judged(thresholds=["p95 < 2ms", "not_found = 0"])
    assert answer.status_code == 200, answer.content
    told = answer.json()["runs"]
    assert [(one["run"], one["passed"]) for one in told] == list(zip(runs, (True, True, False, None), strict=True))
    broken = {"text": "p95 < 2ms", "value": 2_500.0, "held": False, "why": "", "unit": "us"}
    assert told[2]["thresholds"][0] == broken
    assert told[3]["thresholds"] == []
    chosen = judged(thresholds=["p95 < 1ms"], runs=[runs[1], runs[0]]).json()["runs"]
    assert [(one["run"], one["passed"]) for one in chosen] == [(runs[1], False), (runs[0], True)]
    assert judged(thresholds=["p95 < 1ms"], runs=[]).json() == {"runs": []}
    for body, field in (
        ({"thresholds": ["p95 < 1ms", "p59 < 1ms"], "runs": []}, "thresholds.1"),
        ({"thresholds": ["p95 < 1ms"], "runs": [runs[0], "nowhere"]}, "runs.1"),
        ({"thresholds": ["p95 < 1ms"], "run": []}, "run"),
        ({"runs": []}, "thresholds"),
    ):
        refused = judged(**body)
        assert (refused.status_code, refused.json()["field"]) == (400, field)
    assert outcomes(sweep) == [None] * 4
    assert evaluation.demands(sweep) == []


def test_a_command_sets_tells_and_takes_them_away(sweep: Experiment) -> None:
    def said(*words: str) -> tuple[str, int]:
        out, code = StringIO(), 0
        try:
            call_command("thresholds", *words, stdout=out, stderr=out)
        except SystemExit as ended:
            code = int(ended.code or 0)
        return out.getvalue(), code

    assert said("sweep") == ("no thresholds\n0 runs passed, 0 failed\n", 0)
    assert said("sweep", "p95 < 2ms") == ("p95 < 2ms\n2 runs passed, 1 failed\n", 4)
    assert said(sweep.pk, "p95 < 3ms") == ("p95 < 3ms\n3 runs passed, 0 failed\n", 0)
    assert said("sweep")[0].startswith("p95 < 3ms\n3 runs")
    text, code = said("sweep", "p59 < 3ms")
    assert ("there is no figure" in text, code) == (True, 2)
    said("sweep", "--none")
    assert outcomes(sweep) == [None] * 4


def test_the_work_is_done_in_chunks_and_goes_on_where_it_ended(
    sweep: Experiment, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    evaluation.demand(sweep, ["p95 < 2ms"])
    Run.objects.filter(passed=False).update(passed=None, thresholds=[])  # as if it had ended before the last
    monkeypatch.setattr(ids, "AT_ONCE", 2)
    came_to = evaluation.demand(sweep, ["p95 < 2ms"])
    assert (came_to.kept, came_to.broken, came_to.changed) == (2, 1, 1)
    monkeypatch.undo()
    with django_assert_max_num_queries(25):
        evaluation.demand(sweep, ["p95 < 3ms"])


@pytest.mark.parametrize("name", SYSTEMS)
def test_examples_are_conditions_on_figures_of_the_system(name: str) -> None:
    assert thresholds.read_all(evaluation.examples(name), measures_of(name))


def test_who_may_only_look_sees_them_and_no_button(viktor: Client, sweep: Experiment) -> None:
    evaluation.demand(sweep, ["p95 < 2ms"])
    text = page(viktor, sweep)
    assert "<code>p95 &lt; 2ms</code>" in text
    assert "Change the thresholds" not in text
    assert viktor.get(f"/experiments/{sweep.pk}/thresholds/").status_code == 403
