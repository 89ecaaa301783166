"""Setting an experiment up: presets, the form and its document, what will not fit; and what it has come to."""

from __future__ import annotations

import html
import re
from statistics import geometric_mean
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from brokerweb.definitions import documents
from brokerweb.definitions.presets import PRESETS, configurations_of
from brokerweb.experiments import estimates, services
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.kit.ids import new_id
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from overlay.core.engines import SIMULATED
from overlay.experiment import inline
from tests.pages.furniture import House

pytestmark = pytest.mark.django_db

RING = {"name": "Ring of 4", "kind": "ring", "brokers": 4}
UNION = """\
name: Two blocks
engine: simulated
topology: {name: Ring of 4, kind: ring, brokers: 4}
workload: {providers: 2, duration_s: 5}
replicates: 2
blocks:
- workload: {consumers: [3, 5]}
- settings: {search: flood}
"""


def sweep(topology: Any, **more: Any) -> dict[str, Any]:
    return {
        "name": "sweep",
        "topology": topology,
        "engine": "live",
        "replicates": "3",
        "seed": "1",
        "workload-providers": "5",
        "workload-consumers": "10, 20",
        "workload-duration_s": "5",
        **more,
    }


@pytest.fixture
def ring() -> Topology:
    return topologies.create(name="ring", kind="ring", brokers=4)


# --- Presets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_works_in_an_installation_that_has_nothing(name: str) -> None:
    preset = PRESETS[name]
    estimate = estimates.estimate(preset.definition)
    assert (estimate.configurations, estimate.count) == (preset.configurations, preset.runs)
    assert estimate.engine == preset.engine
    assert bool(estimate.to_make) == ("topology" in preset.definition)
    assert not Topology.objects.exists(), "an estimate creates nothing"
    if preset.engine == SIMULATED:
        _, configurations = inline.simulated(preset.text.encode(), f"{name}.yaml")
        assert len(configurations) == preset.configurations, "the command line says the same of it"


def test_a_definition_without_a_topology_is_counted() -> None:
    assert configurations_of({"settings": {"relays": [1, 3]}, "blocks": [{"workload": {"clients": [1, 2]}}]}) == 4


def test_the_presets_are_what_they_are_called() -> None:
    assert {one["brokers"] for one in PRESETS["fire-watch"].definition["topology"]} == {100, 200, 400}
    assert PRESETS["rare-data"].definition["workload"]["holders"] == 1
    looks = PRESETS["quick-look"]
    assert estimates.estimate(looks.definition).estimated_s < 30


def test_a_preset_is_launched_from_its_card_and_brings_its_topology(olga: Client) -> None:
    page = olga.get("/experiments/new/")
    assert "Start from a preset" in page.content.decode()
    opened = olga.get("/experiments/new/?preset=quick-look").content.decode()
    assert "Filled in from the preset “A quick look”" in opened
    assert "created on saving" in opened
    assert "Launch 1 run, about 25" in opened
    form = olga.get("/experiments/new/?preset=quick-look").context["form"]
    olga.post("/experiments/new/", {**as_sent(form), "do": "launch"})
    experiment = Experiment.objects.get()
    assert experiment.runs.count() == 1
    assert Topology.objects.get().name == "Ring of 10"
    assert experiment.definition["topology"] == Topology.objects.get().pk


def test_a_topology_that_is_there_already_is_used_and_not_made_again(olga: Client, ring: Topology) -> None:
    for kind in ({"kind": "ring", "brokers": 4}, {**RING, "name": "Another name"}, "ring"):
        estimate = estimates.estimate({"name": "e", "topology": kind, "workload": {"duration_s": 5}})
        assert estimate.to_make == []
    named_alike = services.create({"name": "e", "topology": {"name": "ring", "kind": "ring", "brokers": 5}})
    assert Topology.objects.get(pk=named_alike.definition["topology"]).name == "ring (2)"


