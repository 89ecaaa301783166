"""Reports and what they are made of: picked from lists that are searched, cancelled, and deleted with their files."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.kit import picks
from brokerweb.reports import services
from brokerweb.reports.models import Report, ReportState
from brokerweb.topologies import services as topologies
from tests.pages.furniture import House
from tests.pages.summed_up import summed_up

ENDED = {"state": RunState.DONE, "ended_at": timezone.now()}


@pytest.fixture
def many(operator: User) -> list[Experiment]:
    """Experiments, one more than a list shows; a run of each is done."""
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    first = experiments.create({"name": "Sweep 0", "topology": ring.pk}, operator)
    named = {"definition": first.definition, "owner": operator}
    others = [Experiment(name=f"Sweep {number}", **named) for number in range(1, picks.MOST + 1)]
    made = [first, *Experiment.objects.bulk_create(others)]
    run = experiments.launch(first, operator).runs[0]
    shared = {"configuration": run.configuration, "configuration_hash": run.configuration_hash, "seed": "1", **ENDED}
    Run.objects.bulk_create(Run(experiment=one, **summed_up({"mean": 900.0}), **shared) for one in others)
    Run.objects.filter(pk=run.pk).update(**summed_up({"mean": 5_000.0}), **ENDED)
    return made


def test_a_list_says_how_many_it_does_not_show_and_finds_them(olga: Client, many: list[Experiment]) -> None:
    for address, search in (("/schedules/new/", "/schedules/pick/"), ("/reports/new/", "/reports/pick/experiments/")):
        form = olga.get(address).content.decode()
        assert "1 more not shown. Search by name to find it." in form
        assert "> Sweep 0 " not in form
        found = olga.post(search, {"find": "sweep 0", "experiments": many[7].pk}).content.decode()
        assert f'value="{many[0].pk}"' in found
        assert f'value="{many[7].pk}" checked' in found, "what is picked stays in the list"
        assert found.count("<label>") == 2
        assert "No match for “nowhere”." in olga.post(search, {"find": "nowhere"}).content.decode()


def test_single_runs_are_found_by_a_filter(olga: Client, many: list[Experiment]) -> None:
    assert "1 more not shown" in olga.get("/reports/new/").content.decode()
    slow = olga.post("/reports/pick/runs/", {"find_runs": "mean > 4ms"}).content.decode()
    assert slow.count("<label>") == 1
    assert "Sweep 0, run 1" in slow
    assert "Mean 5.00" in slow
    assert (
        "unknown field “maen”" in olga.post("/reports/pick/runs/", {"find_runs": "maen > 4"}).content.decode().lower()
    )


def test_what_is_picked_stays_where_the_form_is_refused(olga: Client, many: list[Experiment]) -> None:
    queued = experiments.launch(many[0]).runs[0]
    refused = olga.post("/reports/create/", {"experiments": many[0].pk, "runs": queued.pk})
    assert refused.status_code == 400
    page = refused.content.decode()
    assert f'value="{many[0].pk}" checked' in page
    assert f'value="{queued.pk}" checked' in page
    assert "Only finished runs can be compared" in page


def test_ordering_one_reads_no_configuration_which_may_be_large(olga: Client, many: list[Experiment]) -> None:
    run = many[0].runs.get()
    with CaptureQueriesContext(connection) as asked:
        olga.post("/reports/create/", {"runs": run.pk})
        olga.post("/api/reports/", {"kind": "comparison", "runs": [run.pk]}, content_type="application/json")
        again = {"action": "again", "_selected_action": [Report.objects.all()[0].pk]}
        olga.post("/admin/reports/report/", again)
        assert [one["sql"] for one in asked if '"configuration"' in one["sql"]] == []
    assert [list(report.runs.all()) for report in Report.objects.all()] == [[run]] * 3


def test_a_report_is_deleted_with_its_files_once_it_has_ended(olga: Client, many: list[Experiment]) -> None:
    report = services.create(experiments=[many[0]])
    page = olga.get(f"/reports/{report.pk}/").content.decode()
    assert 'data-confirm="Cancel this report?' in page
    assert "Delete report" not in page
    for state in (ReportState.QUEUED, ReportState.RUNNING):
        Report.objects.update(state=state)
        refused = olga.post(f"/reports/{report.pk}/delete/", follow=True).content.decode()
        assert "This report is not finished. Cancel it first." in refused
        assert olga.delete(f"/api/reports/{report.pk}/").status_code == 409

    Report.objects.update(state=ReportState.DONE, result={"charts": []})
    services.directory(report).mkdir(parents=True)
    (services.directory(report) / "report.html").write_text("<html>")
    assert 'data-confirm="Delete this report' in olga.get(f"/reports/{report.pk}/").content.decode()
    done = olga.post(f"/reports/{report.pk}/delete/", follow=True)
    assert "Report deleted. Its runs are kept." in done.content.decode()
    assert not services.directory(report).exists()
    assert many[0].runs.exists()


def test_by_rest_it_is_deleted_by_who_may_change_things(olga: Client, viktor: Client, many: list[Experiment]) -> None:
    report = services.create(experiments=[many[0]])
    services.cancel(report)
    assert viktor.delete(f"/api/reports/{report.pk}/").status_code == 403
    assert viktor.post(f"/reports/{report.pk}/delete/").status_code == 403
    assert "Delete report" not in viktor.get(f"/reports/{report.pk}/").content.decode()
    assert olga.delete(f"/api/reports/{report.pk}/").status_code == 204
    assert not Report.objects.exists()


def test_a_table_of_many_configurations_is_read_in_pages(olga: Client, house: House) -> None:
    report = Report.objects.get(pk=house.report.pk)
    [row] = report.result["configurations"][:1]
    report.result["configurations"] = [{**row, "label": f"setting {number}"} for number in range(1, 62)]
    report.save()
    first, last, beyond = (
        olga.get(f"/reports/{report.pk}/{page}").content.decode() for page in ("", "?page=2", "?page=x")
    )
    assert "1–50 of 61" in first
    assert "setting 50" in first
    assert "setting 51" not in first
    assert 'href="?page=2#memory"' in first
    assert '<span class="soft">51</span>' in last, "they are counted on"
    assert "setting 61" in last
    assert "1–50 of 61" in beyond
