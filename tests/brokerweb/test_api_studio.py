"""Topologies edited through REST: versions, what differs, who saved meanwhile, advice, files."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from brokerweb.experiments import services as experiments
from brokerweb.topologies import services as topologies
from brokerweb.topologies import studio, versions
from brokerweb.topologies.models import Topology, TopologyVersion

pytestmark = pytest.mark.django_db


def drawing(api: APIClient, topology: dict, number: int = 1) -> dict[str, Any]:
    """A version as an editor has it."""
    version = api.get(f"/api/topologies/{topology['id']}/versions/{number}/").json()
    return {"nodes": version["nodes"], "links": version["links"]}


def put(api: APIClient, topology: dict, body: dict, **headers: str):
    return api.put(f"/api/topologies/{topology['id']}/", body, format="json", headers=headers)


def with_chord(body: dict) -> dict[str, Any]:
    return {**body, "links": [*body["links"], {"a": 0, "b": 2, "delay_ms": 4}]}


def test_a_link_drawn_by_hand_is_a_new_version_and_no_ring_any_more(api: APIClient, ring: dict) -> None:
    saved = put(api, ring, {**with_chord(drawing(api, ring)), "version": 1, "note": "a chord", "name": "chorded"})
    assert saved.status_code == 200, saved.content
    now = saved.json()
    assert (now["version"], now["kind"], now["name"], len(now["links"])) == (2, "custom", "chorded", 5)
    assert saved["ETag"] == '"2"'
    listed = api.get(f"/api/topologies/{ring['id']}/versions/").json()["results"]
    assert [(one["number"], one["by"], one["note"]) for one in listed] == [(2, "olga", "a chord"), (1, "olga", "")]
    found = api.get(f"/api/topologies/{ring['id']}/difference/").json()
    assert (found["old"], found["new"]) == (1, 2)
    assert [(link["a"], link["b"], link["delay_ms"]) for link in found["links_added"]] == [(0, 2, 4.0)]
    assert found["links_removed"] == found["brokers_added"] == []


def test_a_ring_with_other_delays_is_still_a_ring(api: APIClient, ring: dict) -> None:
    body = drawing(api, ring)
    body["links"][0]["delay_ms"] = 7.5
    now = put(api, ring, body, **{"If-Match": '"1"'}).json()
    assert (now["kind"], now["version"]) == ("ring", 2)
    [changed] = api.get(f"/api/topologies/{ring['id']}/difference/").json()["links_changed"]
    assert [one["delay_ms"] for one in changed] == [0.0, 7.5]


def test_a_patch_of_an_older_version_changes_nothing(api: APIClient, ring: dict) -> None:
    def patch(tag: str, **body: Any) -> Any:
        headers = {"If-Match": tag} if tag else {}
        return api.patch(f"/api/topologies/{ring['id']}/", body, format="json", headers=headers)

    assert patch('"1"', seed=5, brokers=5).json()["version"] == 2
    late = patch('"1"', name="mine")
    assert (late.status_code, late.json()["code"]) == (412, "precondition_failed")
    assert "olga saved version 2 after version 1 was opened. Nothing was saved." in late.content.decode()
    assert patch('"soon"', name="mine").status_code == 400
    assert api.get(f"/api/topologies/{ring['id']}/").json()["name"] == ring["name"]
    assert patch("*", name="mine").json()["name"] == "mine"
    assert patch("", name="yours").json()["name"] == "yours"


def test_what_changes_nothing_makes_no_version(api: APIClient, ring: dict) -> None:
    assert put(api, ring, {**drawing(api, ring), "version": 1}).json()["version"] == 1
    renamed = put(api, ring, {**drawing(api, ring), "version": 1, "name": "renamed"}).json()
    assert (renamed["version"], renamed["name"]) == (1, "renamed")


def test_who_edited_an_old_version_is_told_and_nothing_is_lost(api: APIClient, ring: dict) -> None:
    mine = with_chord(drawing(api, ring))
    moved = drawing(api, ring)
    moved["nodes"][0]["x"] = 0.25
    put(api, ring, {**moved, "version": 1})
    refused = put(api, ring, {**mine, "version": 1})
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert refused.json()["sentence"] == "olga saved version 2 after version 1 was opened. Nothing was saved."
    assert put(api, ring, {**mine, "version": 2}).json()["version"] == 3
    assert put(api, ring, mine, **{"If-Match": '"1"'}).status_code == 412
    unsaid = put(api, ring, mine)
    assert (unsaid.status_code, unsaid.json()["field"]) == (428, "version")


def test_an_earlier_version_comes_back_as_the_newest_with_how_it_was_made(api: APIClient, ring: dict) -> None:
    put(api, ring, {**with_chord(drawing(api, ring)), "version": 1})
    back = api.post(f"/api/topologies/{ring['id']}/versions/1/restore/").json()
    assert (back["version"], back["kind"], len(back["links"])) == (3, "ring", 4)
    again = api.post(f"/api/topologies/{ring['id']}/versions/1/restore/")
    assert (again.status_code, again.json()["sentence"]) == (409, "Version 1 equals the current topology.")
    assert api.post(f"/api/topologies/{ring['id']}/versions/9/restore/").status_code == 404


def test_a_patch_that_draws_anew_is_a_version_and_shows_what_it_drew(api: APIClient, ring: dict) -> None:
    bigger = api.patch(f"/api/topologies/{ring['id']}/", {"brokers": 6}, format="json").json()
    assert (bigger["version"], len(bigger["links"]), len(bigger["nodes"])) == (2, 6, 6)


@pytest.mark.parametrize(
    ("change", "field", "told"),
    [
        ({"nodes": []}, "nodes", "1 to 1000 brokers"),
        ({"nodes": "many"}, "nodes", "must be a list"),
        ({"nodes": [{"x": 2, "y": 0}]}, "nodes[0].x", "must be from 0 to 1, not 2"),
        ({"nodes": [{"y": 0}]}, "nodes[0].x", "is required"),
        (
            {"nodes": [{"x": 0, "y": 0, "name": "a"}, {"x": 0, "y": 0, "name": "a"}]},
            "nodes[1].name",
            "already the name of broker 0",
        ),
        ({"nodes": [{"x": 0, "y": 0, "name": "a" * 101}]}, "nodes[0].name", "1 to 100 printable"),
        ({"links": [{"a": 0, "b": 9}]}, "links", "names broker 9"),
        ({"links": [{"a": 0, "b": 1, "loss": 2}]}, "links[0].loss", "at most 1"),
        ({"links": [{"a": 0, "b": 1, "jitter_ms": 2}]}, "links[0].jitter_ms", "more than the delay"),
        ({"links": [[0, 1], [1, 0]]}, "links", "is a duplicate of link 0"),
        ({"note": "a" * 201}, "note", "200"),
        ({"name": ""}, "name", ""),
        ({"colour": "red"}, "colour", "is unknown"),
    ],
)
def test_what_is_wrong_with_a_drawing_is_named_and_nothing_is_saved(
    api: APIClient, ring: dict, change: dict, field: str, told: str
) -> None:
    answer = put(api, ring, {**drawing(api, ring), "version": 1, **change})
    assert answer.status_code == 400, answer.content
    assert answer.json()["field"] == field
    assert told in answer.json()["sentence"]
    assert api.get(f"/api/topologies/{ring['id']}/").json()["version"] == 1


def test_advice_is_worked_out_for_one_at_a_time(api: APIClient, ring: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studio, "ADVICE_WAIT_S", 0.01)
    address = f"/api/topologies/{ring['id']}/advice/?k=1"
    with studio._advising:
        busy = api.get(address)
    assert (busy.status_code, "Another request" in busy.json()["sentence"]) == (409, True)
    assert api.get(address).status_code == 200


def test_a_drawing_is_measured_and_advised_on_before_it_is_saved(api: APIClient, ring: dict) -> None:
    body = drawing(api, ring)
    seen = api.post("/api/topologies/measures/", {**body, "policy": "backtrack"}, format="json").json()
    assert seen["measures"]["diameter"] == 2
    assert (seen["structure"]["cycles"], seen["warnings"]) == (1, [])
    assert (seen["walk"]["found"], seen["walk"]["holders"]) == (1.0, 1)
    body["links"] = body["links"][:1]
    cut = api.post("/api/topologies/measures/", body, format="json").json()
    [told] = cut["warnings"]
    assert told.startswith("It has 3 components (2 brokers; brokers 2 and 3 without links): requests in one component")
    advised = api.post("/api/topologies/advice/", {**body, "k": 2}, format="json").json()["links"]
    assert [one["before"] for one in advised] == [None, None]
    assert advised[1]["after"] > 0
    kept = api.get(f"/api/topologies/{ring['id']}/advice/?k=1&goal=path").json()
    assert kept["links"][0]["after"] < kept["links"][0]["before"]
    assert api.get(f"/api/topologies/{ring['id']}/advice/?k=many").json()["field"] == "k"
    assert api.get(f"/api/topologies/{ring['id']}/measures/?policy=avoid").json()["measures"]["links"] == 4
    assert Topology.objects.get().version == 1


def test_a_topology_goes_out_in_every_form_and_comes_in_again(api: APIClient, ring: dict) -> None:
    for form in ("graphml", "json", "csv"):
        text = api.get(f"/api/topologies/{ring['id']}/export/?format={form}").content.decode()
        body = {"name": form, "format": form, "text": text}
        again = api.post("/api/topologies/import/", body, format="json").json()
        assert again["links"] == ring["links"], form
    assert api.get(f"/api/topologies/{ring['id']}/export/?format=png").json()["field"] == "format"


def test_a_copy_has_a_name_of_its_own_and_begins_anew(api: APIClient, ring: dict) -> None:
    first = api.post(f"/api/topologies/{ring['id']}/clone/").json()
    second = api.post(f"/api/topologies/{ring['id']}/clone/").json()
    assert (first["name"], second["name"]) == ("ring, copy", "ring, copy 2")
    assert (first["kind"], first["version"], first["links"]) == ("ring", 1, ring["links"])


def test_a_run_says_which_version_it_has_and_is_the_same_configuration_as_before(
    api: APIClient, operator: User
) -> None:
    ring = topologies.create(name="ring", kind="ring", brokers=4, owner=operator)
    definition = {"name": "x", "topology": ring.pk, "workload": {"providers": 2, "consumers": 2}}
    first = experiments.launch(experiments.create(definition, operator), operator).runs[0]
    topologies.update(ring, brokers=5, by=operator)
    topologies.update(ring, brokers=4, by=operator)
    second = experiments.launch(experiments.create(definition, operator), operator).runs[0]
    assert [run.configuration["topology"]["version"] for run in (first, second)] == [1, 3]
    assert first.configuration_hash == second.configuration_hash


def test_old_versions_are_thinned_but_those_that_runs_have(
    api: APIClient, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "MOST", 12)
    monkeypatch.setattr(versions, "SPARE", 4)
    monkeypatch.setattr(versions, "NEWEST", 3)
    ring = topologies.create(name="ring", kind="ring", brokers=4, owner=operator)
    topologies.update(ring, params={"delay_ms": 1.0}, by=operator)
    definition = {"name": "x", "topology": ring.pk, "workload": {"providers": 2, "consumers": 2}}
    experiments.launch(experiments.create(definition, operator), operator)
    for delay in range(2, 40):
        topologies.update(ring, params={"delay_ms": float(delay)}, by=operator)
    numbers = list(TopologyVersion.objects.order_by("number").values_list("number", flat=True))
    assert len(numbers) <= 12
    assert numbers[:2] == [1, 2]
    assert numbers[-3:] == [38, 39, 40]


def test_viewers_look_and_change_nothing(ring: dict, viewer: User) -> None:
    looker = APIClient()
    looker.force_authenticate(viewer)
    address = f"/api/topologies/{ring['id']}"
    for path in ("versions/", "versions/1/", "difference/", "advice/", "measures/", "export/?format=csv"):
        assert looker.get(f"{address}/{path}").status_code == 200, path
    assert looker.put(f"{address}/", {}, format="json").status_code == 403
    assert looker.post(f"{address}/clone/").status_code == 403
    assert looker.post(f"{address}/versions/1/restore/").status_code == 403
