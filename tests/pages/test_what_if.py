"""One thing changed in a finished run: each kind of change to its difference, and over seeds in every replicate."""

from __future__ import annotations

import re
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from brokerweb.comparison.selection import of_configuration
from brokerweb.experiments.models import Run, RunState
from telemetry.lake.configurations import faults_in_words
from tests.pages.recorded import make_run, run_it


@pytest.fixture
def run(operator: User, var: Path) -> Run:
    return make_run(operator, record_mb=0)


def replicated(run: Run, seeds: int) -> list[Run]:
    """The run, and its configuration under other seeds."""
    same = {"experiment": run.experiment, "configuration": run.configuration, "owner": run.owner}
    same["configuration_hash"] = run.configuration_hash
    others = (Run.objects.create(**same, seed=str(int(run.seed) + n), replicate=n) for n in range(1, seeds))
    return [run, *map(run_it, others)]


def changed(browser: Client, run: Run, form: dict[str, str]) -> Run:
    """The run with the change that the form asks for, simulated and collected."""
    assert browser.post(f"/runs/{run.id}/what-if/", form).status_code == 302
    return run_it(Run.objects.get(compared_with=run))


def told(browser: Client, run: Run) -> dict[str, Any]:
    answer = browser.get(f"/api/runs/{run.id}/difference/")
    assert answer.status_code == 200, answer.content
    return answer.json()


def page(browser: Client, run: Run) -> str:
    return browser.get(f"/runs/{run.id}/difference/").content.decode()


def test_a_link_less_answers_faster_only_because_it_answers_less(olga: Client, run: Run) -> None:
    again = changed(olga, run, {"change": "cut_link", "cut_link_a": "0", "cut_link_b": "1"})
    found = told(olga, again)
    assert found["mean"]["value"] < 0
    share = again.summary["answered"] / again.summary["requests"]
    assert (found["answered_before"], found["answered_after"]) == (1, pytest.approx(share))
    assert found["answered_share"]["high"] < 0
    assert "without the link 0–1" in page(olga, again)


def test_a_link_more_changes_times_by_as_much_as_the_two_runs_say(olga: Client, run: Run) -> None:
    again = changed(olga, run, {"change": "add_link", "add_link_a": "0", "add_link_b": "3"})
    found = told(olga, again)
    assert found["mean"]["value"] == pytest.approx(again.summary["mean"] - run.summary["mean"]) != 0
    assert (found["answered_share"]["value"], found["answered_after"]) == (0, 1)
    assert "with a link 0–3" in page(olga, again)


def test_another_strategy_is_held_against_the_one_before(olga: Client, run: Run) -> None:
    again = changed(olga, run, {"change": "settings", "setting": "search", "value": "flood"})
    found = told(olga, again)
    assert found["unpaired"] == 0
    assert found["mean"]["value"] != 0
    assert found["mean"]["low"] <= found["mean"]["value"] <= found["mean"]["high"]
    assert "search = flood" in page(olga, again)


def test_recording_in_virtual_time_costs_nothing(olga: Client, run: Run) -> None:
    again = changed(olga, run, {"change": "record_mb", "record_mb": "8"})
    found = told(olga, again)
    assert (found["mean"]["value"], found["answered_share"]["value"], found["faster"]) == (0, 0, 0)
    assert olga.get(f"/api/runs/{again.id}/messages/").json()["count"] > 100


def test_what_a_dead_broker_costs_is_in_the_share_answered(olga: Client, run: Run) -> None:
    again = changed(olga, run, {"change": "kill", "kill": "0"})
    found = told(olga, again)
    assert found["answered_before"] == 1
    assert found["answered_share"]["high"] < 0, "who asked it, or what it held, is lost"
    lost = sum(row["requests"] for row in found["outcomes"] if row["after"] != "answered")
    assert found["answered_share"]["value"] == pytest.approx(-lost / found["pairs"])
    assert found["answered"] == found["pairs"] - lost, "times are of the others alone"
    shown = page(olga, again)
    assert "broker 0 dead" in shown
    assert "Share answered" in shown
    assert "points" in shown


def test_changed_in_every_replicate_the_interval_is_over_seeds(olga: Client, viktor: Client, run: Run) -> None:
    runs = replicated(run, 3)
    form = olga.get(f"/runs/{run.id}/what-if/").content.decode()
    assert "In all 3 replicates" in form
    cut = {"change": "cut_link", "cut_link_a": "0", "cut_link_b": "1"}
    assert olga.post(f"/runs/{run.id}/what-if/", {**cut, "replicates": "all"}).status_code == 302
    made = {again.compared_with_id: again for again in Run.objects.exclude(compared_with=None)}
    assert made.keys() == {one.id for one in runs}
    assert [made[one.id].seed for one in runs] == [one.seed for one in runs]
    own = run_it(made[run.id])
    first = told(olga, own)
    assert (first["over"], first["seeds"]) == ("requests", 1)
    assert "2 runs with other seeds not finished" in page(olga, own)
    for one in runs[1:]:
        run_it(made[one.id])
    found = told(olga, own)
    assert (found["over"], found["seeds"]) == ("seeds", 3)
    assert [one["run"] for one in found["by_seed"]] == [made[one.id].id for one in runs]
    assert found["pairs"] == sum(one["pairs"] for one in found["by_seed"])
    means = [one["mean"] for one in found["by_seed"]]
    assert found["mean"]["value"] == pytest.approx(sum(means) / 3)
    assert found["mean"]["low"] < min(means), "of three seeds the interval is wider than what they span"
    assert {**told(olga, made[runs[1].id]), "compared_with": run.id} == found, "whichever of them is asked"
    shown = page(viktor, own)
    assert "Over <strong>3 seeds</strong>" in shown
    assert "(95 %, over seeds)" in shown
    assert "this seed only" not in shown
    assert "95 % intervals over seeds" in shown
    assert shown.count(">before</a>") == 3


