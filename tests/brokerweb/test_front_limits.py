"""Limits that hold whichever interface a request comes through, and what unknown tokens cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from functools import partial
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.cache import cache
from rest_framework.test import APIClient

from brokerweb import asgi
from brokerweb.accounts.services import make_token
from brokerweb.body_limits import BodyLimit
from brokerweb.front import waiting
from brokerweb.front.application import SERVICE
from brokerweb.front.known_keys import KnownKeys, key_in
from brokerweb.ngsi.application import NgsiApplication
from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import Entry
from tests.brokerweb.front_site import Site, network_site
from tests.brokerweb.test_front_streams import socket, sse
from tests.waiting import BOUND_S

pytestmark = pytest.mark.django_db(transaction=True)

FOREVER_S = 10**9
"""One window until the end of time."""


@pytest.fixture
async def site(operator: User) -> AsyncIterator[Site]:
    cache.clear()
    async with network_site(operator) as made:
        yield made


@pytest.fixture
async def ngsi(site: Site) -> AsyncIterator[httpx.AsyncClient]:
    """The same network, through NGSI."""
    application = NgsiApplication(site.front, partial(BodyLimit, limits=asgi.limits), site.front.access)
    base = f"http://localhost/api/networks/{site.network}/ngsi"
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(application), headers=site.headers, base_url=base
    ) as client:
        yield client


async def test_all_interfaces_follow_the_same_servers_and_count_in_one_budget(
    site: Site, ngsi: httpx.AsyncClient, settings: Any
) -> None:
    assert asgi.application.application_mapping["http"]._access is asgi.front.access
    settings.CONTEXT_RATE, settings.REST_WINDOW_S = 1, FOREVER_S
    await site.get("r1")
    await ngsi.get("/v2/entities/r1?type=Room")
    listener = socket(site)
    await listener.event("ready")
    left = (await ngsi.get("/v2/entities/r1?type=Room")).headers["ratelimit"]
    assert left.startswith(f'"context";r={FOREVER_S - 4};')
    await listener.leave()
    for row in (0, 1):
        await site.mark(row, state="down")
    assert (await ngsi.get("/v2/entities/r1?type=Room")).status_code == 409


@pytest.mark.parametrize("listen", [sse, socket])
async def test_a_stream_counts_as_one_operation(site: Site, settings: Any, listen: Any) -> None:
    settings.CONTEXT_RATE, settings.REST_WINDOW_S = 1e-9, FOREVER_S
    first, second = listen(site), listen(site)
    await first.event("ready")
    await second.ended()
    assert 429 in (second.status, second.close_code - 4000)
    await first.leave()


async def test_a_batch_that_django_passes_on_counts_each_operation(site: Site, api: APIClient, settings: Any) -> None:
    settings.CONTEXT_RATE, settings.REST_WINDOW_S = 4e-9, FOREVER_S
    one = {"op": "get", "type": "room", "entity": "r1", "scope": "temp"}
    path = f"{httpx.URL(site.url).path}batch/"
    post = sync_to_async(partial(api.post, path, {"operations": [one] * 3}, format="json"))
    assert (await post()).status_code == 200
    refused = await post()
    assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
    assert int(refused.headers["retry-after"]) > 0
    entities = [{"id": f"urn:x:{number}", "type": "Room"} for number in range(3)]
    base = f"/api/networks/{site.network}/ngsi/ngsi-ld/v1/entityOperations/upsert"
    refused = await sync_to_async(partial(api.post, base, entities, format="json"))()
    assert refused.status_code == 429


async def test_the_requests_of_an_account_that_wait_are_counted_together(
    site: Site, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "MOST_OF_ONE", 1)
    other = {"Authorization": f"Bearer {(await sync_to_async(make_token)(operator))[1]}"}
    first = asyncio.create_task(site.get("nowhere", Prefer="wait=60"))
    async with asyncio.timeout(BOUND_S):
        while not SERVICE.waiters._of:
            await site.get("other")
    refused = await site.get("nowhere", Prefer="wait=60", **other)
    assert (refused.status_code, refused.json()["code"]) == (503, "too_many")
    first.cancel()
    with suppress(asyncio.CancelledError):
        await first


async def test_unknown_tokens_are_looked_for_together() -> None:
    reads: list[Collection[str]] = []

    def read(keys: Collection[str]) -> Collection[str]:
        reads.append(set(keys))
        return {key for key in keys if key == "good"}

    keys = KnownKeys(read)
    wanted = [f"wrong{number}" for number in range(1_500)]
    found = await asyncio.gather(*map(keys.exists, [*wanted, "good"]))
    assert found == [False] * 1_500 + [True]
    assert len(reads) == 2
    assert await keys.exists("good")
    assert len(reads) == 2, "it is known"
    keys.forget("good")
    assert await keys.exists("good")
    assert len(reads) == 3


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("Bearer 0123456789abcdefgh", "0123456789abcde"),
        ("bearer  0123 ", "0123"),
        ("Bearer\t0123", "0123"),
        ("Bearer a b", None),
        ("Bearer", None),
        ("Basic abc", None),
        ("Bearer \u00e4", None),
        ("", None),
    ],
)
def test_the_key_of_a_token_is_read_as_it_is_authenticated(header: str, key: str | None) -> None:
    assert key_in(header) == key


async def test_an_unknown_token_is_refused_without_django_and_counts_for_its_address(
    site: Site, ngsi: httpx.AsyncClient, settings: Any
) -> None:
    settings.REST_ADDRESS_RATE, settings.REST_WINDOW_S = 3e-9, FOREVER_S
    wrong = {"Authorization": "Bearer nonsense"}
    refused = await site.get("r1", **wrong)
    assert (refused.status_code, refused.json()["code"]) == (401, "authentication_failed")
    assert refused.headers["www-authenticate"] == "Bearer"
    of_ngsi = await ngsi.get("/v2/entities/r1", headers=wrong)
    assert (of_ngsi.status_code, of_ngsi.headers["www-authenticate"]) == (401, "Bearer")
    listener = socket(site, wrong)
    await listener.ended()
    assert listener.close_code == 4401
    await site.get("r1", **wrong)
    refused = await site.get("r1", **wrong)
    assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
    assert "address" in refused.json()["sentence"]
    assert (await ngsi.get("/v2/entities/r1", headers=wrong)).status_code == 429
    assert site.passed_on == []
    assert (await site.get("r1")).status_code == 404, "others of this address go on"


async def test_no_network_is_looked_for_without_an_account(site: Site) -> None:
    async with httpx.AsyncClient(transport=site.client._transport, base_url="http://localhost") as stranger:
        for id in ("one", "two", site.network):
            assert (await stranger.get(f"/api/networks/{id}/context/room/r1/temp/")).status_code == 401
    assert not site.front.access._networks._known


async def test_an_unknown_session_is_refused_as_django_does(site: Site) -> None:
    async with httpx.AsyncClient(
        transport=site.client._transport, headers={"Cookie": "sessionid=nonsense"}
    ) as stranger:
        here = await stranger.get(f"{site.url}room/r1/temp/")
        assert site.passed_on == []
        there = await stranger.patch(f"{site.url}room/r1/temp/")
    assert (here.status_code, here.json()) == (there.status_code, there.json())
    assert (here.status_code, here.headers["www-authenticate"]) == (401, there.headers["www-authenticate"])


async def test_answers_of_ngsi_are_sent_as_all_others(site: Site, ngsi: httpx.AsyncClient) -> None:
    for number in range(30):
        await site.put(f"r{number}", {"note": "x" * 50})
    packed = await ngsi.get("/v2/entities?limit=100", headers={"Accept-Encoding": "gzip"})
    plain = await ngsi.get("/v2/entities?limit=100", headers={"Accept-Encoding": "identity"})
    assert (packed.headers["content-encoding"], packed.json()) == ("gzip", plain.json())
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
    assert packed.headers["vary"] == plain.headers["vary"]
    assert site.passed_on == []
    await ngsi.request("DELETE", "/v2/entities/r1", headers={"Transfer-Encoding": "chunked"}, content=b"")
    assert len(site.passed_on) == 1, "the limits of bodies are those of Django"


async def test_lists_and_streams_that_are_refused_are_in_the_operation_log(
    site: Site, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries: list[Entry] = []
    monkeypatch.setattr(recording, "record", entries.append)
    token, text = await sync_to_async(make_token)(viewer)
    token.networks = ["elsewhere"]
    await sync_to_async(token.save)()
    other = {"Authorization": f"Bearer {text}"}
    assert (await site.client.get(site.url, headers=other)).status_code == 403
    for listen in (sse, socket):
        await listen(site, other).ended()
        await listen(site, q="n >").ended()
    found = [(one.op, one.who, one.status) for one in entries]
    assert found[0] == ("list", f"token:{token.id}", 403)
    assert [(op, status) for op, _, status in found[1:]] == [("stream", 403), ("stream", 400)] * 2
