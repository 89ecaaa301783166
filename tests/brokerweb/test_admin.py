"""The admin: every page opens, and a topology's links are edited there and checked."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from brokerweb.experiments import services as experiments
from brokerweb.topologies import services
from brokerweb.topologies.models import Topology

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
        data |= {f"links-{i}-{name}": 0 for name in ("delay_ms", "jitter_ms", "loss")}
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
        ([(0, 1), (1, 2), (1, 0)], "linked already"),
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
    assert "2 parts" in answer.content.decode()
