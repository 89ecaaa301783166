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
    plain = await ngsi.get("/v2/entities/r1")
    assert (await ngsi.get("/v2/entities/r1?options=normalized")).json() == plain.json()
    assert refusal(await ngsi.post("/v2/entities/r1/attrs?options=append", json={"temp": {"value": 1}})) == (
        422,
        "Unprocessable",
    )
    assert refusal(await ngsi.patch("/v2/entities/r1/attrs", json={"no": {"value": 1}})) == (404, "NotFound")
    assert (await ngsi.delete("/v2/entities/r1/attrs/name")).status_code == 204

    held = (await ngsi.get(context(ngsi, "Room/r1/ngsi"))).json()
    assert held["payload"] == {"temp": "22", "temp@type": "Celsius", "temp@acc": "0.1"}
    overridden = await ngsi.put("/v2/entities/r1/attrs/temp?options=overrideMetadata", json={"value": 22})
    assert overridden.status_code == 204
    assert (await ngsi.get("/v2/entities/r1/attrs/temp")).json()["metadata"] == {}


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


async def stored(ngsi: httpx.AsyncClient, place: str, **pairs: str) -> None:
    body = {"provider": "sensor", "payload": pairs, "valid_ms": 600_000}
    assert (await ngsi.put(context(ngsi, place), json=body)).status_code == 200


async def test_entities_are_listed_selected_and_deleted_whoever_stored_them(ngsi: httpx.AsyncClient) -> None:
    await stored(ngsi, "Room/l1/temp", degC="20")
    await stored(ngsi, "Room/l1/air", co2="400")
    await stored(ngsi, "Car/l2/speed", kmh="50")
    update = {"actionType": "append", "entities": [{"id": f"l{n}", "type": "Room", "degC": n} for n in (3, 4)]}
    assert (await ngsi.post("/v2/op/update?options=keyValues", json=update)).status_code == 204

    async def ids(query: str) -> list[str]:
        answer = await ngsi.get(f"/v2/entities?idPattern=^l&{query}")
        assert answer.status_code == 200, answer.text
        return [one["id"] for one in answer.json()]

    assert await ids("") == ["l2", "l1", "l3", "l4"]
    assert await ids("type=Room&q=degC<=4") == ["l3", "l4"]
    assert await ids("typePattern=^Ro&orderBy=!degC") == ["l1", "l4", "l3"]
    assert await ids("q=co2") == ["l1"]
    paged = await ngsi.get("/v2/entities?type=Room&idPattern=^l&limit=1&offset=1&options=count,keyValues")
    assert (paged.headers["fiware-total-count"], paged.json()) == ("3", [{"id": "l3", "type": "Room", "degC": 3}])
    merged = (await ngsi.get("/v2/entities/l1?options=keyValues")).json()
    assert merged == {"id": "l1", "type": "Room", "degC": 20, "co2": 400}
    query = {"entities": [{"idPattern": "^l", "type": "Room"}], "expression": {"q": "degC>3"}, "attrs": ["degC"]}
    found = await ngsi.post("/v2/op/query?options=values", json=query)
    assert found.json() == [[20], [4]]
    types = {one["type"]: one["count"] for one in (await ngsi.get("/v2/types")).json()}
    assert (types["Room"] >= 3, types["Car"], (await ngsi.get("/v2/types/Car")).json()["attrs"]) == (
        True,
        1,
        {"kmh": {"types": ["Number"]}},
    )

    assert (await ngsi.put("/v2/entities/l1/attrs?options=keyValues", json={"new": 1})).status_code == 204
    assert (await ngsi.get("/v2/entities/l1?options=keyValues")).json() == {"id": "l1", "type": "Room", "new": 1}
    assert (await ngsi.get(context(ngsi, "Room/l1/temp"))).status_code == 404, "it is no longer in its own scope"
    assert (await ngsi.delete("/v2/entities/l1")).status_code == 204
    assert refusal(await ngsi.get("/v2/entities/l1")) == (404, "NotFound")
    assert await ids("type=Room") == ["l3", "l4"]
    await stored(ngsi, "Room/l2/temp", degC="1")
    assert refusal(await ngsi.delete("/v2/entities/l2")) == (409, "TooManyResults")
    drop = {"actionType": "delete", "entities": [{"id": "l2", "type": "Car"}, {"id": "l3", "type": "Room", "degC": 0}]}
    assert (await ngsi.post("/v2/op/update?options=keyValues", json=drop)).status_code == 204
    assert await ids("") == ["l2", "l3", "l4"]
    assert (await ngsi.get("/v2/entities/l3")).json() == {"id": "l3", "type": "Room"}
    failed = {"actionType": "update", "entities": [{"id": "l4", "type": "Room", "degC": 9}, {"id": "l9", "type": "X"}]}
    answer = await ngsi.post("/v2/op/update?options=keyValues", json=failed)
    assert refusal(answer) == (404, "NotFound")
    assert "1 of 2 entities were not changed. l9:" in answer.json()["description"]
    assert (await ngsi.get("/v2/entities/l4/attrs/degC/value")).text == "9"
