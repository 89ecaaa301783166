"""NGSI-LD through the web's own ASGI application, with a real broker behind it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db(transaction=True)

LD = {"Content-Type": "application/ld+json"}
CORE = "https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.8.jsonld"
ROOM = "urn:ngsi-ld:Room:1"


def context(ngsi: httpx.AsyncClient, place: str) -> str:
    """The URL of a piece of context of the same network."""
    return f"{str(ngsi.base_url).removesuffix('ngsi/')}context/{place}/"


def refusal(answer: httpx.Response) -> tuple[int, str]:
    found = answer.json()
    assert {"type", "title", "detail"} <= found.keys()
    return answer.status_code, found["type"].rpartition("/")[2]


async def test_an_entity_is_created_read_changed_and_deleted_by_parts(ngsi: httpx.AsyncClient) -> None:
    body: dict[str, Any] = {
        "id": ROOM,
        "type": "Room",
        "temp": {"type": "Property", "value": 21.5, "unitCode": "CEL"},
        "owner": {"type": "Relationship", "object": "urn:ngsi-ld:Person:1"},
        "@context": [CORE],
    }
    made = await ngsi.post("/ngsi-ld/v1/entities", json=body, headers=LD)
    assert (made.status_code, made.headers["location"]) == (201, f"{ngsi.base_url.path}ngsi-ld/v1/entities/{ROOM}"), (
        made.text
    )
    assert refusal(await ngsi.post("/ngsi-ld/v1/entities", json=body, headers=LD)) == (409, "AlreadyExists")

    url = f"/ngsi-ld/v1/entities/{ROOM}"
    found = await ngsi.get(url)
    assert found.json() == {name: value for name, value in body.items() if name != "@context"}
    assert CORE in found.headers["link"]
    as_ld = await ngsi.get(url, headers={"Accept": "application/ld+json"})
    assert (as_ld.headers["content-type"], as_ld.json()["@context"]) == ("application/ld+json", CORE)
    mine = '<https://example.org/c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"'
    assert "example.org/c.jsonld" in (await ngsi.get(url, headers={"Link": mine})).headers["link"]

    assert (await ngsi.patch(f"{url}/attrs/temp", json={"value": 22})).status_code == 204
    assert (await ngsi.post(f"{url}/attrs", json={"name": {"type": "Property", "value": "blue"}})).status_code == 204
    kept = await ngsi.post(f"{url}/attrs?options=noOverwrite", json={"name": "x", "new": 1})
    assert (kept.status_code, kept.json()["updated"], kept.json()["notUpdated"][0]["attributeName"]) == (
        207,
        ["new"],
        "name",
    )
    some = await ngsi.patch(f"{url}/attrs", json={"name": "green", "no": 1})
    assert (some.status_code, some.json()["updated"]) == (207, ["name"])
    assert (await ngsi.patch(url, json={"new": "urn:ngsi-ld:null", "temp": {"unitCode": "FAH"}})).status_code == 204
    simple = (await ngsi.get(f"{url}?options=keyValues")).json()
    assert simple == {"id": ROOM, "type": "Room", "temp": 22, "owner": "urn:ngsi-ld:Person:1", "name": "green"}
    assert (await ngsi.delete(f"{url}/attrs/owner")).status_code == 204
    assert refusal(await ngsi.delete(f"{url}/attrs/owner")) == (404, "ResourceNotFound")
    assert (await ngsi.put(url, json={"type": "Room", "a": 1})).status_code == 204
    assert (await ngsi.get(f"{url}?format=simplified")).json() == {"id": ROOM, "type": "Room", "a": 1}


async def test_data_of_a_plain_client_has_a_urn_and_is_read_and_changed_by_it(ngsi: httpx.AsyncClient) -> None:
    place = context(ngsi, "Room/r1/ngsi")
    await ngsi.put(place, json={"provider": "sensor", "payload": {"degC": "21.5"}, "valid_ms": 600_000})
    url = "/ngsi-ld/v1/entities/urn:ngsi-ld:Room:r1"
    assert (await ngsi.get(url)).json() == {
        "id": "urn:ngsi-ld:Room:r1",
        "type": "Room",
        "degC": {"type": "Property", "value": 21.5},
    }
    assert (await ngsi.patch(f"{url}/attrs", json={"degC": 22})).status_code == 204
    assert (await ngsi.get(place)).json()["payload"] == {"degC": "22"}
    assert (await ngsi.get("/v2/entities/r1?type=Room&options=keyValues")).json()["degC"] == 22


THING = {"id": "urn:a:b", "type": "T"}
REFUSED: list[tuple[str, str, Any, tuple[int, str]]] = [
    ("POST", "entities", b"{", (400, "InvalidRequest")),
    ("POST", "entities", b"", (400, "InvalidRequest")),
    ("POST", "entities", {"id": "r1", "type": "T"}, (400, "BadRequestData")),
    ("POST", "entities", {"id": "urn:a:b"}, (400, "BadRequestData")),
    ("POST", "entities", {"id": "urn:a:b", "type": ["A", "B"]}, (422, "OperationNotSupported")),
    ("POST", "entities", {**THING, "x": {"y": 1}}, (400, "BadRequestData")),
    ("POST", "entities", {**THING, "x": {"type": "Relationship", "object": 1}}, (400, "BadRequestData")),
    ("POST", "entities", {**THING, "x": {"value": 1, "datasetId": "urn:d:1"}}, (422, "OperationNotSupported")),
    ("POST", "entities", {**THING, "x": {"value": 1, "observedAt": "now"}}, (400, "BadRequestData")),
    ("POST", "entities", {**THING, "x@y": 1}, (400, "BadRequestData")),
    ("POST", "entities", {"id": "urn:a:b", "type": "T", "@context": CORE}, (400, "BadRequestData")),
    ("POST", "entities", {"id": "urn:a:b", "type": "T", "expiresAt": "2020-01-01T00:00:00Z"}, (400, "BadRequestData")),
    ("GET", "entities/urn:a:b", None, (404, "ResourceNotFound")),
    ("GET", "entities/urn:ngsi-ld:T:1?options=x", None, (400, "BadRequestData")),
    ("GET", "entities?georel=near", None, (422, "OperationNotSupported")),
    ("GET", "entities?typo=near", None, (400, "BadRequestData")),
    ("GET", "entities?q=((a", None, (400, "BadRequestData")),
    ("GET", "temporal/entities", None, (422, "OperationNotSupported")),
    ("GET", "nothing", None, (404, "ResourceNotFound")),
    ("DELETE", "entities/urn:a:b", None, (404, "ResourceNotFound")),
    ("PUT", "entities", {}, (405, "about:blank")),
]


async def test_what_is_wrong_or_does_not_map_is_refused_as_the_standard_says(
    ngsi: httpx.AsyncClient,
    viewer: User,
) -> None:
    for method, path, sent, refused in REFUSED:
        more = {"content": sent} if isinstance(sent, bytes) else {"json": sent} if sent is not None else {}
        headers = {"Content-Type": "application/json"} if isinstance(sent, bytes) else {}
        answer = await ngsi.request(method, f"/ngsi-ld/v1/{path}", headers=headers, **more)
        assert refusal(answer) == refused, (method, path, sent, answer.text)
    tenant = await ngsi.get("/ngsi-ld/v1/entities/urn:a:b", headers={"NGSILD-Tenant": "x"})
    assert refusal(tenant) == (404, "NonexistentTenant")
    without = await ngsi.post("/ngsi-ld/v1/entities", json={"id": "urn:a:b", "type": "T"}, headers=LD)
    assert refusal(without) == (400, "BadRequestData")
    assert refusal(await ngsi.get("/ngsi-ld/v1/types", headers={"Authorization": "Bearer x"}))[0] == 401


async def test_batches_answer_for_each_entity(ngsi: httpx.AsyncClient) -> None:
    operations = "/ngsi-ld/v1/entityOperations"
    some = [{"id": f"urn:b:{n}", "type": "T", "a": n} for n in range(3)]
    made = await ngsi.post(f"{operations}/create", json=some[:2])
    assert (made.status_code, made.json()) == (201, ["urn:b:0", "urn:b:1"])
    partly = await ngsi.post(f"{operations}/create", json=[*some[1:], {"id": "x"}])
    told = partly.json()
    assert (partly.status_code, told["success"]) == (207, ["urn:b:2"])
    assert [(one["entityId"], one["error"]["status"]) for one in told["errors"]] == [("urn:b:1", 409), ("x", 400)]
    more = [{"id": "urn:b:0", "type": "T", "b": 1}, {"id": "urn:b:9", "type": "T", "b": 1}]
    upserted = await ngsi.post(f"{operations}/upsert?options=update", json=more)
    assert (upserted.status_code, upserted.json()) == (201, ["urn:b:9"])
    assert (await ngsi.get("/ngsi-ld/v1/entities/urn:b:0?options=keyValues")).json()["a"] == 0
    assert (await ngsi.post(f"{operations}/upsert", json=more)).status_code == 204
    assert "a" not in (await ngsi.get("/ngsi-ld/v1/entities/urn:b:0")).json()
    assert (await ngsi.post(f"{operations}/update", json=[{"id": "urn:b:1", "a": 7}])).status_code == 204
    for wrong in ([], {}, [{"id": "urn:b:1"}] * 1_001):
        assert (await ngsi.post(f"{operations}/update", json=wrong)).status_code in (400, 413)


async def test_entities_are_listed_by_their_urns_and_deleted(ngsi: httpx.AsyncClient) -> None:
    body = {"provider": "sensor", "payload": {"degC": "20"}, "valid_ms": 600_000}
    await ngsi.put(context(ngsi, "Hall/h1/temp"), json=body)
    some = [{"id": f"urn:ngsi-ld:Hall:{n}", "type": "Hall", "degC": {"value": n, "unitCode": "CEL"}} for n in range(2)]
    await ngsi.post("/ngsi-ld/v1/entityOperations/create", json=some)

    async def ids(query: str) -> list[str]:
        answer = await ngsi.get(f"/ngsi-ld/v1/entities?type=Hall&{query}")
        assert answer.status_code == 200, answer.text
        return [one["id"].rpartition(":")[2] for one in answer.json()]

    assert await ids("") == ["h1", "0", "1"]
    assert await ids("id=urn:ngsi-ld:Hall:h1,urn:ngsi-ld:Hall:1") == ["h1", "1"]
    assert await ids("idPattern=Hall:h") == ["h1"]
    assert await ids("q=degC>0;degC<20") == ["1"]
    assert await ids("q=degC.unitCode") == ["0", "1"]
    assert await ids("attrs=nothing") == []
    counted = await ngsi.get("/ngsi-ld/v1/entities?type=Hall&count=true&limit=0")
    assert (counted.headers["ngsild-results-count"], counted.json()) == ("3", [])
    query = {"type": "Query", "entities": [{"type": "Hall"}], "q": "degC==20", "attrs": ["degC"]}
    found = await ngsi.post("/ngsi-ld/v1/entityOperations/query?options=keyValues", json=query)
    assert found.json() == [{"id": "urn:ngsi-ld:Hall:h1", "type": "Hall", "degC": 20}]
    assert "Hall" in (await ngsi.get("/ngsi-ld/v1/types")).json()["typeList"]
    assert (await ngsi.get("/ngsi-ld/v1/types/Hall")).json()["entityCount"] == 3
    assert "degC" in (await ngsi.get("/ngsi-ld/v1/attributes")).json()["attributeList"]
    gone = await ngsi.post("/ngsi-ld/v1/entityOperations/delete", json=["urn:ngsi-ld:Hall:h1", "urn:ngsi-ld:Hall:0"])
    assert (gone.status_code, await ids("")) == (204, ["1"])
    assert (await ngsi.delete("/ngsi-ld/v1/entities/urn:ngsi-ld:Hall:1")).status_code == 204
    assert await ids("") == []
