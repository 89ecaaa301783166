"""Topologies through REST."""

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

pytestmark = pytest.mark.django_db


def post(api: APIClient, **body):
    return api.post("/api/topologies/", body, format="json")


def test_a_ring_is_made_with_its_links_and_measures(api: APIClient) -> None:
    made = post(api, name="ring of ten", kind="ring", brokers=10).json()
    assert len(made["links"]) == 10
    assert made["measures"]["mean_degree"] == 2
    assert made["measures"]["diameter"] == 5
    assert made["measures"]["connected"] is True
    again = api.get(f"/api/topologies/{made['id']}/").json()
    assert again["links"] == made["links"]


def test_the_same_seed_draws_the_same_waxman(api: APIClient) -> None:
    first = post(api, name="a", kind="waxman", brokers=20, seed=7).json()
    second = post(api, name="b", kind="waxman", brokers=20, seed=7).json()
    other = post(api, name="c", kind="waxman", brokers=20, seed=8).json()
    assert first["links"] == second["links"] != other["links"]
    assert first["measures"]["connected"] is True


def test_custom_links_are_kept_as_given(api: APIClient) -> None:
    made = post(api, name="line", kind="custom", brokers=3, links=[[0, 1], {"a": 1, "b": 2, "delay_ms": 4}]).json()
    assert [(one["a"], one["b"], one["delay_ms"]) for one in made["links"]] == [(0, 1, 0.0), (1, 2, 4.0)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "ring", "brokers": 10}, "name"),
        ({"name": "x", "kind": "moebius", "brokers": 10}, "kind"),
        ({"name": "x", "kind": "ring"}, "brokers"),
        ({"name": "x", "kind": "ring", "brokers": -1}, "brokers"),
        ({"name": "x", "kind": "ring", "brokers": 10**9}, "brokers"),
        ({"name": "x", "kind": "ring", "brokers": "many"}, "brokers"),
        ({"name": "x", "kind": "ring", "brokers": 5, "params": {"delay_ms": -1}}, "params.delay_ms"),
        ({"name": "x", "kind": "ring", "brokers": 5, "params": [1]}, "params"),
        ({"name": "x", "kind": "custom", "brokers": 3, "links": [[0, 9]]}, "links"),
        ({"name": "x", "kind": "ring", "brokers": 3, "seed": -1}, "seed"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_made(api: APIClient, body: dict, field: str) -> None:
    answer = post(api, **body)
    assert answer.status_code == 400
    error = answer.json()
    assert error["field"].startswith(field)
    assert error["code"]
    assert error["sentence"]
    assert error["errors"][0]["field"] == error["field"]
    assert api.get("/api/topologies/").json()["count"] == 0


def test_a_name_is_taken_once(api: APIClient, ring: dict) -> None:
    answer = post(api, name="ring", kind="ring", brokers=4)
    assert (answer.status_code, answer.json()["field"]) == (400, "name")


def test_graphml_is_imported(api: APIClient) -> None:
    text = (
        '<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>'
        '<edge source="a" target="b"/><edge source="b" target="c"/></graph></graphml>'
    )
    made = api.post("/api/topologies/import/", {"name": "m", "format": "graphml", "text": text}, format="json").json()
    assert (made["brokers"], made["kind"], len(made["links"])) == (3, "custom", 2)


def test_a_bomb_of_entities_is_refused(api: APIClient) -> None:
    text = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>'
    answer = api.post("/api/topologies/import/", {"name": "m", "format": "graphml", "text": text}, format="json")
    assert answer.status_code == 400


def test_lists_are_paged_filtered_and_ordered(api: APIClient) -> None:
    for brokers in (5, 3, 4):
        post(api, name=f"ring {brokers}", kind="ring", brokers=brokers)
    post(api, name="star", kind="star", brokers=9)
    page = api.get("/api/topologies/?kind=ring&ordering=-brokers&page_size=2").json()
    assert page["count"] == 3
    assert [one["brokers"] for one in page["results"]] == [5, 4]
    assert page["next"] and page["previous"] is None


def test_only_the_logged_in_read_and_only_operators_write(ring: dict, viewer: User) -> None:
    stranger, looker = APIClient(), APIClient()
    looker.force_authenticate(viewer)
    assert stranger.get("/api/topologies/").status_code == 401
    assert looker.get("/api/topologies/").status_code == 200
    assert post(looker, name="mine", kind="ring", brokers=3).status_code == 403


def test_an_unknown_address_answers_as_every_error_does(api: APIClient) -> None:
    answer = api.get("/api/nothing/here/")
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"
