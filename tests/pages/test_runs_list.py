"""The list of runs: filter, sort, columns, views, tags, and bulk actions."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from brokerweb.experiments import labels
from brokerweb.experiments import services as experiments
from brokerweb.experiments.collection import collect_run
from brokerweb.experiments.models import Experiment, Run, SavedView, Tag
from brokerweb.reports import services as reports
from brokerweb.topologies import services as topologies
from telemetry.lake.runs import RunFiles
from tests.pages.furniture import House, measure
from tests.pages.summed_up import summed_up

SUMMARY = {"answered": 95, "requests": 100, "answer_ratio": 0.95, "memory": {"mean": {"rss_bytes": 9_100_000.5}}}


@pytest.fixture
def house(operator: User) -> House:
    """Twelve runs of two topologies, eight of them done; rows alone, without files."""
    made = House()
    for kind in ("ring", "full-mesh"):
        made.topologies[kind] = topologies.create(name=f"{kind} of 4", kind=kind, brokers=4, seed=7, owner=operator)
    body = {
        "name": "Ring against full mesh",
        "topology": [topology.id for topology in made.topologies.values()],
        "workload": {"providers": 5, "consumers": 20, "duration_s": 20},
        "replicates": 6,
    }
    made.experiment = experiments.create(body, operator)
    runs = experiments.launch(made.experiment, operator).runs
    now = timezone.now()
    for number, run in enumerate(runs[:8]):
        summary = {**SUMMARY, "p95": 900.5 + 700 * (number % 5), "p99": 5_000.0}
        Run.objects.filter(pk=run.pk).update(state="done", verdict="valid", **summed_up(summary), ended_at=now)
        (RunFiles(Path(settings.RUNS) / run.pk).journal_directory).mkdir(parents=True)
    for run, state in zip(runs[8:], ("failed", "cancelled", "measuring", "queued"), strict=True):
        Run.objects.filter(pk=run.pk).update(state=state)
        run.refresh_from_db()
        made.runs[state] = run
    made.runs["done"] = runs[0]
    return made


def listed(browser: Client, query: str) -> list[str]:
    """The ids of the runs that the list of this address shows, in its order."""
    page = browser.get(f"/runs/?{query}").content.decode()
    return re.findall(r'name="runs" value="(\w+)"', page)


def confirm(browser: Client, form: dict[str, object]) -> HttpResponse:
    """Presses the button of the page that shows what would be done."""
    shown = browser.post("/runs/bulk/", form).content.decode()
    (mark,) = re.findall(r'name="expected" value="(\w+)"', shown)
    return browser.post("/runs/bulk/", {**form, "expected": mark}, follow=True)


def test_the_list_of_the_context_broker_has_its_columns(olga: Client, house: House) -> None:
    page = olga.get("/runs/").content.decode()
    heads = [re.sub(r"<.*?>", "", head).strip() for head in re.findall(r"<th scope.*?</th>", page)[1:]]
    assert heads == ["Run", "State", "Topology", "Clients", "Mean", "p95", "Answered", "Verdict", "Tags", "Ended"]
    assert page.count('<span>95 <span class="soft">of 100</span></span>') == 8
    assert "columns=" not in page.split('id="export-address"')[1].split("</code>")[0]


def test_a_filter_is_typed_and_stays_in_its_box(olga: Client, house: House) -> None:
    assert listed(olga, "q=state+%3D+failed") == [house.runs["failed"].id]
    page = olga.get("/runs/?q=state+%3D+failed").content.decode()
    assert 'value="state = failed"' in page
    assert "1 run<" in page
    assert len(listed(olga, "q=p95+%3E+0+and+topology+%3D+ring")) == sum(
        run.topology_kind == "ring" and "p95" in run.summary for run in Run.objects.all()
    )


def test_a_filter_that_is_wrong_is_marked_where_it_goes_wrong_and_kept(olga: Client, house: House) -> None:
    answer = olga.get("/runs/?q=topology+%3D+ring+and+p59+%3C+2ms")
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "Unknown field “p59”; did you mean p95?" in page
    assert "topology = ring and <mark>p59</mark> &lt; 2ms" in page
    assert 'value="topology = ring and p59 &lt; 2ms"' in page
    assert "Correct the filter to list runs." in page


def test_addresses_from_before_the_language_still_lead_there(olga: Client, house: House) -> None:
    page = olga.get(f"/runs/?state=done&experiment={house.experiment.id}&topology=full-mesh").content.decode()
    assert f'value="state = done and topology = full-mesh and experiment.id = {house.experiment.id}"' in page
    assert f'Runs of the experiment <a href="/experiments/{house.experiment.id}/">' in page


def test_a_chip_puts_a_condition_to_the_filter_and_takes_it_away(olga: Client, house: House) -> None:
    page = olga.get("/runs/?q=p95+%3C+1s+and+state+%3D+done&sort=-p95").content.decode()
    assert '<a class="tag" href="?q=p95+%3C+1s&amp;sort=-p95" aria-current="true"' in page
    assert 'href="?q=p95+%3C+1s+and+state+%3D+failed&amp;sort=-p95"' in page


def test_the_list_is_sorted_by_a_column_and_what_was_not_measured_comes_last(olga: Client, house: House) -> None:
    by_id = {run.id: run.summary.get("p95") for run in Run.objects.all()}
    rising = [by_id[run] for run in listed(olga, "sort=p95")]
    measured = [value for value in rising if value is not None]
    assert measured == sorted(measured)
    assert rising[len(measured) :] == [None] * 4
    assert [by_id[run] for run in listed(olga, "sort=-p95")][: len(measured)] == measured[::-1]
    page = olga.get("/runs/?sort=p95").content.decode()
    assert 'aria-sort="ascending"' in page
    assert 'href="?sort=-p95"' in page


def test_columns_are_chosen_in_the_address(olga: Client, house: House) -> None:
    page = olga.get("/runs/?columns=state&columns=p99,workload.providers,settings.hop_ack,rss").content.decode()
    heads = re.findall(r"<th scope=\"col\"[^>]*>(?:<a[^>]*>)?([^<]+)", page)
    assert heads == ["Run", "State", "p99", "Providers", "Hop ack", "RSS per server"]
    assert 'data-label="Providers">5<' in page
    wrong = olga.get("/runs/?columns=state,p69&sort=p59&size=7").content.decode()
    assert "Columns: unknown column “p69”" in wrong
    assert "Sort: runs cannot be sorted by “p59”; did you mean p95?<" in wrong
    assert "Size: must be one of 25, 50, 100, 250" in wrong


def test_a_name_or_a_note_is_no_formula_in_a_spreadsheet(olga: Client, house: House) -> None:
    Experiment.objects.update(name="=HYPERLINK(0)")
    Run.objects.update(note="@SUM(A1)")
    for address in ("/runs/export/", "/api/runs/export/"):
        rows = list(csv.DictReader(io.StringIO(olga.get(f"{address}?columns=note,p95&format=csv").content.decode())))
        assert {(row["experiment"], row["note"]) for row in rows} == {("'=HYPERLINK(0)", "'@SUM(A1)")}
    exact = olga.get("/runs/export/?columns=note&format=json").json()
    assert exact[0]["experiment"] == "=HYPERLINK(0)"


def test_the_help_and_the_picker_come_when_they_are_asked_for(olga: Client, house: House) -> None:
    part = olga.get("/runs/fields/", headers={"HX-Request": "true"}).content.decode()
    assert 'data-condition="p95 &lt; 2ms"' in part
    assert "<html" not in part
    assert "Filter syntax" in olga.get("/runs/fields/").content.decode()
    picker = olga.get("/runs/columns/?q=ring&columns=p99", headers={"HX-Request": "true"}).content.decode()
    assert 'value="p99" checked' in picker
    assert '<input type="hidden" name="q" value="ring">' in picker


@pytest.mark.parametrize("columns", ["state,topology,clients,p95,tags,ended", "answered_of,workload.providers,rss"])
def test_a_file_holds_what_is_on_the_screen(olga: Client, house: House, columns: str) -> None:
    query = f"q=state+%3D+done&sort=-p95&columns={columns}"
    rows = list(csv.DictReader(io.StringIO(olga.get(f"/runs/export/?{query}").content.decode())))
    assert [row["run"] for row in rows] == listed(olga, query)
    run = Run.objects.get(pk=rows[0]["run"])
    if "p95" in columns:
        assert float(rows[0]["p95_us"]) == run.summary["p95"]
        assert rows[0]["providers"] == "5"
    else:
        assert float(rows[0]["rss_bytes"]) == run.summary["memory"]["mean"]["rss_bytes"]
        assert (rows[0]["answered"], rows[0]["requests"]) == (
            str(run.summary["answered"]),
            str(run.summary["requests"]),
        )
    as_json = olga.get(f"/runs/export/?{query}&format=json").json()
    table = pq.read_table(io.BytesIO(olga.get(f"/runs/export/?{query}&format=parquet").content))
    assert as_json == table.to_pylist()
    assert list(as_json[0]) == list(rows[0])
    assert olga.get(f"/api/runs/export/?{query}&format=csv").content == olga.get(f"/runs/export/?{query}").content


def test_the_help_and_the_document_call_servers_of_several_systems_servers(olga: Client) -> None:
    part = olga.get("/runs/fields/").content.decode()
    assert "Servers on the topology" in part
    assert "Recording size per server" in part
    schemas = olga.get("/api/schema/?format=json").json()["components"]["schemas"]
    common = ("RunBroker", "RunBrokerRow", "RunBrokerList", "NetworkBroker", "OwnWords", "Held", "KnownEntry")
    for name in common:
        assert not re.search(r"\b(a|the|one|any|each) broker", str(schemas[name]), re.IGNORECASE), name


def test_a_file_that_cannot_be_made_says_why(olga: Client, house: House) -> None:
    answer = olga.get("/runs/export/?q=p59+%3C+2ms")
    assert answer.status_code == 400
    assert "unknown field “p59”" in answer.content.decode()
    assert olga.get("/runs/export/?format=xlsx").status_code == 400


def test_tags_and_a_note_are_written_on_a_run_in_its_place(olga: Client, house: House) -> None:
    run, part = house.runs["done"], {"HX-Request": "true"}
    address = f"/runs/{run.id}/labels/"
    assert 'name="tags"' in olga.get(address, headers=part).content.decode()
    cell = olga.post(address, {"tags": "Nightly, paper", "note": "the room was warm"}, headers=part).content.decode()
    assert "#nightly" in cell
    assert "the room was warm" in cell
    typed = {"tags": "nightly two%words", "note": "kept"}
    assert olga.post(address, typed).status_code == 400
    wrong = olga.post(address, typed, headers=part)
    assert "is not a valid tag" in wrong.content.decode()
    assert 'value="nightly two%words"' in wrong.content.decode()
    assert [tag.name for tag in run.tags.all()] == ["nightly", "paper"]
    assert listed(olga, "q=tag+%3D+nightly+and+note+~+warm") == [run.id]
    olga.post(address, {"tags": "", "note": ""})
    assert not Tag.objects.exists()


def test_cancelling_many_is_shown_before_it_is_done(olga: Client, house: House) -> None:
    chosen = [house.runs[name].id for name in ("queued", "measuring", "failed", "cancelled")]
    form = {"runs": chosen, "action": "cancel", "query": "q=ring"}
    preview = olga.post("/runs/bulk/", form).content.decode()
    assert "Cancel 2 runs: 1 measuring, 1 queued." in preview or "Cancel 2 runs: 1 queued, 1 measuring." in preview
    assert "2 selected runs have ended and are skipped." in preview
    assert Run.objects.filter(state="queued").count() == 1
    done = confirm(olga, form)
    assert done.redirect_chain == [("/runs/?q=ring", 302)]
    assert "Cancelled 2 runs" in done.content.decode()
    assert Run.objects.get(pk=house.runs["queued"].id).state == "cancelled"
    assert Run.objects.get(pk=house.runs["measuring"].id).cancel_requested


def test_what_changed_since_the_preview_is_shown_again_instead_of_done(olga: Client, house: House) -> None:
    page = olga.post("/runs/bulk/", {"all": "1", "q": "state = done", "action": "delete", "expected": "1"})
    assert "nothing has been changed" in page.content.decode()
    assert "This cannot be undone" in page.content.decode()
    assert Run.objects.filter(state="done").count() == 8


def test_as_many_others_as_were_shown_are_not_deleted_in_their_place(olga: Client, house: House) -> None:
    form = {"all": "1", "q": "state = done", "action": "delete"}
    shown = olga.post("/runs/bulk/", form).content.decode()
    (mark,) = re.findall(r'name="expected" value="(\w+)"', shown)
    Run.objects.filter(pk=house.runs["done"].id).update(state="failed")
    Run.objects.filter(pk=house.runs["failed"].id).update(state="done")
    page = olga.post("/runs/bulk/", {**form, "expected": mark})
    assert "nothing has been changed" in page.content.decode()
    assert Run.objects.filter(state="done").count() == 8


def test_runs_of_a_report_that_is_being_made_are_not_deleted(olga: Client, house: House, operator: User) -> None:
    reports.create(runs=[Run.objects.get(pk=house.runs["done"].id)], owner=operator)
    form = {"all": "1", "q": "state = done", "action": "delete"}
    preview = olga.post("/runs/bulk/", form).content.decode()
    assert "Delete 7 runs: 7 done." in preview
    assert "1 selected run is in a report in progress and is skipped." in preview
    confirm(olga, form)
    assert [run.id for run in Run.objects.filter(state="done")] == [house.runs["done"].id]


def test_an_experiment_is_deleted_with_the_files_of_its_runs_and_not_below_a_report(
    olga: Client, house: House, operator: User, var: Path
) -> None:
    Run.objects.exclude(state="done").delete()
    run = Run.objects.get(pk=house.runs["done"].id)
    report = reports.create(runs=[run], owner=operator)
    address = f"/experiments/{house.experiment.id}/delete/"
    assert "A report of this experiment is in progress" in olga.post(address, follow=True).content.decode()
    assert (var / "runs" / run.pk).is_dir()
    reports.cancel(report)
    olga.post(address)
    assert not Run.objects.exists()
    assert list((var / "runs").iterdir()) == []


def test_a_run_that_is_gone_meanwhile_is_not_tagged(house: House) -> None:
    gone, there = Run.objects.filter(state="done")[:2]
    Run.objects.filter(pk=gone.pk).delete()
    labels.tag_all([gone.pk, there.pk], "nightly")
    assert [run.pk for run in Tag.objects.get().runs.all()] == [there.pk]


def test_a_run_that_bears_as_many_tags_as_it_may_is_left_and_said(olga: Client, house: House) -> None:
    full, other = Run.objects.filter(state="done")[:2]
    labels.set_tags(full, [f"tag-{number}" for number in range(labels.MOST_TAGS)])
    form = {"runs": [full.pk, other.pk], "action": "tag", "tag": "nightly"}
    preview = olga.post("/runs/bulk/", form).content.decode()
    assert "Add the tag nightly to 1 run: 1 done." in preview
    assert "1 selected run has 20 tags, the maximum, and is skipped." in preview
    confirm(olga, form)
    labels.tag_all([full.pk], "late")  # planned before it was full
    assert not full.tags.filter(name__in=["nightly", "late"]).exists()
    assert not Tag.objects.filter(name="late").exists(), "no run bears it"
    typed = {"tags": " ".join(labels.written(full)["tags"]), "note": "current"}
    assert olga.post(f"/runs/{full.pk}/labels/", typed).status_code == 302
    olga.patch("/api/tags/tag-7/", {"name": "nightly"}, content_type="application/json")
    names = set(full.tags.values_list("name", flat=True))
    assert (len(names), "nightly" in names, "tag-7" in names) == (20, True, False)


def test_all_that_match_are_tagged_and_found_by_it(olga: Client, house: House) -> None:
    form = {"all": "1", "q": "state = done", "action": "tag", "tag": "Baseline"}
    assert "Add the tag baseline to 8 runs: 8 done." in olga.post("/runs/bulk/", form).content.decode()
    confirm(olga, form)
    assert len(listed(olga, "q=tag+%3D+baseline")) == 8
    assert "8 selected runs already have this tag." in olga.post("/runs/bulk/", form).content.decode()
    wrong = olga.post("/runs/bulk/", {**form, "tag": "two words"}, follow=True).content.decode()
    assert "is not a valid tag" in wrong


def test_ended_runs_are_deleted_with_their_files_and_kept_ones_are_left(olga: Client, house: House, var: Path) -> None:
    done, kept = Run.objects.filter(state="done")[:2]
    Run.objects.filter(pk=kept.pk).update(kept=True)
    assert (var / "runs" / done.pk).is_dir()
    form = {"runs": [done.pk, kept.pk, house.runs["queued"].id], "action": "delete"}
    preview = olga.post("/runs/bulk/", form).content.decode()
    assert "Delete 1 run: 1 done." in preview
    assert "1 selected run has not ended and is skipped" in preview
    assert "1 selected run is kept and is skipped" in preview
    confirm(olga, form)
    assert not Run.objects.filter(pk=done.pk).exists()
    assert not (var / "runs" / done.pk).exists()
    assert not list((var / "lake").glob(f"*/run={done.pk}"))
    assert Run.objects.filter(pk=kept.pk).exists()


def test_running_many_again_says_how_long_it_takes(olga: Client, house: House) -> None:
    form = {"runs": [house.runs["done"].id, house.runs["failed"].id], "action": "rerun"}
    assert "Rerun 2 runs: 1 " in olga.post("/runs/bulk/", form).content.decode()
    confirm(olga, form)
    assert Run.objects.filter(rerun_of__isnull=False, state="queued").count() == 2


def test_chosen_runs_are_compared(viktor: Client, house: House) -> None:
    one, other = house.runs["done"].id, house.runs["failed"].id
    assert viktor.post("/runs/compare/", {"runs": [one, other]})["Location"] == f"/compare/?runs={one}%2C{other}"
    assert viktor.post("/runs/compare/", {"all": "1", "q": "p95 < 2ms"})["Location"] == "/compare/?q=p95+%3C+2ms"


def test_a_view_is_saved_opened_renamed_and_deleted_by_its_owner(olga: Client, viktor: Client, house: House) -> None:
    query = "q=state+%3D+done&sort=-p95&columns=state%2Cp95"
    saved = viktor.post("/views/save/", {"page": "runs", "name": " Slow  ones ", "query": query}, follow=True)
    assert saved.redirect_chain == [(f"/runs/?{query}", 302)]
    assert "Saved the view “Slow ones”." in saved.content.decode()
    view = SavedView.objects.get()
    assert f'<a href="/runs/?{query.replace("&", "&amp;")}" aria-current="page">Slow ones</a>' in saved.content.decode()
    again = viktor.post("/views/save/", {"page": "runs", "name": "Slow ones", "query": ""}, follow=True)
    assert "a view named “Slow ones” exists" in again.content.decode()
    assert "Slow ones" not in olga.get("/runs/").content.decode()
    assert olga.post(f"/views/{view.pk}/delete/").status_code == 404
    viktor.post(f"/views/{view.pk}/rename/", {"name": "Slowest"})
    assert SavedView.objects.get().name == "Slowest"
    viktor.post(f"/views/{view.pk}/delete/")
    assert not SavedView.objects.exists()


def test_who_may_only_look_filters_and_changes_nothing(viktor: Client, house: House) -> None:
    page = viktor.get("/runs/").content.decode()
    assert 'name="action"' not in page
    assert "labels/" not in page
    run = house.runs["queued"]
    assert viktor.post("/runs/bulk/", {"runs": [run.id], "action": "cancel", "expected": "1"}).status_code == 403
    assert viktor.post(f"/runs/{run.id}/labels/", {"tags": "mine"}).status_code == 403
    assert Run.objects.get(pk=run.id).state == "queued"


def test_a_broken_threshold_is_seen_in_the_list(olga: Client, house: House) -> None:
    held = [{"text": "p95 < 2ms", "value": 9_000.0, "held": False}]
    Run.objects.filter(pk=house.runs["done"].id).update(passed=False, thresholds=held)
    assert listed(olga, "q=passed+%3D+no") == [house.runs["done"].id]
    page = olga.get("/runs/?q=passed+%3D+no&columns=state,passed").content.decode()
    assert '<span class="state state-failed">broken</span>' in page
    assert "p95 &lt; 2ms: broken." in page


def test_a_run_is_held_to_the_thresholds_of_its_experiment_when_it_is_done(
    olga: Client, house: House, var: Path
) -> None:
    definition = {**house.experiment.definition, "thresholds": ["p95 < 1us", "requests > 0"]}
    Experiment.objects.filter(pk=house.experiment.pk).update(definition=definition)
    run = house.runs["measuring"]
    measure(run)
    Run.objects.filter(pk=run.pk).update(state="collecting")
    collect_run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.passed) == ("done", False)
    assert [(one["text"], one["held"]) for one in run.thresholds] == [("p95 < 1us", False), ("requests > 0", True)]
    assert run.thresholds[0]["value"] == run.summary["bounds"]["p95"]
    shown = olga.get(f"/api/runs/{run.pk}/").json()
    assert (shown["passed"], shown["thresholds"]) == (False, run.thresholds)
