"""Runs of a "what if": marked wherever runs are listed, and in no figure of their experiment unless asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from brokerweb.experiments.models import Run, RunState
from brokerweb.networks.models import Host
from brokerweb.reports import services as reports
from telemetry.lake.configurations import choose
from telemetry.reports.comparison import compare
from telemetry.reports.measured import Measured
from tests.pages.recorded import make_run, run_it

MARK = "what if: recorded"


@pytest.fixture
def run(operator: User, var: Path) -> Run:
    return make_run(operator, record_mb=0)


@pytest.fixture
def changed(olga: Client, run: Run) -> Run:
    """The run again, recorded: of the same configuration but for that, and so the easiest to mistake for another."""
    olga.post(f"/api/runs/{run.id}/what-if/", {"record_mb": 16}, content_type="application/json")
    return run_it(Run.objects.get(compared_with=run))


def test_it_is_marked_wherever_runs_are_listed(olga: Client, run: Run, changed: Run) -> None:
    for address in (f"/experiments/{run.experiment_id}/", "/runs/", f"/reports/new/?experiment={run.experiment_id}"):
        assert olga.get(address).content.decode().count(MARK) == 1, address
    table = olga.get("/runs/export/?format=csv").content.decode().splitlines()
    column = table[0].split(",").index("changed")
    assert sorted(line.split(",")[column] for line in table[1:]) == ["", "recorded"]


def test_an_experiment_counts_its_own_runs_and_names_the_others(olga: Client, run: Run, changed: Run) -> None:
    page = olga.get(f"/experiments/{run.experiment_id}/").content.decode()
    assert "1 of 1 run<" in page
    assert "1 what-if run</a>, excluded from the experiment's figures" in page
    assert sum(olga.get(f"/api/experiments/{run.experiment_id}/").json()["runs"].values()) == 1
    assert [one["id"] for one in olga.get("/api/runs/?q=changed = yes").json()["results"]] == [changed.id]
    assert [one["id"] for one in olga.get("/api/runs/?q=changed = no").json()["results"]] == [run.id]


def test_a_comparison_leaves_it_out_and_says_so_unless_it_is_asked_for(olga: Client, run: Run, changed: Run) -> None:
    asked = f"experiment.id = {run.experiment_id}"

    def runs(query: str, **more: str) -> tuple[int, int]:
        found = olga.get("/api/compare/", {"q": query, **more}).json()
        return found["runs"], found["changed"]

    assert runs(asked) == (1, 1)
    assert runs(f"{asked} and changed = yes") == (1, 0)
    assert runs(f"id in ({run.id}, {changed.id})") == (2, 0)
    page = olga.get("/compare/", {"q": asked}).content.decode()
    assert "1 what-if run excluded" in page


def test_a_report_of_the_experiment_is_made_without_it(operator: User, run: Run, changed: Run) -> None:
    report = reports.create(experiments=[run.experiment], owner=operator)
    assert reports.run_ids(report) == [run.id]
    chosen = reports.create(runs=[run, changed], owner=operator)
    assert reports.run_ids(chosen) == sorted([run.id, changed.id])


def test_a_report_of_chosen_runs_says_which_are_changed(olga: Client, operator: User, run: Run, changed: Run) -> None:
    report = reports.create(runs=[run, changed], owner=operator)
    assert "2 runs, 1 of them a what-if run" in olga.get(f"/reports/{report.id}/").content.decode()
    rows = [choose(row, {}) for row in reports.chosen(report)]
    assert {row.run: row.changed for row in rows} == {run.id: "", changed.id: "recorded"}
    made = compare(rows, Measured({}, {}, {}, {}, {}, {}), "two", {})
    (note,) = (note for note in made["notes"] if "what-if" in note)
    assert note == (
        "1 of 2 runs are what-if runs, which repeat another run with one change; they were selected individually: "
        f"{changed.id} (recorded)."
    )
    assert [one["changed"] for one in made["provenance"]["runs"]] == [row.changed for row in rows]
    of_experiment = reports.create(experiments=[run.experiment], owner=operator)
    assert "what-if run" not in olga.get(f"/reports/{of_experiment.id}/").content.decode()


def test_who_waits_behind_a_changed_run_is_told_that_it_is_one(olga: Client, run: Run, changed: Run) -> None:
    """It has the number of the run that it repeats."""
    Run.objects.filter(pk=changed.pk).update(state=RunState.MEASURING)
    Run.objects.filter(pk=run.pk).update(state=RunState.QUEUED)
    name = run.experiment.name
    Host.objects.create(name="here", heartbeat=timezone.now())
    assert olga.get(f"/api/runs/{run.pk}/").json()["waiting_for"] == f"behind run 1 of {name} (what if: recorded)"


def test_the_same_again_of_a_changed_run_is_a_changed_run(olga: Client, run: Run, changed: Run) -> None:
    olga.post(f"/runs/{changed.id}/rerun/")
    again = Run.objects.get(rerun_of=changed)
    assert (again.compared_with, again.change) == (run, {"record_mb": 16})
    assert "1 of 1 run<" in olga.get(f"/experiments/{run.experiment_id}/").content.decode()


def test_it_counts_nowhere_when_the_run_that_it_changes_is_deleted(olga: Client, run: Run, changed: Run) -> None:
    run.delete()
    assert olga.get(f"/api/experiments/{run.experiment_id}/").json()["runs"] == {}
    found = olga.get("/api/compare/", {"q": f"experiment.id = {run.experiment_id}"}).json()
    assert (found["runs"], found["changed"]) == (0, 1)


def test_the_admin_marks_it_and_tells_it_from_others(olga: Client, run: Run, changed: Run) -> None:
    def listed(query: str) -> tuple[bool, bool, bool]:
        page = olga.get(f"/admin/experiments/run/{query}").content.decode()
        return f"/runs/{run.pk}/" in page, f"/runs/{changed.pk}/" in page, ">recorded<" in page

    assert listed("") == (True, True, True)
    assert listed("?changed=yes") == (False, True, True)
    assert listed("?changed=no") == (True, False, False)


def test_a_search_marks_it_too(olga: Client, run: Run, changed: Run) -> None:
    found = [one for one in olga.get("/api/search/?q=Followed").json()["results"] if one["kind"] == "run"]
    assert sorted("what if: recorded" in one["about"] for one in found) == [False, True]
