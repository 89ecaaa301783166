"""What all answers of REST have in common: versions, problem details for those who ask, limits, addresses."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.accounts.services import make_token
from brokerweb.api import errors, run_views
from brokerweb.api.answers import VERSION
from brokerweb.body_limits import BodyLimit, Limits
from overlay.core.errors import InvalidSetting, InvalidSettings

pytestmark = pytest.mark.django_db

PROBLEM = {"Accept": "application/problem+json"}
MEMBERS = {"type", "title", "status", "detail", "instance", "errors"}


def test_who_accepts_problem_details_gets_them(api: APIClient) -> None:
    body = {"name": "n", "kind": "ring", "brokers": 0, "seed": "x", "surprise": 1}
    plain = api.post("/api/topologies/", body, format="json")
    refused = api.post("/api/topologies/", body, format="json", headers=PROBLEM)
    assert (refused.status_code, refused["Content-Type"]) == (400, "application/problem+json")
    assert "Accept" in refused["Vary"]
    told = refused.json()
    assert set(told) == MEMBERS
    assert (told["type"], told["title"], told["status"]) == ("urn:problem-type:waxwing:invalid", "Bad Request", 400)
    assert (told["detail"], told["instance"]) == (plain.json()["sentence"], "/api/topologies/")
    assert [one["field"] for one in told["errors"]] == [one["field"] for one in plain.json()["errors"]]
    assert {"seed", "surprise"} <= {one["field"] for one in told["errors"]}
    assert plain["Content-Type"] == "application/json"
    assert set(plain.json()) == {"field", "code", "sentence", "errors"}


@pytest.mark.parametrize(
    ("accept", "is_problem"),
    [
        ("application/json, application/problem+json", True),
        ("text/html, Application/Problem+JSON; q=0.5", True),
        ("application/problem+json;q=0, */*", False),
        ("*/*", False),
        ("application/json", False),
    ],
)
def test_only_who_names_them_gets_them(api: APIClient, accept: str, is_problem: bool) -> None:
    refused = api.get("/api/runs/nonsense/", headers={"Accept": accept})
    assert (refused["Content-Type"] == "application/problem+json") == is_problem


def test_every_part_that_refuses_speaks_both(api: APIClient, client: Client, settings: Any, monkeypatch: Any) -> None:
    refusals = [
        (api.get("/api/runs/?tpyo=1", headers=PROBLEM), 400, "unknown"),
        (api.get("/api/runs/", headers={**PROBLEM, "API-Version": "2020-01-01"}), 400, "unknown_version"),
        (client.get("/api/runs/", headers=PROBLEM), 401, "not_authenticated"),
        (api.get("/api/nowhere/", headers=PROBLEM), 404, "not_found"),
        (client.generic("PROPFIND", "/api/runs/", headers=PROBLEM), 405, "method_not_allowed"),
        (api.put("/api/runs/", headers=PROBLEM), 405, "method_not_allowed"),
        (api.post("/api/reports/", "a: 1", content_type="text/yaml", headers=PROBLEM), 415, "unsupported_media_type"),
    ]
    settings.REST_ADDRESS_RATE = 0.1
    api.get("/api/runs/")
    refusals.append((api.get("/api/runs/", headers=PROBLEM), 429, "throttled"))
    settings.REST_ADDRESS_RATE = 0

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(run_views.snapshots, "current", broken)
    monkeypatch.setattr(run_views.RunViewSet, "get_object", broken)
    api.raise_request_exception = False
    refusals.append((api.get("/api/runs/x/series/", headers=PROBLEM), 500, "error"))
    for answer, status, code in refusals:
        assert answer.status_code == status, answer.content
        assert answer["Content-Type"] == "application/problem+json"
        assert (answer.json()["status"], answer.json()["type"]) == (status, f"urn:problem-type:waxwing:{code}")
        assert b"secret" not in answer.content


def test_bodies_refused_before_django_reads_them_speak_both() -> None:
    sent: list[dict[str, Any]] = []

    async def story() -> None:
        limit = BodyLimit(None, Limits(size=1, seconds=1, at_once=1, of_one_address=1))  # type: ignore[arg-type]
        headers = [(b"content-length", b"2"), (b"accept", b"application/problem+json")]

        async def take(message: Any) -> None:
            sent.append(message)

        await limit({"path": "/api/runs/", "headers": headers}, None, take)  # type: ignore[arg-type]

    asyncio.run(story())
    assert dict(sent[0]["headers"])[b"content-type"] == b"application/problem+json"
    assert set(json.loads(sent[1]["body"])) == MEMBERS


def test_answers_name_the_version_and_unknown_ones_are_refused(api: APIClient, operator: User) -> None:
    for headers in ({}, {"API-Version": VERSION}):
        answer = api.get("/api/runs/", headers=headers)
        assert (answer.status_code, answer["API-Version"]) == (200, VERSION)
    refused = api.delete("/api/runs/x/", headers={"API-Version": "2031-01-01"})
    assert (refused.status_code, refused.json()["field"], refused["API-Version"]) == (400, "API-Version", VERSION)
    assert VERSION in refused.json()["sentence"]
    browser = Client()
    browser.force_login(operator)
    assert "API-Version" not in browser.get("/runs/", headers={"API-Version": "2031-01-01"})


def test_answers_tell_what_is_left_of_the_limit(operator: User, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brokerweb.middleware.time.time", lambda: 12_345.5)
    settings.REST_RATE, settings.REST_ADDRESS_RATE, settings.REST_WINDOW_S = 0.2, 0.3, 10
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(operator)[1]}")
    answers = [client.get("/api/tags/") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert {answer["RateLimit-Policy"] for answer in answers} == {'"token";q=2;w=10'}
    assert [answer["RateLimit"] for answer in answers] == ['"token";r=1;t=5', '"token";r=0;t=5', '"token";r=0;t=5']
    assert answers[2]["Retry-After"] == "5"
    assert APIClient().get("/api/tags/")["RateLimit"] == '"address";r=2;t=5'
    settings.REST_RATE = 0
    assert "RateLimit" not in client.get("/api/tags/")


def test_what_was_created_is_at_its_location(api: APIClient, ring: dict[str, Any]) -> None:
    def post(path: str, body: Any = None) -> Any:
        answer = api.post(path, body, format="json")
        assert answer.status_code == 201, answer.content
        assert answer["Location"].startswith("http://testserver/api/")
        return answer.json(), api.get(answer["Location"])

    body = {"name": "e", "topology": ring["id"], "workload": {"providers": 1, "consumers": 1}}
    experiment, there = post("/api/experiments/", body)
    assert there.json()["id"] == experiment["id"]
    launched, there = post(f"/api/experiments/{experiment['id']}/launch/")
    assert [run["id"] for run in there.json()["results"]] == launched["runs"]
    for path, sent in (
        (f"/api/runs/{launched['runs'][0]}/rerun/", None),
        (f"/api/topologies/{ring['id']}/clone/", None),
        ("/api/networks/", {"name": "campus", "topology": ring["id"]}),
        ("/api/reports/", {"experiments": [experiment["id"]]}),
        ("/api/views/", {"page": "runs", "name": "all", "query": ""}),
    ):
        made, there = post(path, sent)
        assert there.json()["id"] == made["id"]
    schedule, there = post(
        "/api/schedules/",
        {"name": "s", "kind": "launch", "crontab": "0 0 * * *", "experiments": [experiment["id"]]},
    )
    assert there.json()["id"] == schedule["id"]
    assert post(f"/api/schedules/{schedule['id']}/fire/")[1].json()["count"] == 1
    token = api.post("/api/tokens/", {"username": "olga", "password": "correct horse"}, format="json")
    assert api.delete(token["Location"]).status_code == 204


def test_fields_are_chosen_in_lists_and_single_objects(api: APIClient, ring: dict[str, Any]) -> None:
    listed = api.get("/api/topologies/?fields=name, id,").json()
    assert (listed["count"], listed["results"]) == (1, [{"id": ring["id"], "name": "ring"}])
    one = api.get(f"/api/topologies/{ring['id']}/?fields=links")
    assert (list(one.json()), one["ETag"]) == (["links"], '"1"')
    assert api.get(f"/api/topologies/{ring['id']}/?fields=").json() == ring
    refused = api.get("/api/topologies/?fields=links,id,nmae,kind").json()  # lists show no links
    assert [one["field"] for one in refused["errors"]] == ["fields", "fields"]
    assert [one["sentence"].partition(";")[0] for one in refused["errors"]] == [
        "unknown field 'links'",
        "unknown field 'nmae'",
    ]
    assert len(api.get("/api/topologies/", {"fields": ",".join(f"x{n}" for n in range(99))}).json()["errors"]) == 10


def test_every_list_and_object_has_fields_to_choose(api: APIClient) -> None:
    for path in ("runs", "systems", "presets", "studies", "tokens", "views", "hosts", "reports", "schedules"):
        refused = api.get(f"/api/{path}/?fields=nonsense")
        assert (refused.status_code, refused.json()["field"]) == (400, "fields"), path
    for path, name in (("systems", "name"), ("presets", "name"), ("studies", "id")):
        row = api.get(f"/api/{path}/?fields={name}&page_size=1").json()["results"][0]
        assert list(row) == [name]
        assert api.get(f"/api/{path}/{row[name]}/?fields={name}").json() == row


def test_a_refusal_says_what_to_send(api: APIClient, client: Client) -> None:
    refusals = [
        (client.get("/api/runs/"), "Send a token (Authorization: Bearer TOKEN), or log in."),
        (
            api.post("/api/reports/", "a: 1", content_type="text/yaml"),
            'Unsupported media type "text/yaml" in request. Send Content-Type: application/json.',
        ),
        (api.get("/api/networks/nonsense/"), "There is no such network, or you may not see it."),
        (
            api.get("/api/networks/nonsense/context/room/r1/temp/"),
            "There is no such network, or you may not see it.",
        ),
        (
            api.get("/api/networks/n/ngsi/entities"),
            "Unknown URL /api/networks/n/ngsi/entities. Paths of NGSI begin with ngsi/v2/ or ngsi/ngsi-ld/v1/.",
        ),
        (api.get("/api/nowhere"), "Unknown URL /api/nowhere. See /api/docs/."),
        (api.get("/api/nowhere/"), "Unknown URL /api/nowhere/. See /api/docs/."),
    ]
    assert [answer.json()["sentence"] for answer, _ in refusals] == [sentence for _, sentence in refusals]
    assert refusals[0][0]["WWW-Authenticate"]


def test_all_errors_of_one_field_are_told() -> None:
    wrong = [InvalidSetting("in", "is too long"), InvalidSetting("out", "is empty"), InvalidSetting("in", "is odd")]
    status, body = errors.answer(InvalidSettings(wrong))
    assert status == 400
    assert sorted((one["field"], one["sentence"]) for one in body["errors"]) == [
        ("in", "is odd"),
        ("in", "is too long"),
        ("out", "is empty"),
    ]
