"""The root of the API: it lists what there is, and each of its addresses answers."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from django.test import Client
from rest_framework.test import APIClient

pytestmark = pytest.mark.django_db


def test_the_root_lists_what_there_is_and_every_address_answers(api: APIClient) -> None:
    answer = api.get("/api/")
    assert answer.status_code == 200
    resources = answer.json()["resources"]
    assert [one["name"] for one in resources][:3] == ["topologies", "networks", "experiments"]
    for one in resources:
        assert one["sentence"].endswith("."), one
        assert api.get(urlsplit(one["url"]).path).status_code == 200, one
    for link in ("schema", "documentation"):
        assert Client().get(urlsplit(answer.json()[link]).path).status_code == 200


def test_the_root_needs_a_login_as_all_lists_do(db: None) -> None:
    refused = APIClient().get("/api/")
    assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")
