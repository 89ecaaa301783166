"""NGSI-v2 through the web's own ASGI application, with a real broker behind it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from brokerweb.accounts.models import Scope
from brokerweb.accounts.services import make_token

pytestmark = pytest.mark.django_db(transaction=True)


def context(ngsi: httpx.AsyncClient, place: str) -> str:
    """The URL of a piece of context of the same network."""
    return f"{str(ngsi.base_url).removesuffix('ngsi/')}context/{place}/"


def refusal(answer: httpx.Response) -> tuple[int, str]:
    found = answer.json()
    assert found.keys() == {"error", "description"}
    return answer.status_code, found["error"]


async def test_an_entity_is_created_read_changed_and_read_as_context(ngsi: httpx.AsyncClient) -> None:
    body = {"id": "r1", "type": "Room", "temp": {"value": 21.5, "type": "Celsius", "metadata": {"acc": {"value": 0.1}}}}
    made = await ngsi.post("/v2/entities", json=body)
    assert (made.status_code, made.headers["location"]) == (201, f"{ngsi.base_url.path}v2/entities/r1?type=Room"), (
        made.text
    )
    assert refusal(await ngsi.post("/v2/entities", json=body)) == (422, "Unprocessable")

    found = (await ngsi.get("/v2/entities/r1")).json()
    assert found == {
        "id": "r1",
        "type": "Room",
        "temp": {"type": "Celsius", "value": 21.5, "metadata": {"acc": {"type": "Number", "value": 0.1}}},
    }
    assert (await ngsi.get("/v2/entities/r1/attrs/temp/value")).text == "21.5"
    put = await ngsi.put("/v2/entities/r1/attrs/temp/value", content="22", headers={"Content-Type": "text/plain"})
    assert put.status_code == 204
    added = await ngsi.post("/v2/entities/r1/attrs", json={"name": {"value": "blue; room"}})
    assert (added.status_code, added.content) == (204, b"")
    assert (await ngsi.get("/v2/entities/r1?options=keyValues&type=Room")).json() == {
        "id": "r1",
        "type": "Room",
        "temp": 22,
        "name": "blue; room",
    }
    assert (await ngsi.get("/v2/entities/r1?options=values&attrs=name,temp")).json() == ["blue; room", 22]
    assert refusal(await ngsi.post("/v2/entities/r1/attrs?options=append", json={"temp": {"value": 1}})) == (
        422,
        "Unprocessable",
    )
    assert refusal(await ngsi.patch("/v2/entities/r1/attrs", json={"no": {"value": 1}})) == (404, "NotFound")
    assert (await ngsi.delete("/v2/entities/r1/attrs/name")).status_code == 204

    held = (await ngsi.get(context(ngsi, "Room/r1/ngsi"))).json()
    assert held["payload"] == {"temp": "22", "temp@type": "Celsius", "temp@acc": "0.1"}


async def test_data_of_a_plain_client_is_an_entity_and_changed_in_its_scope(ngsi: httpx.AsyncClient) -> None:
    place = context(ngsi, "room/r2/temp")
    await ngsi.put(place, json={"provider": "sensor", "payload": {"degC": "21.5", "on": "true"}, "valid_ms": 600_000})
    path = {"Fiware-ServicePath": "/temp"}
    found = await ngsi.get("/v2/entities/r2?type=room&options=keyValues", headers=path)
    assert found.json() == {"id": "r2", "type": "room", "degC": 21.5, "on": True}
    changed = await ngsi.patch("/v2/entities/r2/attrs?type=room&options=keyValues", json={"degC": 22}, headers=path)
    assert changed.status_code == 204, changed.text
    held = (await ngsi.get(place)).json()
    assert (held["payload"], held["provider"]) == ({"degC": "22", "on": "true"}, "ngsi")


async def test_validity_is_date_expires_and_is_kept_by_changes(ngsi: httpx.AsyncClient) -> None:
    body: dict[str, Any] = {
        "id": "e1",
        "type": "T",
        "a": {"value": 1},
        "dateExpires": {"value": "2027-01-31T00:00:00Z"},
    }
    assert (await ngsi.post("/v2/entities", json=body)).status_code == 201
    await ngsi.patch("/v2/entities/e1/attrs?options=keyValues", json={"a": 2})
    shown = (await ngsi.get("/v2/entities/e1?attrs=dateExpires,a,dateModified&options=keyValues")).json()
    assert (shown["dateExpires"][:18], shown["a"]) == ("2027-01-31T00:00:0"[:18], 2)
    for wrong in ("2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "soon", 7):
        body.update(id="e2", dateExpires={"value": wrong})
        assert refusal(await ngsi.post("/v2/entities", json=body)) == (400, "BadRequest")
    assert refusal(await ngsi.get("/v2/entities/e2?type=T")) == (404, "NotFound")


REFUSED = [
    ("POST", "entities", b"{", (400, "ParseError")),
    ("POST", "entities", b"\xff", (400, "ParseError")),
    ("POST", "entities", b"[]", (400, "BadRequest")),
    ("POST", "entities", b"", (400, "BadRequest")),
    ("POST", "entities", b'{"type": "T"}', (400, "BadRequest")),
    ("POST", "entities", b'{"id": "a b"}', (400, "BadRequest")),
    ("POST", "entities", b'{"id": "a|b"}', (400, "BadRequest")),
    ("POST", "entities", b'{"id": "a", "x": 5}', (400, "BadRequest")),
    ("POST", "entities", b'{"id": "a", "x@y": {"value": 5}}', (400, "BadRequest")),
    ("POST", "entities", b'{"id": "a", "x": {"value": 5, "unit": 1}}', (400, "BadRequest")),
    ("POST", "entities?options=upserts", b'{"id": "a"}', (400, "BadRequest")),
    ("POST", "entities?option=upsert", b'{"id": "a"}', (400, "BadRequest")),
    ("GET", "entities/nowhere", b"", (404, "NotFound")),
    ("GET", "entities/nowhere/attrs/a?type=T", b"", (404, "NotFound")),
    ("GET", "entities/a%00b?type=T", b"", (404, "NotFound")),
    ("GET", "nothing", b"", (404, "NotFound")),
    ("GET", "entities/%ff", b"", (404, "NotFound")),
    ("PATCH", "entities", b"{}", (405, "MethodNotAllowed")),
    ("POST", "registrations", b"{}", (400, "BadRequest")),
    ("GET", "entities?georel=near", b"", (422, "NotSupportedQuery")),
    ("GET", "entities?mq=a.b==1", b"", (400, "BadRequest")),
    ("GET", "entities?q=a==", b"", (400, "BadRequest")),
    ("GET", "entities?limit=0", b"", (400, "BadRequest")),
    ("GET", "entities?idPattern=(", b"", (400, "BadRequest")),
    ("POST", "op/update", b'{"actionType": "drop", "entities": [{"id": "a"}]}', (400, "BadRequest")),
]


async def test_what_is_wrong_or_does_not_map_is_refused_as_the_standard_says(ngsi: httpx.AsyncClient) -> None:
    for method, path, sent, refused in REFUSED:
        headers = {"Content-Type": "application/json"} if method != "GET" else {}
        answer = await ngsi.request(method, f"/v2/{path}", content=sent, headers=headers)
        assert refusal(answer) == refused, (method, path, sent)


async def test_other_headers_are_refused_too(ngsi: httpx.AsyncClient, viewer: User, operator: User) -> None:
    body = {"id": "h", "type": "T"}
    assert refusal(await ngsi.post("/v2/entities", json=body, headers={"Fiware-Service": "smart"})) == (
        400,
        "BadRequest",
    )
    assert refusal(await ngsi.get("/v2/entities/h", headers={"Accept": "text/html"})) == (406, "NotAcceptable")
    typed = await ngsi.post("/v2/entities", content=b"x", headers={"Content-Type": "application/xml"})
    assert refusal(typed) == (415, "UnsupportedMediaType")
    assert refusal(await ngsi.get("/v2/entities/h", headers={"Authorization": "Bearer nonsense"})) == (
        401,
        "Unauthorized",
    )
    problem = await ngsi.get("/v2/entities/h?type=T", headers={"Accept": "application/problem+json, */*"})
    assert refusal(problem) == (404, "NotFound")
    read_only = (await sync_to_async(make_token)(operator, scope=Scope.READ))[1]
    for token in ((await sync_to_async(make_token)(viewer))[1], read_only):
        headers = {"Authorization": f"Bearer {token}"}
        assert refusal(await ngsi.post("/v2/entities", json=body, headers=headers)) == (403, "Forbidden")
        assert (await ngsi.post("/v2/op/query", json={}, headers=headers)).status_code != 403
    token = ngsi.headers.pop("Authorization").removeprefix("Bearer ")
    ngsi.headers["X-Auth-Token"] = token
    assert (await ngsi.post("/v2/entities", json=body)).status_code == 201
    assert (await ngsi.get("/v2/entities/h")).json() == body, "an entity without attributes"
    assert (await ngsi.get("/v2/")).json()["entities_url"].endswith("/ngsi/v2/entities")
