"""The examples of the OpenAPI document, sent: the answers are those that it shows."""

from __future__ import annotations

from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from brokerweb.api.examples import EXAMPLES, EXPERIMENT, REPORT, TOPOLOGY
from brokerweb.topologies.models import Topology

OWN = ("id", "created", "updated", "mark", "estimated_s", "token", "token_key", "expiry")
"""Fields with values of their own each time; ids of a story's things are put in the place of those shown."""


def as_told(value: Any, told: dict[str, str]) -> Any:
    """``value`` with the ids of this story."""
    if isinstance(value, dict):
        return {name: as_told(one, told) for name, one in value.items()}
    if isinstance(value, list):
        return [as_told(one, told) for one in value]
    return told.get(value, value) if isinstance(value, str) else value


def shape(value: Any) -> Any:
    """An answer without what is its own."""
    return {name: type(one) if name in OWN else one for name, one in value.items()}


@pytest.mark.django_db
def test_each_example_is_answered_as_shown(api: APIClient) -> None:
    told: dict[str, str] = {}
    for name, example in EXAMPLES.items():
        address = "/".join(as_told(example.path.split("/"), told))
        if example.wrong is not None:
            refused = api.post(address, as_told(example.wrong, told), format="json")
            assert refused.status_code == 400, name
            seen = [(one["field"], one["code"], one["sentence"]) for one in refused.json()["errors"]]
            assert seen == list(example.errors), name
        answer = api.post(address, as_told(example.request, told), format="json")
        assert answer.status_code == 201, (name, answer.content)
        made = answer.json()
        if example.answer is None:
            continue
        if (shown := example.answer.get("id")) in (TOPOLOGY, EXPERIMENT, REPORT):
            told[shown] = made["id"]
        if name == "experiments_launch_create":
            told |= dict(zip(example.answer["runs"], made["runs"], strict=True))
        assert shape(made) == shape(as_told(example.answer, told)), name
    assert Topology.objects.count() == 1


def test_the_document_shows_them_all() -> None:
    paths = SchemaGenerator().get_schema(public=True)["paths"]
    posts = {one["post"]["operationId"]: one["post"] for one in paths.values() if "post" in one}
    for name, example in EXAMPLES.items():
        sent = posts[name]["requestBody"]["content"]["application/json"]["examples"]
        assert [one["value"] for one in sent.values()] == [example.request]
        answers = posts[name]["responses"]
        if example.answer is not None:
            assert "examples" in answers["201"]["content"]["application/json"]
        if example.errors:
            for kind in ("application/json", "application/problem+json"):
                assert "examples" in answers["default"]["content"][kind], (name, kind)
