"""The admin: every page opens, and a topology's links are edited there and checked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from brokerweb.experiments import labels
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Run, RunState
from brokerweb.networks.models import Network
from brokerweb.notices import services as notices
from brokerweb.reports import schedules
from brokerweb.reports import services as reports
from brokerweb.topologies import services
from brokerweb.topologies.models import Topology
from overlay.core.links import LINK_SETTINGS

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(client: Client, operator: User) -> Client:
    client.force_login(operator)
    return client


@pytest.fixture
def line(operator: User) -> Topology:
    return services.create(name="line", kind="line", brokers=3)


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model.__name__)
def test_every_list_opens(browser: Client, model: type, line: Topology) -> None:
    experiments.launch(experiments.create({"name": "e", "topology": line.pk}))
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
    assert browser.get(reverse(name)).status_code == 200


def test_a_run_and_an_experiment_can_be_looked_at(browser: Client, line: Topology) -> None:
    experiment = experiments.create({"name": "e", "topology": line.pk})
    run = experiments.launch(experiment).runs[0]
    assert browser.get(reverse("admin:experiments_run_change", args=[run.pk])).status_code == 200
    assert browser.get(reverse("admin:experiments_experiment_change", args=[experiment.pk])).status_code == 200


def test_a_definition_is_changed_until_it_was_launched(browser: Client, line: Topology) -> None:
    experiment = experiments.create({"name": "e", "topology": line.pk})
    url = reverse("admin:experiments_experiment_change", args=[experiment.pk])
    assert 'name="definition"' in browser.get(url).content.decode()
    longer = {"definition": json.dumps({**experiment.definition, "replicates": 7})}
    assert browser.post(url, longer).status_code == 302
    experiment.refresh_from_db()
    assert experiment.definition["replicates"] == 7

    experiments.launch(experiment)
    page = browser.get(url).content.decode()
    assert 'name="definition"' not in page
    assert "it cannot be changed" in page
    sent = {"definition": json.dumps({**experiment.definition, "replicates": 9}), "report_when_done": "on"}
    assert browser.post(url, sent).status_code == 302
    experiment.refresh_from_db()
    assert (experiment.definition["replicates"], experiment.report_when_done) == (7, True)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"thresholds": ["bogus < 1"]}, "there is no figure “bogus”"),
        ({"topology": {"name": "Circle", "kind": "ring", "brokers": 5}}, "does not exist"),
        ({"workload": {"consumers": 90_000}}, "fit"),
    ],
)
def test_a_definition_is_checked_whole(browser: Client, line: Topology, changes: dict, sentence: str) -> None:
    experiment = experiments.create({"name": "e", "topology": line.pk})
    url = reverse("admin:experiments_experiment_change", args=[experiment.pk])
    answer = browser.post(url, {"definition": json.dumps({**experiment.definition, **changes})})
    assert answer.status_code == 200
    assert sentence in answer.content.decode()
    before = experiment.definition
    experiment.refresh_from_db()
    assert experiment.definition == before


def form_of(line: Topology, links: list[tuple[int, int]], **changes: object) -> dict[str, object]:
    rows = list(line.links.all())
    data: dict[str, object] = {"name": line.name, "kind": line.kind, "brokers": line.brokers, "params": "{}", "seed": 0}
    nodes = list(line.nodes.all())
    data |= {"nodes-TOTAL_FORMS": len(nodes), "nodes-INITIAL_FORMS": len(nodes)}
    for i, node in enumerate(nodes):
        data |= {f"nodes-{i}-id": node.pk, f"nodes-{i}-topology": line.pk, f"nodes-{i}-index": node.index}
        data |= {f"nodes-{i}-x": node.x, f"nodes-{i}-y": node.y}
    data |= {"links-TOTAL_FORMS": len(links), "links-INITIAL_FORMS": len(rows)}
    for i, (a, b) in enumerate(links):
        data |= {f"links-{i}-topology": line.pk, f"links-{i}-a": a, f"links-{i}-b": b}
        data |= {f"links-{i}-{info.name}": info.default for info in LINK_SETTINGS}
        if i < len(rows):
            data[f"links-{i}-id"] = rows[i].pk
    return data | changes


def test_a_link_is_added_and_the_topology_measured_anew(browser: Client, line: Topology) -> None:
    url = reverse("admin:topologies_topology_change", args=[line.pk])
    assert browser.get(url).status_code == 200
    answer = browser.post(url, form_of(line, [(0, 1), (1, 2), (0, 2)]))
    assert answer.status_code == 302, answer.context["errors"]
    line.refresh_from_db()
    assert (line.links.count(), line.measures["diameter"]) == (3, 1)


@pytest.mark.parametrize(
    ("links", "sentence"),
    [
        ([(0, 1), (1, 2), (0, 9)], "there is no broker 9"),
        ([(0, 1), (1, 2), (2, 2)], "to itself"),
        ([(0, 1), (1, 2), (1, 0)], "already linked"),
    ],
)
def test_a_wrong_link_is_refused_with_a_sentence(browser: Client, line: Topology, links: list, sentence: str) -> None:
    answer = browser.post(reverse("admin:topologies_topology_change", args=[line.pk]), form_of(line, links))
    assert answer.status_code == 200
    assert sentence in answer.content.decode()
    assert line.links.count() == 2


def test_another_kind_draws_new_links(browser: Client, line: Topology) -> None:
    url = reverse("admin:topologies_topology_change", args=[line.pk])
    browser.post(url, form_of(line, [(0, 1), (1, 2)], kind="full-mesh", brokers=4))
    line.refresh_from_db()
    assert (line.links.count(), line.nodes.count(), line.measures["diameter"]) == (6, 4, 1)


def test_a_version_made_there_knows_who_made_it(browser: Client, line: Topology) -> None:
    who = browser.get(reverse("admin:index")).wsgi_request.user.get_username()
    url = reverse("admin:topologies_topology_change", args=[line.pk])
    browser.post(url, form_of(line, [(0, 1), (1, 2), (0, 2)]))
    browser.post(url, form_of(Topology.objects.get(pk=line.pk), [(0, 1), (1, 2)], kind="full-mesh", brokers=4))
    made = line.versions.order_by("number").values_list("number", "by__username")
    assert list(made)[-2:] == [(2, who), (3, who)]


def test_a_topology_is_made_there(browser: Client) -> None:
    url = reverse("admin:topologies_topology_add")
    made = {"name": "new", "kind": "ring", "brokers": 5, "params": "{}", "seed": 0}
    assert browser.post(url, made).status_code == 302
    assert Topology.objects.get(name="new").links.count() == 5
    wrong = browser.post(url, {**made, "name": "worse", "params": '{"delay_ms": -3}'})
    assert "delay_ms" in wrong.content.decode()
    assert not Topology.objects.filter(name="worse").exists()


def test_a_disconnected_topology_is_kept_and_said(browser: Client, line: Topology) -> None:
    url = reverse("admin:topologies_topology_change", args=[line.pk])
    data = form_of(line, [(0, 1), (1, 2)]) | {"links-1-DELETE": "on"}
    answer = browser.post(url, data, follow=True)
    assert "It has 2 components (" in answer.content.decode()


@pytest.fixture
def runs(line: Topology, operator: User) -> list[Run]:
    experiment = experiments.create({"name": "e", "topology": line.pk, "replicates": 3}, operator)
    return experiments.launch(experiment, operator).runs


def act(browser: Client, model: str, action: str, rows: list[Any], **more: str) -> str:
    """Chooses an action for rows of a list; what the page then says."""
    body = {"action": action, "_selected_action": [row.pk for row in rows], **more}
    answer = browser.post(reverse(f"admin:{model}_changelist"), body, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_runs_are_kept_tagged_cancelled_and_run_again_from_their_list(browser: Client, runs: list[Run]) -> None:
    assert "Kept: 2 runs." in act(browser, "experiments_run", "keep", runs[:2])
    assert Run.objects.filter(kept=True).count() == 2
    assert "Tagged 2 runs." in act(browser, "experiments_run", "put_tag", runs[:2], tag="Nightly")
    assert Run.objects.filter(tags__name="nightly").count() == 2
    assert "is not a valid tag" in act(browser, "experiments_run", "put_tag", runs[:2], tag="no tag")
    act(browser, "experiments_run", "take_tag", runs[:1], tag="nightly")
    assert Run.objects.filter(tags__name="nightly").count() == 1
    asked = act(browser, "experiments_run", "cancel", runs[:1])
    assert "Cancel 1 run?" in asked
    assert "Data measured so far is kept" in asked
    assert Run.objects.get(pk=runs[0].pk).state == RunState.QUEUED
    assert "Cancelled 1 run" in act(browser, "experiments_run", "cancel", runs[:1], confirmed="yes")
    assert Run.objects.get(pk=runs[0].pk).state == RunState.CANCELLED
    assert "Queued 1 rerun." in act(browser, "experiments_run", "rerun", runs[:1])
    assert Run.objects.get(rerun_of=runs[0]).state == RunState.QUEUED


def test_a_run_that_bears_as_many_tags_as_it_may_is_passed_by(browser: Client, runs: list[Run]) -> None:
    labels.set_tags(runs[0], [f"tag-{number}" for number in range(labels.MOST_TAGS)])
    told = act(browser, "experiments_run", "put_tag", runs, tag="nightly")
    assert "Tagged 2 runs. The others have 20 tags, the maximum." in told
    assert set(Run.objects.filter(tags__name="nightly")) == set(runs[1:])


@pytest.mark.parametrize("action", ["keep", "release", "rerun"])
def test_what_is_done_with_many_asks_the_database_as_often_as_with_one(
    browser: Client, runs: list[Run], action: str
) -> None:
    def questions(some: list[Run]) -> int:
        with CaptureQueriesContext(connection) as asked:
            act(browser, "experiments_run", action, some)
            return len(asked)

    assert questions(runs[1:]) == questions(runs[:1])


def test_what_stops_or_loses_something_is_asked_before(browser: Client, runs: list[Run], line: Topology) -> None:
    experiment = runs[0].experiment
    report = reports.create(experiments=[experiment])
    network = Network.objects.create(name="harbour", topology=line, desired="running", state="running")
    for model, action, row, question in (
        ("experiments_experiment", "cancel_runs", experiment, "Cancel all runs of 1 experiment?"),
        ("reports_report", "cancel", report, "Cancel 1 report?"),
        ("networks_network", "stop", network, "Stop 1 network?"),
    ):
        asked = act(browser, model, action, [row])
        assert question in asked
        assert f'name="_selected_action" value="{row.pk}"' in asked
        assert "Cancel</a>" in asked
    network.refresh_from_db()
    report.refresh_from_db()
    assert (network.desired, report.state, Run.objects.filter(state=RunState.CANCELLED).count()) == (
        "running",
        "queued",
        0,
    )

    everything = {"confirmed": "yes", "select_across": "1"}
    assert "cancelled 3 runs" in act(browser, "experiments_experiment", "cancel_runs", [experiment], **everything)
    act(browser, "reports_report", "cancel", [report], **everything)
    act(browser, "networks_network", "stop", [network], **everything)
    network.refresh_from_db()
    report.refresh_from_db()
    assert (network.desired, report.state) == ("stopped", "failed")


def test_lists_answer_questions(browser: Client, runs: list[Run]) -> None:
    Run.objects.filter(pk=runs[0].pk).update(state=RunState.FAILED, reason="The port is in use.")
    page = browser.get(reverse("admin:experiments_experiment_changelist")).content.decode()
    assert f'?experiment__id__exact={runs[0].experiment_id}">3</a>' in page
    listed = browser.get(reverse("admin:experiments_run_changelist"), {"state__exact": "failed"}).content.decode()
    assert "The port is in use." in listed
    assert f"/runs/{runs[0].pk}/" in listed
    assert runs[1].pk not in listed
    assert runs[0].pk in browser.get(reverse("admin:experiments_run_changelist"), {"q": runs[0].pk}).content.decode()


def test_an_owner_and_experiments_are_found_by_typing(browser: Client, runs: list[Run]) -> None:
    asked = {"app_label": "reports", "model_name": "schedule", "field_name": "experiments", "term": "e"}
    found = browser.get(reverse("admin:autocomplete"), asked).json()["results"]
    assert [one["text"] for one in found] == ["e"]
    asked = {"app_label": "topologies", "model_name": "topology", "field_name": "owner", "term": "olg"}
    assert [one["text"] for one in browser.get(reverse("admin:autocomplete"), asked).json()["results"]] == ["olga"]


@pytest.mark.parametrize(
    "model",
    ["experiments_run", "experiments_tag", "reports_report", "reports_firing", "storage_removal", "notices_delivery"],
)
def test_history_is_not_added_to_by_hand(browser: Client, model: str) -> None:
    assert browser.get(reverse(f"admin:{model}_add")).status_code == 403


def test_a_schedule_is_run_paused_and_resumed_from_its_list(browser: Client, runs: list[Run]) -> None:
    schedule = schedules.create(name="s", experiments=[runs[0].experiment], crontab="0 6 * * 1")
    act(browser, "reports_schedule", "fire", [schedule])
    assert schedule.firings.get().report is not None
    act(browser, "reports_schedule", "pause", [schedule])
    schedule.periodic_task.refresh_from_db()
    assert not schedule.periodic_task.enabled
    act(browser, "reports_schedule", "resume", [schedule])
    assert "Mondays at 06:00" in browser.get(reverse("admin:reports_schedule_changelist")).content.decode()
    assert browser.get(reverse("admin:reports_schedule_change", args=[schedule.pk])).status_code == 200


def test_a_target_is_tested_and_its_secret_stays_hidden(browser: Client, operator: User) -> None:
    body = {"channel": "webhook", "address": "http://127.0.0.1:9/s3cr3t", "kinds": ["run_failed"], "secret": "hush"}
    target = notices.create(name="ops", **body)
    assert "Tests queued" in act(browser, "notices_target", "test", [target])
    page = browser.get(reverse("admin:notices_target_change", args=[target.pk])).content.decode()
    assert "s3cr3t" not in page
    assert "hush" not in page
    act(browser, "notices_target", "switch_off", [target])
    target.refresh_from_db()
    assert not target.enabled
