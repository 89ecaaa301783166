"""Studies in the browser and by REST: listed, launched, followed, and judged by what their runs measured."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from brokerweb.experiments import services as experiments
from brokerweb.experiments.evaluation import figures_of
from brokerweb.experiments.models import Experiment, Run, RunState
from telemetry.systems.context_broker.published import same
from telemetry.systems.registry import studies

FOUR = "4.7"


def launch(browser: Client, study: str = FOUR, **body: str) -> Any:
    return browser.post(f"/api/studies/{study}/launch/", body, content_type="application/json")


def done(experiment: Experiment, slower: float = 1.0) -> None:
    """Its runs measured what the table says, each replicate a little slower."""
    runs = list(experiment.runs.all())
    for run in runs:
        topology, workload = run.configuration["topology"], run.configuration["workload"]
        row = same(topology["kind"], topology["brokers"], workload)
        assert row is not None and row.response_us is not None
        us = row.response_us * slower * (1 + run.replicate / 1000)
        run.summary = {"mean": us, "memory": {"mean": {}}, "digest": f"digest of {run.position}"}
        run.figures, run.state = figures_of(run), RunState.DONE
    Run.objects.bulk_update(runs, ["summary", "figures", "state"])


@pytest.fixture
def judged(operator: User, olga: Client) -> Experiment:
    """Figure 4.7, launched and measured as published."""
    made = Experiment.objects.get(pk=launch(olga, scale="quick").json()["experiment"])
    done(made)
    return made


def test_the_list_has_every_study_by_system_and_says_which_was_not_run(olga: Client) -> None:
    page = olga.get("/studies/").content.decode()
    for study in studies().values():
        assert reverse("studies:detail", args=[study.id]) in page
    assert page.count("not run yet") == len(studies())
    assert 'href="/studies/"' in olga.get("/").content.decode(), "the rail leads there"


def test_a_study_that_was_not_run_shows_what_was_published_and_offers_both_launches(olga: Client) -> None:
    page = olga.get(f"/studies/{FOUR}/").content.decode()
    assert "Not run yet" in page
    assert "Launch quick (9 runs, about" in page
    assert "Launch at paper scale (15 runs, about" in page
    assert "python -m telemetry study 4.7 --scale paper" in page
    assert "840" in page and "Table B.1" in page
    assert "lines 806 to 808 of its text" in page
    assert "state-unknown" in page


def test_who_may_only_look_sees_no_button_and_cannot_launch(viktor: Client) -> None:
    page = viktor.get(f"/studies/{FOUR}/").content.decode()
    assert "Launch quick" not in page
    assert viktor.post(f"/studies/{FOUR}/launch/", {"scale": "quick"}).status_code == 403
    assert launch(viktor, scale="quick").status_code == 403
    assert not Experiment.objects.exists()


def test_the_button_launches_an_experiment_that_is_followed_from_the_page(olga: Client, operator: User) -> None:
    answer = olga.post(f"/studies/{FOUR}/launch/", {"scale": "quick"}, follow=True)
    page = answer.content.decode()
    assert "Launched 9 runs" in page
    experiment = Experiment.objects.get()
    assert (experiment.study, experiment.scale) == (FOUR, "quick")
    assert "0 of 9 runs" in page
    assert reverse("experiments:detail", args=[experiment.pk]) in page
    part = olga.get(f"/studies/{FOUR}/progress/")
    assert "every 2s" in part.content.decode() and "HX-Refresh" not in part
    again = olga.post(f"/studies/{FOUR}/launch/", {"scale": "quick"}, follow=True).content.decode()
    assert "of this study is in progress" in again
    assert Experiment.objects.count() == 1
    experiments.cancel_all(experiment)
    assert olga.get(f"/studies/{FOUR}/progress/")["HX-Refresh"] == "true"


def test_what_was_measured_is_judged_next_to_what_was_published(olga: Client, judged: Experiment) -> None:
    page = olga.get(f"/studies/{FOUR}/").content.decode()
    assert '<span class="state state-done">reproduced</span>' in page
    assert "Not run yet" not in page
    assert "From 3 seeds of" in page
    row = next(one for one in olga.get("/api/studies/").json()["results"] if one["id"] == FOUR)
    assert (row["experiment"], row["scale"], row["verdicts"]) == (judged.pk, "quick", {"four-stay": "reproduced"})
    assert "1 reproduced" in olga.get("/studies/").content.decode()
    whole = olga.get(f"/api/studies/{FOUR}/").json()
    first = whole["claims"][0]
    assert (first["id"], first["n"], first["unit"]) == ("four-stay/150-consumers-50", 3, "ratio")
    assert first["low"] <= first["published"] <= first["high"]
    assert [one["role"] for one in whole["charts"][0]["series"]] == ["published", "simulated"]
    assert len(whole["digest"]) == 32


def test_claims_without_runs_are_counted_and_folded(olga: Client, judged: Experiment) -> None:
    """Of two seeds of three nothing is left."""
    assert "not known: runs are missing" not in olga.get(f"/studies/{FOUR}/").content.decode()
    judged.runs.filter(replicate__gt=0).update(state=RunState.CANCELLED)
    page = olga.get(f"/studies/{FOUR}/").content.decode()
    assert "1 claim is not known: runs are missing at the quick scale, or there is one seed only." in page
    folded = page[page.index('<details id="unknown">') :]
    assert 'id="four-stay"' in folded and "Claims that are not known (1)" in folded


def test_the_experiment_leads_to_its_study_and_says_the_same(olga: Client, judged: Experiment) -> None:
    assert "study 4.7, quick" in olga.get(f"/experiments/{judged.pk}/").content.decode()
    assert olga.get(f"/experiments/{judged.pk}/claims/").url == f"/studies/{FOUR}/?experiment={judged.pk}"
    assert olga.get(f"/api/experiments/{judged.pk}/claims/").json()["criteria"][0]["verdict"] == "reproduced"
    shown = olga.get(f"/api/experiments/{judged.pk}/").json()
    assert (shown["study"], shown["scale"]) == (FOUR, "quick")


def test_the_newest_result_of_a_scale_is_shown(olga: Client, judged: Experiment) -> None:
    paper = Experiment.objects.get(pk=launch(olga, scale="paper").json()["experiment"])
    done(paper)
    assert olga.get(f"/api/studies/{FOUR}/").json()["experiment"] == paper.pk
    assert olga.get(f"/api/studies/{FOUR}/?scale=quick").json()["experiment"] == judged.pk
    assert f"experiments/{judged.pk}/" in olga.get(f"/studies/{FOUR}/?experiment={judged.pk}").content.decode()


def test_a_launch_answers_as_an_experiment_does(olga: Client, operator: User) -> None:
    answer = launch(olga, scale="quick").json()
    assert set(answer) == {"runs", "count", "estimated_s", "experiment"}
    assert len(answer["runs"]) == answer["count"] == 9
    assert launch(olga, scale="quick").status_code == 409


@pytest.mark.parametrize(
    ("path", "status"), [("/studies/9.9/", 404), ("/api/studies/9.9/", 404), ("/api/studies/4.7/?scale=vast", 400)]
)
def test_what_there_is_not_is_said(olga: Client, path: str, status: int) -> None:
    assert olga.get(path).status_code == status


def test_a_wrong_scale_launches_nothing(olga: Client) -> None:
    assert launch(olga, scale="vast").json()["field"] == "scale"
    assert launch(olga, "9.9", scale="quick").status_code == 404
    page = olga.post(f"/studies/{FOUR}/launch/", {"scale": "vast"}, follow=True).content.decode()
    assert "must be one of quick, paper" in page
    assert not Experiment.objects.exists()


def test_what_is_too_large_for_the_web_is_left_to_the_command(olga: Client) -> None:
    page = olga.get("/studies/E0.8/").content.decode()
    assert "Launch quick" in page and "Launch as in the paper" not in page
    assert "brokers are for the command line: python -m telemetry study E0.8 --scale paper" in page
    refused = launch(olga, "E0.8", scale="paper")
    assert (refused.status_code, refused.json()["field"]) == (400, "scale")
    assert not Experiment.objects.exists()


def test_the_list_is_paged_and_filtered_by_system(olga: Client) -> None:
    page = olga.get("/api/studies/?page_size=2").json()
    assert (page["count"], len(page["results"])) == (len(studies()), 2)
    assert olga.get("/api/studies/?system=nothing").json()["count"] == 0
    assert "The system “nothing” has no studies." in olga.get("/studies/?system=nothing").content.decode()


def test_the_builder_begins_with_a_study(olga: Client) -> None:
    page = olga.get(f"/experiments/new/?study={FOUR}&scale=quick").content.decode()
    assert "the study 4.7 at the scale quick" in page
    assert "the study E2.9 at the scale quick" in olga.get("/experiments/new/?study=silbops-handover").content.decode()


def test_a_study_is_found_by_the_names_of_its_contract(olga: Client) -> None:
    assert (
        "of its presets: E4.2-disconnections, E4.2-direction" in olga.get("/studies/E4.2-direction/").content.decode()
    )
    study = olga.get("/api/studies/silbops-gap/").json()
    assert (study["id"], study["names"]) == ("E2.10", ["silbops-gap"])
    assert olga.get("/api/studies/E1.1-calibrated/").json()["names"] == ["E1.1-saturation"]
    assert launch(olga, "silbops-publisher-skope").json()["sentence"] == (
        "Study: there is none with the id or name 'silbops-publisher-skope'; "
        "the nearest are silbops-publisher-scope, silbops-change-load, silbops-change-cost."
    )


def test_systems_say_their_measures_and_studies(olga: Client) -> None:
    (system,) = [one for one in olga.get("/api/systems/").json()["results"] if one["name"] == "context-broker"]
    names = {one["name"] for one in system["measures"]}
    assert names >= {"requests", "answered", "mean_us", "p50_us", "p95_us", "p99_us", "hops", "messages_per_query"}
    assert set(system["measures"][0]) == {"name", "title", "unit", "definition", "better"}
    own = [name for name, study in studies().items() if study.system == system["name"]]
    assert [one["id"] for one in system["studies"]] == own


def test_a_study_is_found_by_its_id_and_by_words_of_its_question(olga: Client) -> None:
    def found(text: str) -> list[str]:
        return [
            one["name"] for one in olga.get("/api/search/", {"q": text}).json()["results"] if one["kind"] == "study"
        ]

    assert found("e0.10") == ["E0.10: Attribution"]
    assert found("square root") == ["E0.5: Replication"]