def test_a_replicate_that_was_changed_so_before_is_not_again(olga: Client, run: Run) -> None:
    replicated(run, 2)
    kill = {"kill": 2}
    first = olga.post(f"/api/runs/{run.id}/what-if/", kill, content_type="application/json").json()
    every = {**kill, "replicates": "all"}
    asked = olga.post(f"/api/runs/{run.id}/what-if/", every, content_type="application/json")
    assert (asked.status_code, asked.json()["id"]) == (201, first["id"])
    assert Run.objects.filter(change=kill).count() == 2
    again = olga.post(f"/runs/{run.id}/what-if/", {"change": "kill", "kill": "2", "replicates": "all"}, follow=True)
    assert "All replicates already have this change" in again.content.decode()
    assert Run.objects.filter(change=kill).count() == 2
    Run.objects.filter(change=kill).update(state=RunState.FAILED)
    olga.post(f"/api/runs/{run.id}/what-if/", every, content_type="application/json")
    assert Run.objects.filter(change=kill, state=RunState.QUEUED).count() == 2, "those that failed are"
    wrong = olga.post(f"/api/runs/{run.id}/what-if/", {**kill, "replicates": 3}, content_type="application/json")
    assert (wrong.status_code, wrong.json()["field"]) == (400, "replicates")


@pytest.mark.parametrize(
    ("form", "filled"),
    [
        ({"change": "kill", "kill": "2"}, 'name="kill" value="2"'),
        ({"change": "cut_link", "cut_link_a": "0", "cut_link_b": "1"}, 'name="cut_link_b" value="1"'),
        ({"change": "settings", "setting": "monitoring", "value": "off"}, 'name="value" value="off"'),
    ],
)
def test_a_difference_of_one_seed_leads_to_the_same_change_in_all(
    olga: Client, viktor: Client, run: Run, form: dict[str, str], filled: str
) -> None:
    Run.objects.create(
        **{name: getattr(run, name) for name in ("experiment", "configuration", "configuration_hash", "summary")},
        seed="8",
        replicate=1,
        state=RunState.DONE,
    )
    again = changed(olga, run, form)
    found = re.search(r'href="([^"]+)">Apply the change to every replicate', page(olga, again))
    assert found
    shown = olga.get(unescape(found[1])).content.decode()
    assert filled in shown
    assert f'value="{form["change"]}" checked' in shown
    assert 'value="all" checked' in shown
    assert "what-if" not in page(viktor, again)


def test_one_replicate_says_what_its_interval_will_be_over(olga: Client, run: Run) -> None:
    form = olga.get(f"/runs/{run.id}/what-if/").content.decode()
    assert 'name="replicates"' not in form
    assert "covers the requests of this seed only" in form


def test_the_difference_of_a_run_that_repeats_no_other_is_a_page_that_says_what_to_do(olga: Client, run: Run) -> None:
    shown = olga.get(f"/runs/{run.id}/difference/")
    text = shown.content.decode()
    assert shown.status_code == 200
    assert "<title>Difference of run 1" in text
    assert "This run does not repeat another run." in text
    assert f'href="/runs/{run.id}/what-if/"' in text


def test_a_broker_killed_by_a_what_if_is_killed_as_measuring_begins(olga: Client, run: Run) -> None:
    again = changed(olga, run, {"change": "kill", "kill": "2"})
    assert faults_in_words(again.configuration["faults"]) == "kill as measuring begins"
    assert faults_in_words([{"what": "slow", "at_s": 2.5}]) == "slow 2.5 s into measuring"


def test_repetitions_of_changed_runs_made_before_these_kept_their_change_are_marked(operator: User, run: Run) -> None:
    """Earlier versions left ``change`` empty in what repeats a what-if, and counted it among the ordinary runs."""
    kept = {"experiment": run.experiment, "configuration": run.configuration, "seed": run.seed, "owner": operator}
    kept["configuration_hash"] = run.configuration_hash
    changed = Run.objects.create(**kept, compared_with=run, change={"kill": 2})
    again = Run.objects.create(**kept, rerun_of=changed)
    and_again = Run.objects.create(**kept, rerun_of=again)
    ordinary = Run.objects.create(**kept, rerun_of=run)
    import_module("brokerweb.experiments.migrations.0009_changes_of_reruns").mark(apps, connection.schema_editor())
    marked = {one.pk: (one.change, one.compared_with_id) for one in Run.objects.filter(rerun_of__isnull=False)}
    assert marked[again.pk] == marked[and_again.pk] == ({"kill": 2}, run.pk)
    assert marked[ordinary.pk] == ({}, None)


def test_a_pinned_configuration_counts_no_changed_run_unless_it_has_no_others(operator: User, run: Run) -> None:
    kept = {"experiment": run.experiment, "configuration": run.configuration, "owner": operator}
    kept |= {"configuration_hash": run.configuration_hash, "state": RunState.DONE}
    other = Run.objects.create(**kept, seed="5", compared_with=run, change={"seed": 5})
    runs = {one.run for one in of_configuration(run.configuration_hash, ["p50"]).runs}
    assert runs == {run.pk}
    Run.objects.filter(pk=other.pk).update(configuration_hash="f" * 32)
    assert [one.run for one in of_configuration("f" * 32, ["p50"]).runs] == [other.pk]