def as_sent(form: Any) -> dict[str, Any]:
    """What a browser sends of a form as it is shown."""
    sent: dict[str, Any] = {
        "name": form.name, "system": form.system_name, "engine": form.engine, "token": form.token,
        "replicates": form.replicates, "seed": form.seed,
        "record_mb": form.record_mb, "thresholds": form.thresholds, "blocks": form.blocks_text,
        "topology": [*form.chosen_ids, *(value for value, *_ in form.to_make)],
    }  # fmt: skip
    for one in (*form.workload.inputs, *form.settings.inputs, *form.simulation.inputs):
        sent[one.name] = one.texts if one.options else one.text
    return sent


# --- What is shown ----------------------------------------------------------------------------------------------------


def test_only_what_the_choice_uses_is_shown_and_the_rest_keeps_its_value(olga: Client, ring: Topology) -> None:
    walk = sweep(ring.id, **{"settings-flood_ttl": "3", "settings-walkers": "9"})
    hidden = hidden_after(olga, walk)
    assert {"Flood ttl", "Walkers", "Dht replicas", "Hop tries"} <= hidden.keys()
    assert "Walk policy" not in hidden
    assert hidden["Walkers"] == "with search k-walkers; says 9"
    flood = hidden_after(olga, {**walk, "settings-search": "flood"})
    assert "Flood ttl" not in flood
    assert {"Walk policy", "Walkers"} <= flood.keys()
    both = hidden_after(olga, {**walk, "settings-search": ["flood", "k-walkers"]})
    assert not {"Flood ttl", "Walkers", "Walk policy"} & both.keys()
    table = hidden_after(olga, {**walk, "settings-profile": "structured"})
    assert {"Search", "Walk policy", "Replication"} <= table.keys()
    assert "Dht replicas" not in table
    assert "Trusted networks" not in table
    assert hidden_after(olga, {**walk, "engine": "simulated"})["Trusted networks"].startswith("with engine live")
    olga.post("/experiments/new/", {**walk, "do": "save"})
    assert Experiment.objects.get().definition["settings"] == {"flood_ttl": 3, "walkers": 9}


def hidden_after(olga: Client, sent: dict[str, Any]) -> dict[str, str]:
    form = olga.post("/experiments/estimate/", sent).context["form"]
    return {
        one.info.name.replace("_", " ").replace(" ms", "").capitalize(): one.unused
        + (f"; says {one.text}" if one.is_changed else "")
        for one in form.hidden
    }


def test_times_and_sizes_are_typed_with_units(olga: Client, ring: Topology) -> None:
    typed = {
        "workload-duration_s": "1m30s",
        "workload-request_interval_s": "500ms, 2",
        "workload-valid_ms": "2m",
        "workload-payload_bytes": "2kB",
        "fault-what": "restart",
        "fault-where": "1",
        "fault-amount": "",
        "fault-at_s": "1m",
        "fault-until_s": "",
    }
    olga.post("/experiments/new/", {**sweep(ring.id, **typed), "do": "save"})
    definition = Experiment.objects.get().definition
    assert definition["workload"]["duration_s"] == 90
    assert definition["workload"]["request_interval_s"] == [0.5, 2]
    assert definition["workload"]["valid_ms"] == 120_000
    assert definition["workload"]["payload_bytes"] == 2_000
    assert definition["faults"][0]["at_s"] == 60
    wrong = olga.post("/experiments/new/", {**sweep(ring.id), "workload-duration_s": "1 fortnight", "do": "save"})
    assert wrong.status_code == 400
    assert 'value="1 fortnight"' in wrong.content.decode()


def test_what_differs_from_its_default_says_so_and_offers_the_way_back(olga: Client, ring: Topology) -> None:
    page = olga.get("/experiments/new/").content.decode()
    before = page.count("data-changed hidden")
    assert before == page.count("data-changed") - 1, "entities, so that brokers search"
    form = olga.get("/experiments/new/").context["form"]
    changed = olga.post(
        "/experiments/new/", {**as_sent(form), "workload-entities": "1", **sweep(ring.id), "do": "look"}
    ).content.decode()
    assert "Reset to default 50" in changed
    assert changed.count("data-changed") - changed.count("data-changed hidden") == 3, "providers, consumers, duration"


# --- The document -----------------------------------------------------------------------------------------------------


