"""The OpenAPI document, walked: what holds for every operation of a kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return SchemaGenerator().get_schema(public=True)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and description of each."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def parameters(operation: dict[str, Any]) -> set[str]:
    return {one["name"] for one in operation.get("parameters", ())}


def test_every_operation_has_a_tag_that_is_described(document: dict[str, Any]) -> None:
    described = {tag["name"]: tag["description"] for tag in document["tags"]}
    assert {tag for _, _, operation in operations(document) for tag in operation["tags"]} == set(described)
    assert all(described.values())


def test_every_operation_that_creates_takes_a_key_but_those_of_tokens(document: dict[str, Any]) -> None:
    creating = {path for method, path, one in operations(document) if method == "post" and "201" in one["responses"]}
    taking = {path for _, path, one in operations(document) if "Idempotency-Key" in parameters(one)}
    assert len(creating) > 10
    network = "/api/networks/{id}"
    published = {f"{network}/publish/", f"{network}/pubsub/publish/", f"{network}/mobile/send/"}
    context = {f"{network}/context/batch/", f"{network}/context/{{type}}/{{entity}}/{{scope}}/"}
    assert taking - creating == {"/api/runs/bulk/", *published, *context}
    assert creating - taking == {"/api/tokens/"}


def test_everything_that_is_created_has_its_location(document: dict[str, Any]) -> None:
    created = [one["responses"]["201"] for _, _, one in operations(document) if "201" in one["responses"]]
    assert len(created) > 10
    assert all("Location" in answer["headers"] for answer in created)


def test_errors_are_typed_in_both_shapes(document: dict[str, Any]) -> None:
    for _, path, one in operations(document):
        content = one["responses"]["default"]["content"]
        shapes = {kind: shape["schema"].get("$ref", "").rpartition("/")[2] for kind, shape in content.items()}
        as_xml = {"application/xml": ""} if "/contextml/" in path else {}
        assert shapes == {"application/json": "Error", "application/problem+json": "Problem", **as_xml}, path
