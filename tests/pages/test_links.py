"""Links of a topology and faults of an experiment that do all that the link model knows: forms, REST, files, pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from brokerweb.builder import fault_forms
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment
from brokerweb.topologies import services as topologies
from brokerweb.topologies import studio
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting
from overlay.core.links import LINK_SETTINGS, Link, LinkShape
from overlay.core.settings import describe
from overlay.systems.registry import SYSTEMS
from overlay.topologies import Graph
from tests.pages.test_builder import sweep

WORST: dict[str, Any] = {
    "delay_ms": 5.0,
    "jitter_ms": 1.0,
    "loss": 0.3,
    "loss_burst": 4.0,
    "loss_burst_limit": 9,
    "duplication": 0.25,
    "reordering": 0.2,
    "reordering_ms": 30.0,
    "corruption": 0.1,
    "rate_bytes_per_s": 20_000.0,
    "queue_bytes": 70_000,
}
WORDS = (
    "30 % lost in runs of 4, at most 9 in a row, 25 % duplicated, 20 % held back 30 ms, 10 % damaged, "
    "20 kB/s with a queue of 70 kB"
)


@pytest.fixture
def bad(operator: User) -> Topology:
    """A ring of four with one link that does everything."""
    bad = topologies.create(name="bad", kind="ring", brokers=4, owner=operator)
    links = tuple(Link(*link.ends, **WORST) if link.ends == (0, 1) else link for link in topologies.to_graph(bad).links)
    return studio.save(bad.pk, Graph(4, links, topologies.to_graph(bad).positions), since=1, by=operator)


def test_every_link_is_given_what_the_form_says_and_what_is_wrong_stands_beside_its_field(olga: Client) -> None:
    asked = {f"param-{name}": str(value) for name, value in WORST.items()}
    body = {"kind": "ring", "name": "worst", "brokers": "4", "seed": "1", **asked}
    wrong = olga.post("/topologies/new/", {**body, "param-queue_bytes": "12"})
    assert wrong.status_code == 400
    page = wrong.content.decode()
    assert "Must be at least 65507 bytes, not 12." in page
    assert '<details class="more" open>' in page
    assert not Topology.objects.exists()
    olga.post("/topologies/new/", body)
    assert {link.shape() for link in topologies.to_graph(Topology.objects.get()).links} == {LinkShape(**WORST)}
    assert '<details class="more">' in olga.get("/topologies/new/?kind=ring").content.decode()


def test_rest_says_of_each_link_what_is_not_as_usual(olga: Client, bad: Topology) -> None:
    links = olga.get(f"/api/topologies/{bad.pk}/").json()["links"]
    assert links[0] == {"a": 0, "b": 1, **WORST}
    assert links[1].keys() == {"a", "b", "delay_ms", "jitter_ms", "loss"}
    again = olga.post(
        "/api/topologies/",
        {"name": "again", "kind": "custom", "brokers": 4, "links": links, "params": {"corruption": 0.5}},
        content_type="application/json",
    ).json()
    assert again["links"] == [links[0], *({**link, "corruption": 0.5} for link in links[1:])]
    refused = olga.post(
        "/api/topologies/",
        {"name": "no", "kind": "ring", "brokers": 4, "params": {"partition": True}},
        content_type="application/json",
    )
    assert (refused.status_code, refused.json()["field"]) == (400, "params.partition")


def test_the_schema_has_every_setting_of_a_link_and_of_a_fault_with_its_range(olga: Client) -> None:
    schemas = olga.get("/api/schema/?format=json").json()["components"]["schemas"]
    fault = schemas["ExperimentBodyRequest"]["properties"]["faults"]["items"]["properties"]
    link = schemas["TopologyBodyRequest"]["properties"]["links"]["items"]["oneOf"][1]["properties"]
    for info in describe(LinkShape):
        for said in (fault, *([link] if info in LINK_SETTINGS else [])):
            found = said[info.name]
            assert (found["type"], found.get("minimum"), found.get("maximum")) == (info.kind, info.low, info.high)
            assert info.help in found["description"]
    common = ["kill", "restart", "partition", "slow", "lossy", "impaired"]
    own = {name for system in SYSTEMS.values() for name in system.faults}
    assert fault["what"]["enum"] == [*common, *sorted(own)]
    assert "corruption" in schemas["Link"]["properties"]


@pytest.mark.parametrize("form", ["graphml", "json", "csv"])
def test_what_a_link_does_goes_out_as_a_file_and_comes_back(form: str, olga: Client, bad: Topology) -> None:
    text = olga.get(f"/topologies/{bad.pk}/export.{form}").content.decode()
    olga.post("/topologies/import/", {"name": "back", "text": text})
    back = Topology.objects.get(name="back")
    assert topologies.to_graph(back).links == topologies.to_graph(bad).links


def test_a_version_keeps_it_and_a_difference_says_it(olga: Client, bad: Topology, operator: User) -> None:
    page = olga.get(f"/topologies/{bad.pk}/difference/").content.decode()
    assert f"5 ± 1 ms, {WORDS}" in page
    assert WORDS in olga.get(f"/topologies/{bad.pk}/").content.decode()
    studio.restore(bad.versions.get(number=1), operator)
    assert not topologies.to_graph(Topology.objects.get()).links[0].more()
    studio.restore(bad.versions.get(number=2), operator)
    assert topologies.to_graph(Topology.objects.get()).links[0] == Link(0, 1, **WORST)
    assert (
        ">More<"
        not in olga.get(f"/topologies/{topologies.create(name='r', kind='ring', brokers=3).pk}/").content.decode()
    )


def test_the_admin_refuses_a_link_that_no_link_can_be(olga: Client, bad: Topology) -> None:
    link = bad.links.first()
    assert link is not None
    page = olga.get(reverse("admin:topologies_topology_change", args=[bad.pk]))
    formset = next(one.formset for one in page.context["inline_admin_formsets"] if one.formset.model is type(link))
    form = formset.forms[0]
    data = {form.add_prefix(name): form[name].value() for name in form.fields if form[name].value() is not None}
    data |= {form.add_prefix("loss"): "0.9", form.add_prefix("loss_burst"): "2"}
    again = type(form)(data, instance=link, prefix=form.prefix)
    assert again.errors["loss"] == ["runs of 2 on average cannot lose more than 0.667"]


FAULT = {
    "fault-what": "impaired",
    "fault-where": "0-1",
    "fault-amount": "",
    "fault-at_s": "1",
    "fault-until_s": "4",
    **{f"fault-{info.name}": "" for info in describe(LinkShape)},
    "fault-duplication": "0.25",
    "fault-reordering_ms": "1s",
    "fault-loss_burst_limit": "3",
    "fault-rate_bytes_per_s": "20kB",
    "fault-partition": "true",
}


def test_impaired_links_are_set_up_by_the_form_and_shown_again(olga: Client, bad: Topology) -> None:
    olga.post("/experiments/new/", {**sweep(bad.id), **FAULT, "do": "save"})
    experiment = Experiment.objects.get()
    fault = experiment.definition["faults"][0]
    assert fault == {
        "what": "impaired",
        "links": [[0, 1]],
        "duplication": 0.25,
        "reordering_ms": 1000,
        "loss_burst_limit": 3,
        "rate_bytes_per_s": 20_000,
        "partition": True,
        "at_s": 1,
        "until_s": 4,
    }
    again = olga.get(f"/experiments/new/?from={experiment.pk}").content.decode()
    assert 'name="fault-rate_bytes_per_s" value="20000"' in again
    assert fault_forms.shown([fault]).documents() == [fault]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"fault-duplication": "2"}, "Duplication must be at most 1, not 2.0."),
        ({"fault-loss_burst_limit": "1.5"}, "Loss burst limit must be a whole number, not 1.5."),
        ({"fault-rate_bytes_per_s": "fast"}, "Rate must be a number, not &#x27;fast&#x27;."),
        (
            {"fault-partition": "", "fault-duplication": "", "fault-rate_bytes_per_s": ""},
            "The fault has no effect on links",
        ),
        ({"fault-where": "0-2"}, "Links brokers 0 and 2 are not linked."),
        ({"fault-where": "0>1, 1-2"}, "Links cannot mix one-way and two-way links in one fault; add a second fault."),
    ],
)
def test_what_is_wrong_with_a_fault_stands_beside_it(
    changes: dict[str, str], sentence: str, olga: Client, bad: Topology
) -> None:
    answer = olga.post("/experiments/new/", {**sweep(bad.id), **FAULT, **changes, "do": "save"})
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert not Experiment.objects.exists()


def test_a_form_may_have_as_many_faults_as_an_experiment(olga: Client, bad: Topology) -> None:
    many = {name: [text] * 200 for name, text in FAULT.items()}
    olga.post("/experiments/new/", {**sweep(bad.id), **many, "do": "save"})
    assert len(Experiment.objects.get().definition["faults"]) == 200


def test_plain_links_and_faults_as_they_were_are_the_same_configuration_as_before(operator: User) -> None:
    """Its hash is kept in rows and keys of simulations from before links knew more than delay, jitter and loss."""
    ring = topologies.create(name="ring", kind="ring", brokers=3, params={"delay_ms": 2}, owner=operator)
    body = {"name": "e", "topology": ring.pk, "faults": [{"what": "lossy", "links": "all", "loss": 0.1, "at_s": 1}]}
    experiment = experiments.create(body, owner=operator)
    run = experiments.launch(experiment).runs[0]
    assert run.configuration["topology"]["links"][0] == {"a": 0, "b": 1, "delay_ms": 2.0, "jitter_ms": 0.0, "loss": 0.0}
    assert run.configuration["faults"] == [{"what": "lossy", "links": "all", "loss": 0.1, "at_s": 1}]


def test_a_document_says_it_in_yaml_and_one_that_fits_no_link_is_refused(olga: Client) -> None:
    text = """
name: rough
topology: {kind: ring, brokers: 3, params: {duplication: 0.25, rate_bytes_per_s: 20000}}
faults:
  - {what: impaired, links: [[0, 1]], corruption: 0.1, at_s: 5}
"""
    made = olga.post("/api/experiments/", text, content_type="application/yaml")
    assert made.status_code == 201, made.content
    assert {link.duplication for link in topologies.to_graph(Topology.objects.get()).links} == {0.25}
    shown = olga.get(f"/api/experiments/{made.json()['id']}/yaml/").content.decode()
    assert "duplication: 0.25" in shown
    assert "corruption: 0.1" in shown
    wrong = olga.post("/api/experiments/", text.replace("0.1,", "1.5,"), content_type="application/yaml")
    assert (wrong.status_code, wrong.json()["field"]) == (400, "faults.0.corruption")


def test_the_row_of_a_fault_reads_what_an_older_form_sends() -> None:
    with pytest.raises(InvalidSetting, match=r"faults\.0\.loss"):
        fault_forms.FaultRow("lossy", "all", "", "1").document(0)