def test_form_and_document_say_the_same_both_ways(olga: Client, ring: Topology) -> None:
    faults = {"fault-what": "kill", "fault-where": "1", "fault-amount": "", "fault-at_s": "1", "fault-until_s": "3"}
    sent = sweep(ring.id, **faults, **{"settings-search": ["walk", "flood"], "thresholds": "p95 < 20ms\nnot_found = 0"})
    turned = olga.post("/experiments/new/", {**sent, "do": "document"})
    text = turned.context["form"].document
    assert "consumers: [10, 20]" in text
    assert "kind: ring" in text, "topologies stand in it, for those who have no place to look them up"
    back = olga.post("/experiments/new/", {"mode": "document", "document": text, "do": "form"}).context["form"]
    assert back.mode == "form"
    assert back.chosen_ids == [ring.id]
    olga.post("/experiments/new/", {**sent, "do": "save"})
    olga.post("/experiments/new/", {"mode": "document", "document": text, "do": "save"})
    olga.post("/experiments/new/", {**as_sent(back), **faults, "do": "save"})
    first, second, third = Experiment.objects.order_by("created")
    hashes = [{run.configuration_hash for run in services.launch(one).runs} for one in (first, second, third)]
    assert hashes[0] == hashes[1] == hashes[2]
    assert len(hashes[0]) == 4
    assert second.definition["thresholds"] == ["p95 < 20ms", "not_found = 0"]


def test_the_document_of_an_experiment_makes_it_again_where_its_topology_is_not(olga: Client) -> None:
    made = services.create(documents.read(UNION))
    text = olga.get(f"/experiments/{made.id}/yaml/").content.decode()
    before = estimates.estimate_of(made)
    services.delete(made)
    Topology.objects.all().delete()
    again = services.create(documents.read(text))
    assert estimates.estimate_of(again).axes == before.axes
    assert estimates.estimate_of(again).count == before.count == 6
    assert Topology.objects.get().name == "Ring of 4"


def test_blocks_are_shown_kept_and_never_dropped(olga: Client) -> None:
    made = services.create(documents.read(UNION))
    page = olga.get(f"/experiments/new/?from={made.id}")
    text = page.content.decode()
    assert "Union of 2 blocks" in text
    assert "Launch 6 runs" in text
    assert "2 configurations:" in text
    olga.post("/experiments/new/", {**as_sent(page.context["form"]), "do": "save"})
    again = Experiment.objects.exclude(pk=made.pk).get()
    assert again.definition["blocks"] == made.definition["blocks"]
    assert again.name == "Two blocks, again"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name: [", "in line 2, column 1"),
        ("name: a\nname: b\n", "says “name” twice"),
        ("name: e\ntopolgy: x\n", "is not known; an experiment has name, topology"),
        (
            "name: e\ntopology: {kind: ring, brokers: 4}\nworkload: {consumer: 3}\n",
            "is not a setting; known are acknowledgements",
        ),
        ("name: e\ntopology: {kind: ring, brokers: 2000}\n", "the limit here is 1,000"),
        ("name: e\ntopology: {kind: moebius, brokers: 4}\n", "is not a kind of topology"),
        ("", "is empty"),
        ("- 1\n- 2\n", "must be one object"),
    ],
)
def test_a_broken_document_says_where_and_nothing_is_lost(olga: Client, text: str, sentence: str) -> None:
    launched = olga.post("/experiments/new/", {"mode": "document", "document": text, "do": "launch"})
    assert launched.status_code == 400
    assert sentence in launched.context["form"].errors[0].sentence
    turned = olga.post("/experiments/new/", {"mode": "document", "document": text, "do": "form"})
    for answer in (launched, turned):
        form = answer.context["form"]
        assert (form.mode, form.document) == ("document", text), "what was typed stays where it was"
        assert form.errors
    assert not Experiment.objects.exists()
    assert not Topology.objects.exists()


