"""Sparse fields of all lists that grow, the OpenAPI document in both formats, and URLs without their last slash."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.api.schema_view import document

pytestmark = pytest.mark.django_db


def test_every_list_that_has_cursors_has_sparse_fields() -> None:
    found = {}
    for path, methods in json.loads(document("json"))["paths"].items():
        names = {one["name"] for one in methods.get("get", {}).get("parameters", ())}
        if "cursor" in names and "/context/" not in path:
            found[path] = "fields" in names
    assert len(found) > 10
    assert [path for path, is_sparse in found.items() if not is_sparse] == []


def test_operations_are_described_by_what_they_do_not_by_the_class_they_share() -> None:
    operations = [one for methods in json.loads(document("json"))["paths"].values() for one in methods.values()]
    described = [one["operationId"] for one in operations if one.get("description")]
    assert {"tokens_create", "studies_list", "systems_retrieve", "views_destroy"} <= set(described)
    assert [one["operationId"] for one in operations if "view set" in one.get("description", "").lower()] == []


def test_lists_below_an_object_answer_the_fields_that_are_asked_for(api: APIClient, ring: dict[str, Any]) -> None:
    path = f"/api/topologies/{ring['id']}/versions/"
    complete = api.get(path).json()
    thin = api.get(path, {"fields": "number"}).json()
    assert thin == {**complete, "results": [{"number": row["number"]} for row in complete["results"]]}
    assert len(thin["results"]) == 1
    refused = api.get(path, {"fields": "number,bogus"})
    assert (refused.status_code, refused.json()["field"]) == (400, "fields")


def test_the_document_is_yaml_or_json_as_it_is_asked_for(client: Client) -> None:
    as_yaml = client.get("/api/schema/")
    assert as_yaml["Content-Type"].startswith("application/vnd.oai.openapi")
    assert as_yaml.content.startswith(b"openapi: 3")
    by_format = client.get("/api/schema/", {"format": "json"})
    by_accept = client.get("/api/schema/", headers={"Accept": "application/json"})
    assert b"/api/runs/:" in as_yaml.content and "/api/runs/" in json.loads(by_format.content)["paths"]
    assert by_accept["Content-Type"] == "application/json"
    assert (by_accept.content, by_accept["Vary"].partition(",")[0]) == (by_format.content, "Accept")
    assert client.get("/api/schema/", {"format": "yaml"}).content == as_yaml.content
    for query, field in (({"format": "xml"}, "format"), ({"bogus": "1"}, "bogus")):
        refused = client.get("/api/schema/", query)
        assert (refused.status_code, refused.json()["field"]) == (400, field)


def test_a_url_without_its_last_slash_says_so(api: APIClient) -> None:
    for missing in (api.get("/api/runs"), api.post("/api/runs")):
        assert missing.status_code == 404
        assert missing.json()["sentence"] == "Unknown URL /api/runs. Add a slash: /api/runs/."
    assert api.get("/api/nowhere").json()["sentence"] == "Unknown URL /api/nowhere. See /api/docs/."


def test_problem_details_have_their_own_length(api: APIClient) -> None:
    """A length of the other form breaks the connection: servers send no more and no less than they announced."""
    for path, status in (("/api/runs/nope/", 404), ("/api/runs/?bogus=1", 400), ("/api/runs", 404)):
        refused = api.get(path, headers={"Accept": "application/problem+json"})
        assert (refused.status_code, refused["Content-Type"]) == (status, "application/problem+json")
        assert int(refused["Content-Length"]) == len(refused.content), path
        assert refused.json()["status"] == status


def test_a_change_under_a_condition_is_made_only_where_conditions_are_checked(
    api: APIClient, ring: dict[str, Any]
) -> None:
    path = f"/api/topologies/{ring['id']}/"
    for method, address in (("POST", f"{path}clone/"), ("POST", "/api/topologies/"), ("DELETE", path)):
        refused = api.generic(method, address, headers={"If-Match": '"99"'})
        assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed"), address
    assert api.get("/api/topologies/").json()["count"] == 1
    assert api.get(path, headers={"If-Match": '"99"'}).status_code == 200
    assert api.delete(path, headers={"If-Match": '"1"'}).status_code == 204


def test_every_fields_error_is_told_at_once(api: APIClient) -> None:
    body = {"name": "", "kind": 5, "bogus": 1, "seed": -1}
    told = {one["field"]: one["code"] for one in api.post("/api/topologies/", body, format="json").json()["errors"]}
    assert told == {"name": "blank", "kind": "invalid", "bogus": "unknown", "seed": "min_value"}
