"""A house after months of use: no page and no list of REST asks the database more often where there is more of it."""

from __future__ import annotations

from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks.many_runs import Seeded, addresses
from benchmarks.many_runs import seed as seed_with
from brokerweb.comparison import selection
from brokerweb.experiments.models import Run

PAGES = {"home", "home-now", "topologies:list", "networks:list", "experiments:list", "experiments:detail", "runs:list"}
PAGES |= {"runs:detail", "reports:list", "reports:detail", "reports:new", "schedules:list", "hosts:list", "account"}
REMEMBERING = {"experiment-chart"}
"""Pages whose process remembers what configurations say: asked once before they are counted."""
LISTS = {f"api:{kind}-list" for kind in ("topology", "network", "experiment", "run", "report", "schedule", "host")}

seed = partial(seed_with, clients=6)
"""No page asks the database for single requests, and 150 clients make 33,000 of them."""


def questions(browser: Client, made: Seeded) -> dict[str, int]:
    """How often each address that is shown asks the database."""
    asked = {}
    for name, address in addresses(made).items():
        whole = f"{address}?page_size=500" if name in LISTS else address
        if name in REMEMBERING:
            browser.get(whole)
        with CaptureQueriesContext(connection) as queries:
            answer = browser.get(whole)
            asked_now = len(queries)
        assert answer.status_code < 500, (name, answer.status_code)
        if answer.status_code == 200:
            asked[name] = asked_now
    return asked


def test_a_page_asks_the_database_as_often_of_many_rows_as_of_few(olga: Client, operator: User) -> None:
    few = seed(operator, things=10, swept=2, replicates=10, name="Few")
    before = questions(olga, few)
    assert before.keys() >= PAGES | LISTS | {"api:run-detail", "admin:experiments_run_changelist"}

    seed(operator, things=30, swept=1, replicates=1, name="Many")
    wide = seed(operator, things=1, swept=10, replicates=10, name="Wide")
    after = questions(olga, wide)

    assert {name: (before[name], count) for name, count in after.items() if count > before[name]} == {}


def test_lists_of_rest_say_of_many_runs_what_each_of_them_says(olga: Client, operator: User) -> None:
    made = seed(operator, things=2, swept=2, replicates=10)
    shown = {row["id"]: row for row in olga.get("/api/runs/?page_size=500").json()["results"]}
    alone = olga.get(f"/api/runs/{made.run.id}/").json()
    assert shown[made.run.id] == {name: alone[name] for name in shown[made.run.id]}
    for row in olga.get("/api/experiments/").json()["results"]:
        assert sum(row["runs"].values()) == Run.objects.filter(experiment=row["id"]).count() == 20
        assert row == olga.get(f"/api/experiments/{row['id']}/").json()
    report = olga.get(f"/api/reports/{made.report.id}/").json()
    assert set(report["runs"]) == set(made.experiment.runs.filter(state="done").values_list("pk", flat=True))
    listed = {row["id"]: row for row in olga.get("/api/reports/").json()["results"]}
    assert listed[report["id"]]["runs"] == report["runs"]


def test_who_waits_is_told_behind_whom_and_how_long(olga: Client, operator: User) -> None:
    made = seed(operator, things=2, swept=2, replicates=10)
    queued = olga.get("/api/runs/?state=queued&ordering=created").json()["results"]
    assert len(queued) == 2
    first, second = queued
    assert first["waiting_for"] == ""
    assert second["waiting_for"] == f"behind run {first['position'] + 1} of {first['experiment_name']}"
    assert 0 < first["eta_s"] < second["eta_s"]
    assert made.run.id not in (first["id"], second["id"])


def columns(queries: CaptureQueriesContext, column: str) -> list[str]:
    """The statements that read a column of runs."""
    return [one["sql"] for one in queries.captured_queries if f'"experiments_run"."{column}" AS' in one["sql"]]


def test_while_runs_are_left_only_those_that_are_shown_are_looked_at_closely(olga: Client, operator: User) -> None:
    made = seed(operator, things=1, swept=4, replicates=10)
    with CaptureQueriesContext(connection) as polled:
        answer = olga.get(f"/experiments/{made.experiment.id}/progress/")
    assert answer.content.decode().count("<tr data-row>") == 10
    assert columns(polled, "seed") == columns(polled, "verdict") == []
    (order,) = columns(polled, "configuration_hash")
    assert '"figures"' not in order


def test_of_many_configurations_the_figures_of_a_page_are_read(olga: Client, operator: User) -> None:
    made = seed(operator, things=1, swept=30, replicates=2)
    hashes = set(made.experiment.runs.values_list("configuration_hash", flat=True))

    def figures_of(query: str) -> int:
        with CaptureQueriesContext(connection) as asked:
            page = olga.get(f"/experiments/{made.experiment.id}/configurations/{query}").content.decode()
        assert page.count("<tr data-row>") == 25
        (read,) = (one for one in columns(asked, "configuration_hash") if '"figures"' in one)
        return sum(name in read for name in hashes)

    assert figures_of("") == 25
    assert figures_of("?sort=p50") == 30


def test_an_experiment_of_more_runs_than_are_compared_has_a_page_without_a_chart(
    olga: Client, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = seed(operator, things=1, swept=2, replicates=10)
    monkeypatch.setattr(selection, "MOST_RUNS", 15)
    chart = olga.get(f"/experiments/{made.experiment.id}/chart/?x=workload.request_interval_s")
    assert chart.status_code == 200
    assert "finished runs; at most 15 can be compared" in chart.content.decode()