@pytest.mark.parametrize("values", ["profile: [[improved]]", "profile: [{a: 1}]", "profile: {a: 1}", "search: [[]]"])
def test_a_block_of_what_is_no_value_stays_in_the_document(olga: Client, values: str) -> None:
    text = f"topology: {{kind: ring, brokers: 3}}\nblocks:\n- settings: {{{values}}}\n"
    form = olga.post("/experiments/new/", {"mode": "document", "document": text, "do": "form"}).context["form"]
    assert (form.mode, form.document) == ("document", text)
    assert "each is a value or a list" in form.wrong["blocks"]
    sent = {**sweep("{}"), "blocks": '[{"settings": {"profile": [["improved"]]}}]', "do": "look"}
    assert olga.post("/experiments/new/", sent).status_code == 200


@pytest.mark.parametrize("topology", ['{"kind": [], "brokers": 1}', '{"kind": {}, "brokers": {}}', '{"brokers": 1}'])
def test_a_topology_of_no_kind_is_refused_and_not_stumbled_over(olga: Client, topology: str) -> None:
    answer = olga.post("/experiments/new/", {**sweep(topology), "do": "save"})
    assert answer.status_code == 400
    assert "a topology" in answer.content.decode()
    assert not Topology.objects.exists()


def test_a_file_is_read_into_the_document_and_one_that_is_too_large_is_not(olga: Client) -> None:
    def upload(content: bytes, **more: str) -> Any:
        file = SimpleUploadedFile("mine.yaml", content)
        return olga.post("/experiments/new/", {"mode": "document", "do": "upload", "file": file, **more}).context[
            "form"
        ]

    assert upload(UNION.encode()).document == UNION
    broken = upload(b"name: [\n")
    assert (broken.document, "column" in broken.errors[0].sentence) == ("name: [\n", True)
    for content, sentence in ((b"#" * 1_000_001, "the limit is 1,000,000"), (b"\xff\xfe", "is not UTF-8 text")):
        kept = upload(content, document="name: typed before")
        assert kept.document == "name: typed before"
        assert sentence in kept.errors[0].sentence


# --- What will not fit ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"replicates": "900", "workload-consumers": ",".join(map(str, range(1, 11)))}, "replicates", "500 would fit"),
        ({"workload-consumers": ",".join(map(str, range(1, 5_100)))}, "workload.consumers", "1,666 would fit"),
        ({"workload-consumers": "90000"}, "workload.consumers", "fit; the simulated engine needs no ports"),
    ],
)
def test_an_impossible_sweep_is_explained_with_the_number_that_would_work(
    olga: Client, ring: Topology, changes: dict, field: str, sentence: str
) -> None:
    bar = olga.post("/experiments/estimate/", sweep(ring.id, **changes)).content.decode()
    assert f'data-problem="{field}"' in bar
    assert sentence in bar
    answer = olga.post("/experiments/new/", {**sweep(ring.id, **changes), "do": "launch"})
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert not Experiment.objects.exists()


@pytest.mark.parametrize(
    ("what", "where"),
    [("kill", "0-999999"), ("restart", "0-999, 0-999"), ("partition", "0-999 | 0-999")],
)
def test_a_fault_of_more_brokers_than_any_topology_has_is_refused(
    olga: Client, ring: Topology, what: str, where: str
) -> None:
    fault = {"what": what, "where": where, "amount": "", "at_s": "1", "until_s": ""}
    typed = {f"fault-{name}": text for name, text in fault.items()}
    answer = olga.post("/experiments/new/", {**sweep(ring.id, **typed), "do": "launch"})
    assert answer.status_code == 400
    assert "must name at most 1,000 brokers" in answer.content.decode()
    assert f'value="{where}"' in answer.content.decode(), "what was typed stays"


def test_the_launch_bar_says_how_long_behind_what_and_how_much_disk(olga: Client, ring: Topology) -> None:
    olga.post("/experiments/new/", {**sweep(ring.id), "do": "launch"})
    bar = olga.post("/experiments/estimate/", sweep(ring.id, **{"workload-duration_s": "2h"})).content.decode()
    assert "6 runs ahead in the queue" in bar
    assert "finished <time" in bar, "over an hour the time of day says more"
    assert "of disk" in bar
    assert "live, one at a time" in bar


def test_a_run_that_ends_before_each_consumer_has_asked_is_said_before_launching(olga: Client, ring: Topology) -> None:
    bar = olga.post("/experiments/estimate/", sweep(ring.pk)).content.decode()
    assert "Consumers send a request every 30 s, but measuring lasts only 5 s: some send none" in bar
    often = sweep(ring.pk, **{"workload-request_interval_s": "1"})
    assert "A consumer asks every" not in olga.post("/experiments/estimate/", often).content.decode()


