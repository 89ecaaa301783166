"""Experiments through REST: checked whole, swept, launched in random order with paired seeds, cancelled, rerun."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.experiments import states
from brokerweb.experiments.collection import collect_run
from brokerweb.experiments.models import Run, RunState
from brokerweb.networks.models import Host
from brokerweb.topologies.models import Node
from overlay.core.chance import derive_seed
from overlay.experiment.sweeps import configuration_hash
from tests.telemetry.synthetic import Script, write_run

pytestmark = pytest.mark.django_db

SMALL = {"providers": 2, "consumers": 3, "duration_s": 2, "stagger_ms": 10}


def body(ring: dict, **changes: Any) -> dict[str, Any]:
    return {"name": "e", "topology": ring["id"], "workload": SMALL, "replicates": 2, "seed": 5, **changes}


def make(api: APIClient, ring: dict, **changes: Any) -> dict[str, Any]:
    answer = api.post("/api/experiments/", body(ring, **changes), format="json")
    assert answer.status_code == 201, answer.content
    return answer.json()


def launch(api: APIClient, experiment: dict) -> dict[str, Any]:
    answer = api.post(f"/api/experiments/{experiment['id']}/launch/")
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_a_launch_sent_twice_launches_once(api: APIClient, client: Client, operator: User, ring: dict) -> None:
    """A button pressed twice; a script that sends its order again, as the answer was lost."""
    made = make(api, ring)
    client.force_login(operator)
    page = client.get(f"/experiments/{made['id']}/").content.decode()
    assert '<input type="hidden" name="runs" value="0">' in page
    for _ in range(2):
        client.post(f"/experiments/{made['id']}/launch/", {"runs": "0"})
    assert Run.objects.count() == 2
    assert "the experiment has 2 runs now, not 0" in client.get(f"/experiments/{made['id']}/").content.decode()

    order = f"/api/experiments/{made['id']}/launch/"
    assert api.post(order, {"if_runs": 2}, format="json").json()["count"] == 2
    again = api.post(order, {"if_runs": 2}, format="json")
    assert (again.status_code, Run.objects.count()) == (409, 4)
    assert "4 runs now, not 2" in again.content.decode()
    for wrong in ({"if_runs": -1}, {"if_runs": "some"}, {"if_run": 4}):
        assert api.post(order, wrong, format="json").status_code == 400
    assert Run.objects.count() == 4


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"topology": "nonsense"}, "topology"),
        ({"topology": None}, "topology"),
        ({"topology": []}, "topology"),
        ({"topology": {"name": "ring"}}, "topology.kind"),
        ({"system": "abacus"}, "system"),
        ({"engine": "steam"}, "engine"),
        ({"faults": {}}, "faults"),
        ({"engine": "simulated", "faults": [{"what": "kill", "brokers": [99], "at_s": 1}]}, "faults.0.brokers"),
        ({"simulation": {"service_times": "none"}}, "simulation"),
        ({"engine": "simulated", "simulation": {"service_times": "guessed"}}, "simulation.service_times"),
        ({"engine": "simulated", "simulation": []}, "simulation"),
        ({"settings": {"walk_policy": "drunk"}}, "settings.walk_policy"),
        ({"settings": {"walk_pollicy": "avoid"}}, "settings.walk_pollicy"),
        ({"settings": [1]}, "settings"),
        ({"workload": {**SMALL, "providers": -1}}, "workload.providers"),
        ({"workload": {**SMALL, "providers": "ten"}}, "workload.providers"),
        ({"workload": {**SMALL, "providers": [1, "ten"]}}, "workload.providers"),
        ({"workload": {**SMALL, "provider": 1}}, "workload.provider"),
        ({"workload": {**SMALL, "consumers": []}}, "workload.consumers"),
        ({"workload": {**SMALL, "consumers": [[1, 2]]}}, "workload.consumers"),
        ({"workload": 5}, "workload"),
        ({"workload": {**SMALL, "assignment": "fair"}}, "workload.assignment"),
        ({"workload": {**SMALL, "churn": "sometimes"}}, "workload.churn"),
        ({"workload": {**SMALL, "churn": "file"}}, "workload.churn_schedule"),
        ({"workload": {**SMALL, "churn": "file", "churn_schedule": "0.5 99 crash"}}, "workload.churn_schedule"),
        (
            {"workload": {**SMALL, "churn": ["none", "weibull"], "churn_brokers_kept": 99}},
            "workload.churn_brokers_kept",
        ),
        ({"workload": {**SMALL, "churn": "weibull", "session_shape": 0}}, "workload.session_shape"),
        ({"replicates": 0}, "replicates"),
        ({"replicates": 1.5}, "replicates"),
        ({"replicates": True}, "replicates"),
        ({"replicates": 10**6}, "replicates"),
        ({"seed": -1}, "seed"),
        ({"blocks": {"a": 1}}, "blocks"),
        ({"blocks": [{"wrokload": {}}]}, "blocks.0.wrokload"),
        ({"blocks": [{"settings": 3}]}, "blocks.0.settings"),
        ({"blocks": [{"faults": {"what": "kill"}}]}, "blocks.0.faults"),
        ({"surprise": 1}, "surprise"),
        ({"workload": {**SMALL, "consumers": list(range(1, 1_000))}, "replicates": 6}, "replicates"),
        ({"thresholds": "p95 < 2ms"}, "thresholds"),
        ({"thresholds": ["p95 < 2ms", 3]}, "thresholds.1"),
        ({"thresholds": ["p95 < 2ms", "p59 < 2ms"]}, "thresholds.1"),
        ({"thresholds": ["p95 < 2"]}, "thresholds.0"),
        ({"report_when_done": "yes"}, "report_when_done"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_saved(api: APIClient, ring: dict, changes: dict, field: str) -> None:
    answer = api.post("/api/experiments/", body(ring, **changes), format="json")
    assert answer.status_code == 400, answer.content
    assert answer.json()["field"] == field
    assert answer.json()["sentence"]
    assert api.get("/api/experiments/").json()["count"] == 0


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"name": ' + "[" * 2000 + "]" * 2000 + "}"])
def test_bodies_that_are_no_objects_are_refused(api: APIClient, text: str) -> None:
    answer = api.post("/api/experiments/", text, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["sentence"]


def test_lists_are_swept_over_their_product(api: APIClient, ring: dict) -> None:
    swept = {"workload": {**SMALL, "consumers": [3, 5]}, "settings": {"walk_policy": ["avoid", "uniform", "noback"]}}
    estimate = api.post("/api/experiments/estimate/", body(ring, **swept), format="json").json()
    assert (estimate["configurations"], estimate["count"]) == (6, 12)
    assert estimate["axes"]["workload.consumers"] == [3, 5]
    assert estimate["estimated_s"] > 0
    launched = launch(api, make(api, ring, **swept))
    assert (launched["count"], len(launched["runs"])) == (12, 12)
    assert launched["estimated_s"] == estimate["estimated_s"]


def test_short_runs_that_were_quick_do_not_promise_a_long_one_before_its_end(api: APIClient, ring: dict) -> None:
    """The overhead of a live run is learnt as a sum; a factor estimated 60 s for 80 s of measuring."""
    launch(api, make(api, ring, replicates=3))
    begun = timezone.now()
    quick = {
        "state": RunState.DONE,
        "estimated_s": 13.0,
        "launched_at": begun,
        "ended_at": begun + timedelta(seconds=8),
    }
    Run.objects.update(**quick)
    long = body(ring, workload={**SMALL, "duration_s": 80}, replicates=1)
    estimate = api.post("/api/experiments/estimate/", long, format="json").json()
    assert 80 < estimate["estimated_s"] < 88


def test_assignments_and_churn_are_swept_like_everything_else(api: APIClient, ring: dict) -> None:
    churn = {"churn": ["none", "exponential", "file"], "churn_schedule": "0.2 1 crash; 0.6 1 up"}
    swept = {"workload": {**SMALL, "assignment": ["round-robin", "least-loaded", "nearest"], **churn}}
    estimate = api.post("/api/experiments/estimate/", body(ring, **swept), format="json").json()
    assert estimate["configurations"] == 9
    assert estimate["axes"]["workload.assignment"] == ["round-robin", "least-loaded", "nearest"]


def test_the_nearest_broker_needs_a_topology_that_says_where_brokers_are(api: APIClient, ring: dict) -> None:
    Node.objects.filter(topology_id=ring["id"]).update(x=None, y=None)
    answer = api.post("/api/experiments/", body(ring, workload={**SMALL, "assignment": "nearest"}), format="json")
    assert answer.status_code == 400
    assert answer.json()["field"] == "workload.assignment"
    assert "nearest needs the brokers' positions" in answer.json()["sentence"]


def test_where_brokers_are_drawn_makes_another_configuration_only_where_clients_go_to_the_nearest() -> None:
    def name(assignment: str, positions: list) -> str:
        topology = {"brokers": 2, "links": [], "positions": positions}
        settings: dict = {}
        return configuration_hash({"topology": topology, "settings": settings, "workload": {"assignment": assignment}})

    here, there = [[0, 0], [1, 1]], [[0, 1], [1, 0]]
    assert name("random", here) == name("random", there)
    assert name("nearest", here) != name("nearest", there)


def test_faults_and_the_engine_make_another_configuration_and_no_faults_do_not() -> None:
    plain: dict = {"topology": {"brokers": 2, "links": []}, "settings": {}, "workload": {}, "engine": "live"}
    name = configuration_hash(plain)
    assert configuration_hash({**plain, "faults": []}) == name
    assert configuration_hash({**plain, "faults": [{"what": "kill", "brokers": [1], "at_s": 1.0}]}) != name
    assert configuration_hash({**plain, "engine": "simulated", "simulation": {"service_times": "none"}}) != name


def test_blocks_are_a_union_in_which_each_configuration_stands_once(api: APIClient, ring: dict) -> None:
    blocks = [
        {"workload": {"consumers": [3, 5]}},
        {"workload": {"consumers": [5, 7]}},
        {"settings": {"table": "linear"}},
    ]
    estimate = api.post("/api/experiments/estimate/", body(ring, blocks=blocks), format="json").json()
    assert estimate["configurations"] == 4


def test_a_default_spelt_out_is_the_same_configuration(api: APIClient, ring: dict) -> None:
    plain, spelt = make(api, ring), make(api, ring, settings={"monitoring": True})
    hashes = {
        api.get(f"/api/runs/{launch(api, one)['runs'][0]}/").json()["configuration_hash"] for one in (plain, spelt)
    }
    assert len(hashes) == 1


def test_all_holders_and_zero_are_the_same_configuration(api: APIClient, ring: dict) -> None:
    experiment = make(api, ring, workload={**SMALL, "holders": ["all", 0]}, replicates=1)
    [run] = launch(api, experiment)["runs"]
    assert api.get(f"/api/runs/{run}/").json()["configuration"]["workload"]["holders"] == 0


def test_replicates_have_the_same_seeds_in_every_configuration(api: APIClient, ring: dict) -> None:
    launched = launch(api, make(api, ring, workload={**SMALL, "consumers": [3, 5]}))
    runs = [api.get(f"/api/runs/{run}/").json() for run in launched["runs"]]
    assert {(run["replicate"], run["seed"]) for run in runs} == {(0, derive_seed(5, 0)), (1, derive_seed(5, 1))}
    assert {run["state"] for run in runs} == {"queued"}
    assert [run["position"] for run in runs] == [0, 1, 2, 3]
    assert runs[0]["configuration"]["seed"] == runs[0]["seed"]


def test_the_order_is_random_and_the_same_for_one_seed(api: APIClient, ring: dict) -> None:
    def order(seed: int) -> list:
        launched = launch(api, make(api, ring, seed=seed, replicates=8, workload={**SMALL, "consumers": [3, 5]}))
        runs = [Run.objects.get(pk=run) for run in launched["runs"]]
        return [(run.configuration["workload"]["consumers"], run.replicate) for run in runs]

    assert order(1) == order(1) != order(2)
    assert order(1) != sorted(order(1))


def test_a_queued_run_is_cancelled_at_once_and_rerun_exactly(api: APIClient, ring: dict) -> None:
    run = launch(api, make(api, ring))["runs"][0]
    gone = api.post(f"/api/runs/{run}/cancel/").json()
    assert (gone["state"], bool(gone["reason"])) == ("cancelled", True)
    assert api.post(f"/api/runs/{run}/cancel/").status_code == 409
    again = api.post(f"/api/runs/{run}/rerun/").json()
    assert again["id"] != run
    assert (again["seed"], again["configuration"], again["state"]) == (gone["seed"], gone["configuration"], "queued")
    assert [event["name"] for event in api.get(f"/api/runs/{run}/events/").json()["results"]] == ["queued", "cancelled"]


def test_a_run_that_is_cancelled_while_it_is_collected_keeps_all_and_is_cancelled(api: APIClient, ring: dict) -> None:
    run = launch(api, make(api, ring, thresholds=["p95 < 1us"]))["runs"][0]
    write_run(Path(settings.RUNS) / run, Script(brokers=4))
    Run.objects.filter(pk=run).update(state=RunState.COLLECTING)
    assert api.post(f"/api/runs/{run}/cancel/").json()["state"] == "collecting"
    collect_run(run)
    shown = api.get(f"/api/runs/{run}/").json()
    assert (shown["state"], "kept" in shown["reason"]) == ("cancelled", True)
    assert shown["summary"]["answered"] > 0
    assert shown["passed"] is None, "only a run that is done keeps or breaks a threshold"
    assert api.post(f"/api/runs/{run}/cancel/").status_code == 409


def test_a_queued_run_says_what_it_waits_for(api: APIClient, ring: dict) -> None:
    run = launch(api, make(api, ring))["runs"][0]
    assert "make up" in api.get(f"/api/runs/{run}/").json()["waiting_for"]


def test_a_queued_run_names_the_one_ahead_as_pages_do(api: APIClient, ring: dict) -> None:
    first, second, third = launch(api, make(api, ring, name="Small", replicates=3))["runs"]
    Host.objects.create(name="here", heartbeat=timezone.now())
    assert api.get(f"/api/runs/{first}/").json()["waiting_for"] == ""
    assert api.get(f"/api/runs/{second}/").json()["waiting_for"] == "behind run 1 of Small"
    assert api.get(f"/api/runs/{third}/").json()["waiting_for"] == "behind run 1 of Small and 1 more"


def test_an_experiment_is_deleted_only_when_nothing_of_it_runs(api: APIClient, ring: dict) -> None:
    experiment = make(api, ring)
    runs = launch(api, experiment)["runs"]
    assert api.delete(f"/api/experiments/{experiment['id']}/").status_code == 409
    for run in runs:
        api.post(f"/api/runs/{run}/cancel/")
    assert api.delete(f"/api/experiments/{experiment['id']}/").status_code == 204


def test_runs_are_filtered_by_experiment_and_state(api: APIClient, ring: dict) -> None:
    first, second = make(api, ring), make(api, ring)
    launch(api, first)
    runs = launch(api, second)["runs"]
    api.post(f"/api/runs/{runs[0]}/cancel/")
    found = api.get(f"/api/runs/?experiment={second['id']}&state=queued").json()
    assert [run["id"] for run in found["results"]] == [runs[1]]
    assert api.get("/api/runs/?state__in=queued,cancelled").json()["count"] == 4


def test_an_illegal_move_is_a_mistake_and_a_late_one_does_nothing(api: APIClient, ring: dict) -> None:
    run = Run.objects.get(pk=launch(api, make(api, ring))["runs"][0])
    late = Run.objects.get(pk=run.pk)
    with pytest.raises(ValueError, match="queued to done"):
        states.move(run, RunState.DONE)
    assert states.move(run, RunState.LAUNCHING)
    assert not states.move(late, RunState.CANCELLED)
    run.refresh_from_db()
    assert run.state == RunState.LAUNCHING


def test_a_worker_that_was_given_up_on_moves_nothing(api: APIClient, ring: dict) -> None:
    run = Run.objects.get(pk=launch(api, make(api, ring))["runs"][0])
    Run.objects.filter(pk=run.pk).update(lease_epoch=9)
    assert not states.move(run, RunState.LAUNCHING)


# --- Documents, presets, what failed again --------------------------------------------------------------------------


CARRIED = """\
name: carried
topology: {name: Ring of 3, kind: ring, brokers: 3, params: {delay_ms: 2}}
engine: simulated
workload: {providers: 2, consumers: [3, 5], duration_s: 2, stagger_ms: 10}
replicates: 2
seed: 5
"""


def post_yaml(api: APIClient, address: str, text: str) -> Any:
    return api.post(address, text, content_type="application/yaml")


def test_a_document_with_its_topology_is_reckoned_made_launched_and_read_back(api: APIClient) -> None:
    estimate = post_yaml(api, "/api/experiments/estimate/", CARRIED)
    assert estimate.status_code == 200, estimate.content
    assert (estimate.json()["count"], estimate.json()["to_make"]) == (4, ["Ring of 3"])
    assert api.get("/api/topologies/").json()["count"] == 0
    made = post_yaml(api, "/api/experiments/", CARRIED)
    assert made.status_code == 201, made.content
    [topology] = api.get("/api/topologies/").json()["results"]
    assert made.json()["topology"] == topology["id"]
    assert launch(api, made.json())["count"] == 4
    text = api.get(f"/api/experiments/{made.json()['id']}/yaml/").content.decode()
    again = post_yaml(api, "/api/experiments/", text).json()
    assert again["topology"] == topology["id"], "the one that is like it"
    hashes = {
        api.get(f"/api/runs/{run}/").json()["configuration_hash"]
        for one in (made.json(), again)
        for run in launch(api, one)["runs"]
    }
    assert len(hashes) == 2


def test_a_topology_is_named_by_its_name_too(api: APIClient, ring: dict) -> None:
    assert make(api, ring, topology="ring")["topology"] == ring["id"]
    assert make(api, ring, topology=["ring", {"kind": "star", "brokers": 3}])["topology"][0] == ring["id"]
    blocks = [{"topology": "ring"}, {"topology": {"kind": "star", "brokers": 3}}]
    made = make(api, ring, topology=None, blocks=blocks)
    assert made["blocks"][0]["topology"] == ring["id"]
    assert api.get("/api/topologies/").json()["count"] == 2


@pytest.mark.parametrize(
    ("text", "field", "sentence"),
    [
        ("name: [", "document", "column"),
        ("", "name", "is required"),
        ("&a [*a]", "document", "anchor"),
        ("name: e\ntopology: {kind: ring}", "topology.brokers", "is required"),
        ("name: e\ntopology: [{kind: ring, brokers: 3}, {kind: ring, brokers: 0}]", "topology.1.brokers", "from 3"),
        ("name: e\nblocks: [{topology: {kind: ring, brokers: 3, seed: x}}]", "blocks.0.topology.seed", "whole number"),
        ("name: e\ntopology: {kind: ring, brokers: 5000}", "topology.brokers", "telemetry sweep"),
        ("name: e\ntopology: {kind: ring, brokers: 3, seed: -1}", "topology.seed", "whole number from 0"),
        ('name: e\ntopology: {kind: ring, brokers: 3, name: "a\\tb"}', "topology.name", "printable"),
        ("name: e\ntopology: [" + "x, " * 1_001 + "]", "topology", "the limit is 1,000"),
        ("name: e\ntopology: nowhere", "topology", "there is no topology"),
        ("a: " + "x" * 1_000_001, "document", "the limit is 1,000,000"),
    ],
)
def test_a_broken_document_names_its_field_and_makes_nothing(
    api: APIClient, text: str, field: str, sentence: str
) -> None:
    answer = post_yaml(api, "/api/experiments/", text)
    assert answer.status_code == 400, answer.content
    assert answer.json()["field"] == field
    assert sentence in answer.json()["sentence"]
    assert api.get("/api/topologies/").json()["count"] == api.get("/api/experiments/").json()["count"] == 0


def test_what_is_wrong_after_its_topology_was_drawn_makes_no_topology(api: APIClient) -> None:
    answer = post_yaml(api, "/api/experiments/", CARRIED.replace("providers: 2", "providers: -2"))
    assert answer.json()["field"] == "workload.providers"
    assert api.get("/api/topologies/").json()["count"] == 0


def test_presets_are_bodies_that_can_be_sent_as_they_are(api: APIClient) -> None:
    listed = api.get("/api/presets/").json()["results"]
    assert {one["name"] for one in listed} >= {"quick-look", "fire-watch", "rare-data"}
    rare = api.get("/api/presets/rare-data/").json()
    assert rare["runs"] == 20
    made = api.post("/api/experiments/", rare["definition"], format="json")
    assert made.status_code == 201, made.content
    assert api.get("/api/presets/rare-data/yaml/").content.startswith(b"# Rare data")
    assert api.get("/api/presets/none/").status_code == 404


def test_a_whole_number_and_the_same_with_a_point_are_one_configuration(api: APIClient, ring: dict) -> None:
    hashes = set()
    for interval, at_s in ((30, 1), (30.0, 1.0)):
        faults = [{"what": "restart", "brokers": [1], "at_s": at_s}]
        made = make(api, ring, workload={**SMALL, "request_interval_s": interval}, faults=faults)
        hashes |= {api.get(f"/api/runs/{run}/").json()["configuration_hash"] for run in launch(api, made)["runs"]}
    assert len(hashes) == 1


def test_failed_runs_are_queued_again_once_and_all_that_is_left_is_cancelled(api: APIClient, ring: dict) -> None:
    experiment = make(api, ring, replicates=3)
    first, second, third = launch(api, experiment)["runs"]
    Run.objects.filter(pk=first).update(state=RunState.FAILED)
    Run.objects.filter(pk=second).update(state=RunState.DONE)
    again = api.post(f"/api/experiments/{experiment['id']}/retry-failed/")
    assert again.status_code == 201, again.content
    assert again.json()["count"] == 1
    assert api.post(f"/api/experiments/{experiment['id']}/retry-failed/").status_code == 409
    assert api.post(f"/api/experiments/{experiment['id']}/cancel/").json() == {"cancelled": 2}
    assert Run.objects.get(pk=third).state == RunState.CANCELLED
    assert Run.objects.get(pk=second).state == RunState.DONE
