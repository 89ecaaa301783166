"""A parameter that an address of REST does not have is refused; what it has is what its document says."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.systems.registry import webs

pytestmark = pytest.mark.django_db

EXAMPLES = {
    "index": "1",
    "number": "1",
    "trace": "0" * 16,
    "message": f"{'0' * 16}-1",
    "way": "s-c0-1",
    "node_message": "0" * 32,
    "publication": "publisher-0-1",
}
"""Of what stands in addresses and is no text."""


def test_a_misspelt_filter_is_refused_by_its_name_with_those_there_are(api: APIClient) -> None:
    refused = api.get("/api/tags/?tpyo=x&page=1&page_siz=3")
    assert refused.status_code == 400
    said = refused.json()
    assert (said["field"], said["code"]) == ("tpyo", "unknown")
    assert said["sentence"] == "Unknown parameter 'tpyo'; known parameters: cursor, page, page_size, fields."
    assert [one["field"] for one in said["errors"]] == ["tpyo", "page_siz"]
    assert api.get("/api/runs/?filter=x").json()["field"] == "filter"
    assert api.get("/api/queue/?filter=x").json()["sentence"].endswith("; it has no parameters.")


def test_every_operation_takes_what_the_document_says_and_nothing_else(api: APIClient, client: Client) -> None:
    paths = client.get("/api/schema/?format=json").json()["paths"]
    asked = 0
    for path, operations in paths.items():
        address = re.sub(r"{(\w+)}", lambda name: EXAMPLES.get(name[1], "1"), path)
        for method in operations.keys() & {"get", "post", "put", "patch", "delete"}:
            names = [one["name"] for one in operations[method].get("parameters", ()) if one["in"] == "query"]
            refused = getattr(api, method)(f"{address}?nonsense=1&{'=&'.join([*names, ''])}")
            assert refused.status_code == 400, (method, address)
            assert [one["field"] for one in refused.json()["errors"]] == ["nonsense"], (method, address)
            assert all(name in refused.json()["sentence"] for name in names), (method, address)
            asked += 1
    assert asked > 100


def test_traces_take_the_filters_of_every_system(api: APIClient) -> None:
    filters = {name for web in webs() for name in web.trace_filters}
    assert filters >= {"kind", "attribute", "direction"}, "of federated brokers, SilboPS and ContextNet"
    refused = api.get("/api/runs/1/traces/?nonsense=1&" + "=&".join([*filters, ""]))
    assert [one["field"] for one in refused.json()["errors"]] == ["nonsense"]


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/tags/?", 200),
        ("/api/tags/?format=json", 200),
        ("/api/tags/?format=csv", 400),
        ("/api/runs/?page=1&page_size=2&ordering=-created&state__in=done,failed", 200),
        ("/api/runs/export/?state=done&size=50&format=csv", 200),
        ("/api/compare/?q=&x=&chart=&page=1", 200),
        ("/api/networks/1/context/t/a/b/s/?broke=1", 400),  # a name with a slash in it
        ("/api/schema/?format=json", 200),
        ("/api/docs/?script=", 200),
        ("/api/nowhere/?x=1", 404),
        ("/runs/?filter=x", 200),
        ("/login/?x=1", 302),
    ],
)
def test_what_was_taken_goes_on_and_pages_take_anything(operator: User, address: str, status: int) -> None:
    browser = Client()
    browser.force_login(operator)
    assert browser.get(address).status_code == status
    assert browser.head(address).status_code == status


def test_hostile_names_are_refused_shortly(api: APIClient) -> None:
    query: dict[str, Any] = {f"{'x' * 5_000}{number}": "" for number in range(100)} | {"\0<script>": ""}
    refused = api.get("/api/runs/", query)
    assert refused.status_code == 400
    assert len(refused.json()["errors"]) == 10
    assert len(refused.content) < 10_000


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "yesterday"])
def test_a_time_that_databases_cannot_keep_is_refused(api: APIClient, moment: str) -> None:
    for name in ("at__gte", "at__lt"):
        answer = api.get("/api/changes/", {name: moment})
        assert (answer.status_code, answer.json()["field"]) == (400, name)


def test_every_list_refuses_an_order_that_it_does_not_have(api: APIClient, client: Client) -> None:
    paths = client.get("/api/schema/?format=json").json()["paths"]
    ordered = [
        path
        for path, operations in paths.items()
        if any(one["name"] == "ordering" for one in operations.get("get", {}).get("parameters", ()))
    ]
    assert len(ordered) > 5
    for path in ordered:
        refused = api.get(path, {"ordering": "foo"})
        assert (refused.status_code, refused.json()["field"]) == (400, "ordering"), path
        assert re.fullmatch(
            r"must be among [a-z0-9_., ]+, each optionally after a -, not 'foo'", refused.json()["sentence"]
        )
        assert api.get(path, {"ordering": ""}).status_code == 200
    known = api.get("/api/topologies/", {"ordering": "-brokers, name,"})
    assert known.status_code == 200
    assert api.get("/api/topologies/", {"ordering": "name,foo"}).status_code == 400


def test_what_has_the_wrong_type_is_shown_as_in_json(api: APIClient) -> None:
    refused = api.post("/api/tokens/", {"username": True, "password": [None], "scope": True}, format="json").json()
    said = {one["field"]: one["sentence"] for one in refused["errors"]}
    assert said["scope"] == said["username"] == "must be a string, not true"
    assert said["password"] == "must be a string, not [null]"
    refused = api.patch("/api/storage/", {"max_days": True}, format="json").json()
    assert refused["sentence"].endswith(", not true")