def test_a_workload_whose_queries_never_leave_their_broker_is_said_before_launching(
    olga: Client, ring: Topology
) -> None:
    said = "No query will leave its broker: raise entities, lower holders or turn replication off."

    def bar(**fields: Any) -> str:
        typed = sweep(ring.pk, **{"workload-consumers": "50", "workload-request_interval_s": "0.1", **fields})
        return str(olga.post("/experiments/estimate/", typed).content.decode())

    assert said in bar(**{"workload-providers": "50"})
    several = {"workload-entities": "50", "workload-providers": "50", "workload-request_interval_s": "5"}
    assert "leave its broker" not in bar(**several)
    assert "leave its broker" not in bar(**{"workload-holders": "1", "settings-replication": "none"})


def test_a_new_experiment_makes_brokers_search(olga: Client, ring: Topology) -> None:
    form = olga.get(f"/experiments/new/?topology={ring.pk}").context["form"]
    assert "leave its broker" not in olga.post("/experiments/estimate/", as_sent(form)).content.decode()
    one = {**as_sent(form), "workload-entities": "1"}
    assert "query will leave its broker" in olga.post("/experiments/estimate/", one).content.decode()


def test_the_runs_of_a_launch_are_listed_by_configuration_and_replicate(olga: Client, ring: Topology) -> None:
    page = olga.post("/experiments/new/", sweep(ring.pk, do="launch"), follow=True)
    rows = [(run.configuration["workload"]["consumers"], run.replicate) for run in page.context["runs"]]
    assert rows == [(consumers, replicate) for consumers in (10, 20) for replicate in range(3)]
    assert sorted(run.position for run in page.context["runs"]) == list(range(6))


def test_each_configuration_shows_the_states_of_its_replicates_at_a_glance(olga: Client, house: House) -> None:
    answer = olga.get(f"/experiments/{house.experiment.id}/")
    page = answer.content.decode()
    marks = re.findall(r'class="run-mark" href="/runs/(\w+)/" title="Replicate (\d): (\w+)', page)
    known = {run.id: run for run in house.experiment.runs.all()}
    assert sorted(name for name, _, _ in marks) == sorted(known)
    for name, replicate, state in marks:
        assert (known[name].replicate, known[name].state) == (int(replicate), state)
    ordered = [[known[name].replicate for name, _, _ in marks[at : at + 3]] for at in range(0, len(marks), 3)]
    assert ordered == [[0, 1, 2]] * 4
    names = [one.values[0] for one in answer.context["configurations"]]
    assert names == sorted(names, key=str.lower)


def test_a_threshold_that_cannot_be_read_is_explained_beside_its_field(olga: Client, ring: Topology) -> None:
    answer = olga.post("/experiments/new/", {**sweep(ring.id, thresholds="p95 < 2ms\nspeed > 3"), "do": "launch"})
    assert answer.status_code == 400
    assert "speed" in answer.context["form"].wrong["thresholds"]
    assert "speed &gt; 3" in answer.content.decode()


# --- Sent twice, sent late --------------------------------------------------------------------------------------------


def test_a_form_that_is_sent_twice_launches_once(olga: Client, ring: Topology) -> None:
    token = olga.get("/experiments/new/").context["form"].token
    sent = {**sweep(ring.id), "token": token, "do": "launch"}
    first, second = olga.post("/experiments/new/", sent), olga.post("/experiments/new/", sent)
    assert first["Location"] == second["Location"] == f"/experiments/{token}/"
    assert Run.objects.count() == 6
    olga.post("/experiments/new/", {**sent, "workload-consumers": "7"})
    assert Experiment.objects.count() == 2, "gone back to, and changed, it is another one"


