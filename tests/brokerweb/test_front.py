"""The data plane of a network, through the web's own ASGI application, with a real broker behind it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.accounts.models import Scope, Token
from brokerweb.accounts.services import make_token
from brokerweb.asgi import http, limits
from brokerweb.body_limits import BodyLimit
from brokerweb.front.application import Front
from brokerweb.front.budgets import Budgets
from brokerweb.front.fresh import LASTS_S, Fresh
from brokerweb.kit.errors import NotAnswered
from brokerweb.networks.models import Network
from brokerweb.systems.context_broker.context.plane import PLANE
from brokerweb.topologies import services as topologies
from tests.runtime.daemons import Daemon

pytestmark = pytest.mark.django_db(transaction=True)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Site:
    """A network of one broker, seen through the front."""

    client: httpx.AsyncClient
    url: str
    network: str
    clock: Clock
    passed_on: list[str]
    """Requests that Django answered."""

    async def put(self, name: str, value: str = "1", **headers: str) -> httpx.Response:
        body = {"provider": "p", "payload": {"n": value}}
        return await self.client.put(f"{self.url}room/{name}/temp/", json=body, headers=headers)

    async def get(self, name: str, **headers: str) -> httpx.Response:
        return await self.client.get(f"{self.url}room/{name}/temp/", headers=headers)

    async def batch(self, **body: Any) -> httpx.Response:
        return await self.client.post(f"{self.url}batch/", json=body)


@pytest.fixture(scope="module")
def broker() -> Iterator[Daemon]:
    daemon = Daemon()
    yield daemon
    daemon.end()


def deployed(address: str, **fields: Any) -> Network:
    one = topologies.create(name="one", kind="central", brokers=1)
    brokers = [{"index": 0, "address": address, "state": "up", "reason": "", "pid": 1}]
    return Network.objects.create(
        name="one", topology=one, deployed=topologies.document(one), state="running", brokers=brokers, **fields
    )


@pytest.fixture
async def site(broker: Daemon, operator: User) -> AsyncIterator[Site]:
    network = await sync_to_async(deployed)(broker.text)
    token = (await sync_to_async(make_token)(operator))[1]
    clock, passed_on = Clock(), []

    async def django(scope: Any, receive: Any, send: Any) -> None:
        passed_on.append(f"{scope['method']} {scope['path']}")
        await http(scope, receive, send)

    front = Front(django, partial(BodyLimit, limits=limits), clock)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(front), headers=headers) as client:
        url = f"http://localhost/api/networks/{network.pk}/context/"
        yield Site(client, url, str(network.pk), clock, passed_on)


async def test_what_is_put_is_found_with_its_tag_its_way_and_without_django(site: Site) -> None:
    put = await site.put("a")
    found = await site.get("a")
    assert (put.status_code, found.status_code) == (200, 200), put.text
    told = found.json()
    assert (told["payload"], told["hops"], told["strategy"], told["broker_index"]) == ({"n": "1"}, 0, "holder", 0)
    assert put.headers["etag"] == found.headers["etag"]
    assert found.headers["cache-control"] == "no-cache"
    assert (await site.client.get(f"{site.url}room/a/temp/?broker=0&format=json")).json()["strategy"] == "chosen"
    head = await site.client.head(f"{site.url}room/a/temp/")
    assert (head.status_code, head.headers["etag"]) == (200, found.headers["etag"])
    missing = await site.get("missing")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    assert site.passed_on == []


async def test_conditions_decide_what_is_sent_and_stored(site: Site) -> None:
    first = (await site.put("c", "1", **{"If-None-Match": "*"})).headers["etag"]
    unchanged = await site.get("c", **{"If-None-Match": f'"x", W/{first}'})
    assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", first)
    refused = await site.put("c", "2", **{"If-None-Match": "*"})
    assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed")
    second = (await site.put("c", "2", **{"If-Match": first})).headers["etag"]
    assert second != first
    assert (await site.put("c", "3", **{"If-Match": first})).status_code == 412
    assert (await site.put("c", "3", **{"If-Unmodified-Since": formatdate(0, usegmt=True)})).status_code == 412
    assert (await site.put("never", "3", **{"If-Match": "*"})).status_code == 412
    assert (await site.get("c")).json()["payload"] == {"n": "2"}
    races = await asyncio.gather(*(site.put("c", str(n), **{"If-Match": second}) for n in range(5)))
    assert sorted(one.status_code for one in races) == [200, 412, 412, 412, 412]
    assert site.passed_on == []


async def test_a_request_waits_until_there_is_data_or_its_time_is_over(site: Site) -> None:
    waiting = asyncio.create_task(site.get("later", Prefer="respond-async, wait=60"))
    while not waiting.done() and (await site.get("other")).status_code == 404:
        await site.put("other")
    await site.put("later", "5")
    found = await waiting
    assert (found.json()["payload"], found.headers["preference-applied"]) == ({"n": "5"}, "wait=60")
    assert (await site.get("never", Prefer="wait=1")).status_code == 404


async def test_a_request_that_is_sent_again_gets_the_answer_that_it_got(site: Site) -> None:
    first = await site.put("i", "1", **{"Idempotency-Key": "k1"})
    await site.put("i", "2")
    again = await site.put("i", "1", **{"Idempotency-Key": "k1"})
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
    assert (await site.get("i")).json()["payload"] == {"n": "2"}
    other = await site.put("i", "3", **{"Idempotency-Key": "k1"})
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")
    wrong = await site.put("i", "3", **{"Idempotency-Key": "k" * 256})
    assert (wrong.status_code, wrong.json()["field"]) == (400, "Idempotency-Key")


async def test_a_batch_answers_each_operation_and_an_atomic_one_sends_nothing_that_is_wrong(site: Site) -> None:
    def op(what: str, entity: str, **more: Any) -> dict[str, Any]:
        return {"op": what, "type": "room", "entity": entity, "scope": "temp", **more}

    good, bad = {"provider": "p", "payload": {"n": "1"}}, {"provider": "p", "payload": {}}
    reads, wrong = [op("get", "b1"), op("get", "nowhere")], [op("put", "b2", **bad), op("drop", "x")]
    operations = [op("put", "b1", **good), *reads, *wrong]
    results = (await site.batch(operations=operations)).json()["results"]
    assert [one["status"] for one in results] == [200, 200, 404, 400, 400]
    assert (results[1]["payload"], results[3]["field"], results[4]["field"]) == ({"n": "1"}, "payload", "op")

    refused = await site.batch(atomic=True, operations=[op("put", "b3", **good), *operations])
    assert refused.status_code == 400
    assert [one["field"] for one in refused.json()["errors"]] == ["operations.4.payload", "operations.5.op"]
    assert (await site.get("b3")).status_code == 404
    in_order = await site.batch(
        atomic=True,
        operations=[op("put", "b3", provider="p", payload={"n": str(n)}) for n in range(5)] + [op("get", "b3")],
    )
    assert in_order.json()["results"][-1]["payload"] == {"n": "4"}
    for body, field in [
        ({"operations": []}, "operations"),
        ({"operations": [op("get", "x")] * 1_001}, "operations"),
        ({"operations": [op("get", "x")], "atomic": 1}, "atomic"),
        ({"operation": []}, "operation"),
    ]:
        answer = await site.batch(**body)
        assert (answer.status_code, answer.json()["field"]) == (400, field)
    listed = await site.client.post(f"{site.url}batch/", json=[])
    assert (listed.status_code, site.passed_on) == (400, [])


async def test_an_atomic_batch_that_fails_in_the_middle_says_what_stays_stored(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_put = PLANE.put

    async def put(snapshot: Any, change: Any, how: Any) -> Any:
        if change.key[1] == "m2":
            raise NotAnswered("No answer.")
        return await really_put(snapshot, change, how)

    monkeypatch.setattr(PLANE, "put", put)
    names = {"op": "put", "type": "room", "scope": "temp", "provider": "p", "payload": "x"}
    operations = [{**names, "entity": name} for name in ("m1", "m2", "m3")]
    answer = await site.batch(atomic=True, operations=operations)
    told = answer.json()
    assert (answer.status_code, told["field"]) == (504, "operations.1")
    assert told["sentence"] == "No answer. Operations carried out before this one, which are not undone: 1."
    assert [one["status"] for one in told["results"]] == [200, 504, 424]
    assert [(await site.get(name)).status_code for name in ("m1", "m3")] == [200, 404]
    each = (await site.batch(operations=operations)).json()["results"]
    assert [one["status"] for one in each] == [200, 504, 200]
    once = {"Idempotency-Key": "k-5xx"}
    failed = await site.client.post(f"{site.url}batch/", json={"operations": operations}, headers=once)
    assert [one["status"] for one in failed.json()["results"]] == [200, 504, 200]
    monkeypatch.setattr(PLANE, "put", really_put)
    for is_replayed in (False, True):
        again = await site.client.post(f"{site.url}batch/", json={"operations": operations}, headers=once)
        assert [one["status"] for one in again.json()["results"]] == [200] * 3
        assert ("idempotent-replayed" in again.headers) == is_replayed


async def test_a_revoked_token_and_a_stopped_network_are_known_within_a_second_and_a_started_one_at_once(
    site: Site,
) -> None:
    await site.put("r")
    await sync_to_async(Network.objects.filter(pk=site.network).update)(state="stopped")
    assert (await site.get("r")).status_code == 200
    site.clock.now += LASTS_S
    stopped = await site.get("r")
    assert (stopped.status_code, stopped.json()["code"]) == (409, "conflict")
    await sync_to_async(Network.objects.filter(pk=site.network).update)(state="running")
    assert (await site.get("r")).status_code == 200, "at once, by Django"
    site.clock.now += LASTS_S
    assert (await site.get("r")).status_code == 200
    await sync_to_async(Token.objects.all().delete)()
    assert (await site.get("r")).status_code == 200
    site.clock.now += LASTS_S
    assert (await site.get("r")).status_code == 401
    assert len(site.passed_on) == 3


async def test_who_may_not_is_refused_by_django_in_its_words(
    site: Site, operator: User, viewer: User, broker: Daemon
) -> None:
    read_only = (await sync_to_async(partial(make_token, scope=Scope.READ))(operator))[1]
    viewers = (await sync_to_async(make_token)(viewer))[1]
    for token, status, code in [("nonsense", 401, "authentication_failed"), (read_only, 403, "permission_denied")]:
        answer = await site.put("w", Authorization=f"Bearer {token}")
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert (await site.put("w", Authorization=f"Bearer {viewers}")).status_code == 403
    await site.put("w")
    assert (await site.get("w", Authorization=f"Bearer {read_only}")).status_code == 200
    unknown = await site.client.get(f"{site.url}room/w/temp/?broke=1")
    assert (unknown.status_code, unknown.json()["code"]) == (400, "unknown")
    assert (await site.client.get(f"{site.url}room/w/temp/", headers={"Host": "evil.example"})).status_code == 400
    assert (await site.client.patch(f"{site.url}room/w/temp/")).status_code == 405
    typed = await site.client.put(f"{site.url}room/w/temp/", content=b"a=1", headers={"Content-Type": "text/plain"})
    assert typed.status_code == 415
    elsewhere = site.url.replace(site.network, "nowhere")
    assert (await site.client.get(f"{elsewhere}room/w/temp/")).status_code == 404
    asked = len(site.passed_on)

    browser = Client()
    await sync_to_async(browser.force_login)(operator)
    cookie = f"sessionid={browser.cookies['sessionid'].value}"
    async with httpx.AsyncClient(transport=site.client._transport) as page:
        seen = await page.get(f"{site.url}room/w/temp/", headers={"Cookie": cookie})
        assert (seen.status_code, len(site.passed_on)) == (200, asked)
        body = {"provider": "p", "payload": "x"}
        forged = await page.put(f"{site.url}room/w/temp/", json=body, headers={"Cookie": cookie})
        assert (forged.status_code, "CSRF" in forged.json()["sentence"]) == (403, True)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b'{"provider": NaN}',
        b'{"provider": "p"}',
        b'{"provider": 7, "payload": "x", "valid_ms": 0}',
        b'{"provider": "p", "payload": {"a": [1]}}',
        b'{"provider": "p|q", "payload": "x"}',
        b'{"provider": "", "payload": "x"}',
        b'{"provider": "p", "payload": "x", "more": 1}',
        b'{"provider": "\\ud800", "payload": "x"}',
        b'{"provider": "a\\u0000", "payload": "x"}',
        json.dumps({"provider": "p", "payload": "x" * 70_000}).encode(),
    ],
)
async def test_a_wrong_body_is_refused_alike_with_and_without_django(site: Site, api: APIClient, sent: bytes) -> None:
    url = f"{site.url}room/z/temp/"
    here = await site.client.put(url, content=sent, headers={"Content-Type": "application/json"})
    path = url.removeprefix("http://localhost")
    there = await sync_to_async(partial(api.put, path, sent, content_type="application/json"))()
    assert (here.status_code, here.json()) == (400, there.json())
    assert there.status_code == 400
    assert site.passed_on == []


async def test_a_network_of_a_system_without_context_says_so(site: Site) -> None:
    await sync_to_async(Network.objects.filter(pk=site.network).update)(system="radiator")
    site.clock.now += LASTS_S
    for answer in (await site.get("x"), await site.put("x"), await site.batch(operations=[{}])):
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
        assert "which has no context" in answer.json()["sentence"]


async def test_a_value_is_read_once_for_all_who_wait_and_again_after_a_second() -> None:
    clock, reads = Clock(), []
    fresh: Fresh[str, int] = Fresh(lambda key: reads.append(key) or len(reads), 2, clock)
    assert await asyncio.gather(*(fresh.get("a") for _ in range(5))) == [1] * 5
    clock.now += LASTS_S
    assert [await fresh.get(key) for key in "aabca"] == [2, 2, 3, 4, 5]


async def test_requests_are_counted_here_and_in_the_cache_that_django_counts_in(settings: Any) -> None:
    cache.clear()
    budgets, now = Budgets(), 1_000.0

    async def added() -> None:
        while budgets._adding:
            await asyncio.gather(*budgets._adding)

    rate, most = 1.0, settings.REST_WINDOW_S
    assert [budgets.count("token:a", rate, now).left for _ in range(most - 1)] == [*range(most - 1, 0, -1)]
    await added()
    assert cache.get(f"throttle:token:a:{int(now // most)}") == most - 1
    cache.incr(f"throttle:token:a:{int(now // most)}")  # one that Django answered
    budgets._counts["token:a"].known += 1
    exceeded = budgets.count("token:a", rate, now + 1)
    assert (exceeded.is_exceeded, exceeded.left, exceeded.reset_s) == (True, 0, most - 1 - now % most)
    assert budgets.count("token:b", rate, now, 7).left == most - 7
    assert not budgets.count("token:a", rate, now + most).is_exceeded
    assert budgets.count("token:a", 0, now) is None
    await added()
