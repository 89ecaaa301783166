"""The data plane of a network under attack: what strangers and clients send to keep it from others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from brokerweb.front.application import SERVICE
from brokerweb.front.service import LARGEST_PUT
from tests.brokerweb.front_site import Site, network_site

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def site(operator: User) -> AsyncIterator[Site]:
    async with network_site(operator) as made:
        yield made


async def test_what_a_client_shows_is_kept_only_if_it_is_short(site: Site) -> None:
    async with httpx.AsyncClient(transport=site.client._transport) as stranger:
        for shown in ({"Authorization": f"Bearer {'a' * 1_000}"}, {"Cookie": f"sessionid={'a' * 1_000}"}):
            assert (await stranger.get(f"{site.url}room/a/temp/", headers=shown)).status_code == 401
    assert site.front.access._principals._known == {}


async def test_a_header_that_comes_twice_is_read_as_django_reads_it(site: Site) -> None:
    url, own = f"{site.url}room/a/temp/", site.client.headers["authorization"]
    tag = (await site.put("a")).headers["etag"]
    two = [("Authorization", "Bearer nonsense"), ("Authorization", own)]
    async with httpx.AsyncClient(transport=site.client._transport) as stranger:
        assert (await stranger.get(url, headers=two)).status_code == 401
    tags = [("If-None-Match", tag), ("If-None-Match", '"other"')]
    assert (await site.client.get(url, headers=tags)).status_code == 304


async def test_a_url_that_names_two_networks_names_none(site: Site) -> None:
    await site.put("a")
    path = f"/api/networks/{site.network}/context/other/context/room/a/temp/"
    answer = await site.client.get(f"http://localhost{path}")
    assert (answer.status_code, site.passed_on) == (404, [f"GET {path}"])


async def test_errors_are_problem_details_if_asked_and_each_answer_has_an_id(site: Site) -> None:
    told = await site.get("nowhere", Accept="application/problem+json", **{"X-Request-Id": "mine-1"})
    assert (told.status_code, told.headers["content-type"]) == (404, "application/problem+json")
    assert (told.json()["status"], told.json()["instance"]) == (404, httpx.URL(told.request.url).path)
    assert told.headers["x-request-id"] == "mine-1"
    first, second = [(await site.get("nowhere", **{"X-Request-Id": "a b"})).headers["x-request-id"] for _ in "ab"]
    assert first != second
    assert site.passed_on == []


async def test_a_request_whose_client_is_gone_does_not_wait_on(site: Site) -> None:
    path = f"{httpx.URL(site.url).path}room/later/temp/"
    gone, sent = asyncio.Event(), []

    async def receive() -> dict[str, str]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    shown = [(b"host", b"localhost"), (b"authorization", site.client.headers["authorization"].encode())]
    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b""}
    asked = {**scope, "headers": [*shown, (b"prefer", b"wait=60")]}
    waiting = asyncio.create_task(site.front(asked, receive, send))
    while not SERVICE.waiters._of:
        await site.get("other")
    gone.set()
    await waiting
    assert (SERVICE.waiters._of.total(), sent) == (0, [])


async def test_a_put_that_is_too_long_is_refused_before_it_is_read(site: Site, api: APIClient) -> None:
    sent = b'{"provider": "p", "payload": "' + b"x" * LARGEST_PUT + b'"}'
    url = f"{site.url}room/a/temp/"
    here = await site.client.put(url, content=sent, headers={"Content-Type": "application/json"})
    put = partial(api.put, url.removeprefix("http://localhost"), sent, content_type="application/json")
    there = await sync_to_async(put)()
    assert (here.status_code, here.json()) == (413, there.json())
    many = await site.client.put(url, json={"provider": "p", "payload": {str(n): "" for n in range(30_000)}})
    assert (many.status_code, many.json()["field"]) == (400, "payload")
    wrong = [{"op": "put", "type": "t", "entity": "e", "scope": "s", "payload": "x" * 100}] * 1_000
    told = (await site.client.post(f"{site.url}batch/", json={"operations": wrong})).json()["results"]
    assert [one["status"] for one in told] == [400] * 1_000