def test_topologies_that_are_not_shown_are_found_by_name_and_what_is_ticked_stays(
    olga: Client, ring: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [topologies.create(name=f"Star {number}", kind="central", brokers=1) for number in range(3)]
    monkeypatch.setattr("brokerweb.builder.views.MOST_TOPOLOGIES", 2)
    form = olga.get("/experiments/new/").content.decode()
    assert "2 more not shown. Search by name to find them." in form
    assert others[2].pk not in form
    made = '{"kind": "ring", "brokers": 9}'
    typed = {**sweep([ring.id, made]), "find": "star 2"}
    found = olga.post("/experiments/topologies/", typed).content.decode()
    assert f'value="{others[2].pk}"' in found
    assert f'value="{ring.id}" checked' in found
    assert "created on saving" in found
    assert found.count("<label>") == 3


def test_a_topology_that_was_deleted_meanwhile_is_said_and_the_rest_stays(olga: Client, ring: Topology) -> None:
    gone = ring.id
    ring.delete()
    answer = olga.post("/experiments/new/", {**sweep(gone, **{"workload-consumers": "7, 8"}), "do": "launch"})
    assert answer.status_code == 400
    assert "there is no topology with the id" in answer.content.decode()
    assert 'value="7, 8"' in answer.content.decode()


def test_a_token_of_somebody_else_s_experiment_makes_a_new_one(olga: Client, ring: Topology) -> None:
    theirs = services.create({"name": "theirs", "topology": ring.id, "workload": {"duration_s": 5}})
    olga.post("/experiments/new/", {**sweep(ring.id), "token": theirs.pk, "do": "save"})
    assert Experiment.objects.count() == 2
    for odd in ("", "x", "../..", new_id().upper()):
        assert olga.post("/experiments/new/", {**sweep(ring.id), "token": odd, "do": "save"}).status_code == 302


# --- The experiment's page --------------------------------------------------------------------------------------------


def test_the_page_of_an_experiment_says_what_each_configuration_has_come_to(olga: Client, house: House) -> None:
    page = olga.get(f"/experiments/{house.experiment.id}/?sort=-p95")
    rows = list(page.context["configurations"])
    assert {row.values[0] for row in rows} == set(list(house.topologies)[:4])
    assert [row.runs for row in rows] == [3, 3, 3, 3]
    assert sum(row.n for row in rows) == house.experiment.runs.filter(state=RunState.DONE).count()
    found = [{figure.title: estimate for figure, estimate in row.estimates}["p95"] for row in rows]
    p95 = [one["value"] for one in found]
    assert p95 == sorted(p95, reverse=True)
    for row, one in zip(rows, found, strict=True):
        done = Run.objects.filter(configuration_hash=row.hash, state=RunState.DONE)
        assert one["value"] == pytest.approx(geometric_mean(run.summary["p95"] for run in done))
        assert (one["low"] is None) == (row.n < 2)
    text = page.content.decode()
    assert (
        f"q=experiment.id%20%3D%20{house.experiment.id}%20and%20changed%20%3D%20no%20and%20state%20%3D%20failed" in text
    )
    Run.objects.filter(configuration_hash=rows[1].hash).update(state=RunState.FAILED)
    for sort in ("p95", "-p95"):
        *_, last = olga.get(f"/experiments/{house.experiment.id}/?sort={sort}").context["configurations"]
        assert (last.hash, last.n) == (rows[1].hash, 0), "what was not measured comes last"


def test_an_experiment_that_was_cancelled_does_not_look_complete_in_the_list(olga: Client, ring: Topology) -> None:
    olga.post("/experiments/new/", sweep(ring.pk, do="launch"))
    assert "cancelled" not in olga.get("/experiments/").content.decode()
    olga.post(f"/experiments/{Experiment.objects.get().pk}/cancel/")
    page = olga.get("/experiments/").content.decode()
    assert "6 of 6" in page
    assert "6 of them cancelled" in page


def test_what_failed_is_run_again_once(olga: Client, ring: Topology) -> None:
    olga.post("/experiments/new/", {**sweep(ring.id), "do": "launch"})
    failed = Run.objects.all()[0]
    Run.objects.filter(pk=failed.pk).update(state=RunState.FAILED)
    olga.post(f"/experiments/{failed.experiment_id}/retry-failed/")
    again = Run.objects.get(rerun_of=failed)
    assert (again.seed, again.configuration_hash, again.state) == (failed.seed, failed.configuration_hash, "queued")
    answer = olga.post(f"/experiments/{failed.experiment_id}/retry-failed/", follow=True)
    assert "There are no failed runs" in answer.content.decode()
    assert Run.objects.filter(rerun_of=failed).count() == 1


def test_a_block_that_leaves_a_setting_as_it_is_varies_it_too(olga: Client) -> None:
    experiment = services.create(documents.read(UNION))
    services.launch(experiment)
    page = olga.get(f"/experiments/{experiment.id}/")
    assert page.context["axes"] == {"settings.search": ["walk", "flood"], "workload.consumers": [3, 5, 50]}
    rows = {tuple(row.values) for row in page.context["configurations"]}
    assert rows == {("walk", 3), ("walk", 5), ("flood", 50)}


def test_a_setting_that_a_configuration_does_not_use_is_not_said_of_it(olga: Client, ring: Topology) -> None:
    blocks = [{"settings": {"search": ["walk", "flood"]}}, {"settings": {"arm": "structured"}}]
    experiment = services.create({"name": "e", "topology": ring.id, "workload": {"duration_s": 5}, "blocks": blocks})
    services.launch(experiment)
    rows = {tuple(row.values) for row in olga.get(f"/experiments/{experiment.id}/").context["configurations"]}
    assert rows == {("unstructured", "walk"), ("unstructured", "flood"), ("structured", None)}


def test_thresholds_turn_an_experiment_green_or_red_in_words(olga: Client, ring: Topology) -> None:
    olga.post("/experiments/new/", {**sweep(ring.id, thresholds="p95 < 2ms"), "do": "launch"})
    experiment = Experiment.objects.get()
    assert '<span class="state state-queued">open</span>' in olga.get(f"/experiments/{experiment.id}/").content.decode()
    runs = list(experiment.runs.all())
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(state=RunState.DONE, passed=True)
    assert '<span class="state state-done">passed</span>' in olga.get(f"/experiments/{experiment.id}/").content.decode()
    Run.objects.filter(pk=runs[0].pk).update(passed=False)
    page = olga.get(f"/experiments/{experiment.id}/").content.decode()
    assert '<span class="state state-failed">broken</span>' in page
    assert "5 runs passed" in page
    assert "1 failed" in page
    services.create({"name": "Judged by nobody", "topology": ring.id, "workload": {"duration_s": 5}})
    told = re.findall(r'data-label="Thresholds"[^>]*>(.*?)</td>', olga.get("/experiments/").content.decode())
    assert told == ["–", '<span class="state state-failed">broken</span>']


def test_an_experiment_is_deleted_only_when_nothing_of_it_is_left_to_run(olga: Client, ring: Topology) -> None:
    olga.post("/experiments/new/", {**sweep(ring.id), "do": "launch"})
    experiment = Experiment.objects.get()
    refused = olga.post(f"/experiments/{experiment.id}/delete/", follow=True)
    assert "Cancel them first" in refused.content.decode()
    olga.post(f"/experiments/{experiment.id}/cancel/")
    assert olga.post(f"/experiments/{experiment.id}/delete/")["Location"] == "/experiments/"
    assert not Experiment.objects.exists()


def test_a_new_experiment_from_a_run_is_its_one_configuration(olga: Client, ring: Topology) -> None:
    sent = sweep(ring.id, **{"settings-profile": "improved", "settings-hop_tries": "3"})
    olga.post("/experiments/new/", {**sent, "do": "launch"})
    run = Run.objects.all()[0]
    form = olga.get(f"/experiments/new/?run={run.id}").context["form"]
    assert form.name == f"sweep, run {run.position + 1}"
    assert form.settings.changed() == {"profile": "improved", "hop_tries": 3}
    olga.post("/experiments/new/", {**as_sent(form), "do": "launch"})
    again = Experiment.objects.get(name=form.name)
    assert {one.configuration_hash for one in again.runs.all()} == {run.configuration_hash}


def test_what_has_a_setting_that_has_gone_since_is_begun_with_as_a_document(olga: Client, ring: Topology) -> None:
    olga.post("/experiments/new/", {**sweep(ring.id), "do": "launch"})
    experiment, run = Experiment.objects.get(), Run.objects.all()[0]
    experiment.definition["settings"]["warp"] = run.configuration["settings"]["warp"] = 9
    experiment.save()
    run.save()
    for origin in (f"from={experiment.id}", f"run={run.id}"):
        page = olga.get(f"/experiments/new/?{origin}")
        form = page.context["form"]
        assert (page.status_code, form.mode) == (200, "document")
        assert "warp: 9" in form.document
        assert "kind: ring" in form.document
        assert [error.field for error in form.errors] == ["settings.warp"]
        assert "is unknown" in page.content.decode()
        kept = form.document.replace("warp: 9", "hop_tries: 3")
        assert olga.post("/experiments/new/", {"mode": "document", "document": kept, "do": "save"}).status_code == 302


def test_who_may_only_look_sees_no_button_that_changes(viktor: Client, ring: Topology) -> None:
    experiment = services.create({"name": "e", "topology": ring.id, "workload": {"duration_s": 5}})
    Run.objects.filter(pk=services.launch(experiment).runs[0].pk).update(state=RunState.FAILED)
    page = viktor.get(f"/experiments/{experiment.id}/").content.decode()
    assert "Cancel" not in page
    assert "Retry failed runs" not in page
    for address in ("retry-failed", "delete", "cancel", "launch"):
        assert viktor.post(f"/experiments/{experiment.id}/{address}/").status_code == 403
    assert viktor.get("/experiments/new/?preset=quick-look").status_code == 403


def test_an_unknown_system_is_refused_and_saves_nothing(olga: Client, ring: Topology) -> None:
    sent = {
        "name": "n",
        "system": "nowhere",
        "topology": ring.id,
        "engine": "simulated",
        "replicates": "1",
        "seed": "1",
    }
    for do in ("save", "launch"):
        answer = olga.post("/experiments/new/", {**sent, "do": do})
        assert answer.status_code == 400
        assert "must be one of context-broker" in answer.content.decode()
    for do in ("document", "form", "look"):
        assert olga.post("/experiments/new/", {**sent, "do": do}).status_code == 200
    document = {**sent, "mode": "document", "document": "name: n\nsystem: nowhere\n"}
    assert olga.post("/experiments/new/", {**document, "do": "save"}).status_code == 400
    assert "must be one of context-broker" in olga.post("/experiments/estimate/", sent).content.decode()
    assert olga.post("/experiments/topologies/", sent).status_code == 200
    assert not Experiment.objects.exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("preset=nope", "must be one of quick-look, "),
        ("study=nope", "there is none with the id or name 'nope'; "),
        ("study=&scale=nope", "must be one of quick, paper, not "),
        ("system=nope", "must be one of context-broker"),
        ("from=nope", "there is no experiment with the id "),
        ("run=nope", "there is no run with the id "),
        ("topology=nope", "there is no topology with the id "),
        ("pressed=nope", "is an unknown parameter of this page; known: preset, "),
    ],
)
def test_a_name_that_there_is_not_is_told_above_the_empty_form(olga: Client, asked: str, said: str) -> None:
    page = olga.get(f"/experiments/new/?{asked}")
    form = page.context["form"]
    assert [error.field for error in form.errors] == [asked.split("=nope")[0].split("&")[-1]]
    assert said in form.errors[0].sentence
    assert form.errors[0].sentence in html.unescape(page.content.decode())
    assert (form.mode, form.topologies) == ("form", [])


def test_what_there_is_has_no_problem(olga: Client, ring: Topology) -> None:
    for asked in ("", "preset=quick-look&document", "preset=", f"topology={ring.pk}&system=context-broker"):
        assert not olga.get(f"/experiments/new/?{asked}").context["form"].errors, asked


def test_a_run_of_a_system_that_is_not_installed_is_shown_as_a_document(olga: Client, house: House) -> None:
    run = house.runs["done"]
    Run.objects.filter(pk=run.pk).update(configuration={**run.configuration, "system": "nowhere"})
    page = olga.get(f"/experiments/new/?run={run.pk}").content.decode()
    assert "system: nowhere" in page
    assert "must be one of context-broker" in page
