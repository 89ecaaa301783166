"""Streams of changes, as server-sent events and through a websocket, with real sockets to the brokers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import DatabaseError

from brokerweb.accounts.models import Token
from brokerweb.front import listeners as module
from brokerweb.front import streams as rights
from tests.brokerweb.front_site import Site, network_site
from tests.waiting import BOUND_S

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def site(operator: User) -> AsyncIterator[Site]:
    async with network_site(operator) as made:
        made.front.streams.check_s = 0.02
        yield made


class Client:
    """What a client of the application gets. ``reads``: set while it takes what is sent."""

    def __init__(self, application: Any, site: Site, kind: str, headers: dict[str, str], parameters: Any) -> None:
        path = f"/{'api' if kind == 'http' else 'ws'}/networks/{site.network}/stream/"
        named = {"host": "localhost", **site.headers, **headers}
        scope = {
            "type": kind,
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": urlencode(parameters).encode(),
            "headers": [(name.lower().encode(), text.encode()) for name, text in named.items()],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
        }
        self.kind, self.status, self.close_code, self.raw = kind, 0, 0, ""
        self.reads, self.leaving = asyncio.Event(), asyncio.Event()
        self.reads.set()
        self._arrived: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._is_new = True
        self.task = asyncio.create_task(application(scope, self._receive, self._send))

    async def event(self, name: str) -> dict[str, Any]:
        """The next one, which has this name."""
        async with asyncio.timeout(BOUND_S):
            found = await self._arrived.get()
        assert found["event"] == name, found
        return found

    @property
    def has_events(self) -> bool:
        return not self._arrived.empty()

    async def leave(self) -> None:
        self.leaving.set()
        await self.ended()

    async def ended(self) -> None:
        async with asyncio.timeout(BOUND_S):
            await self.task

    async def _receive(self) -> dict[str, Any]:
        if self._is_new:
            self._is_new = False
            return {"type": "http.request"} if self.kind == "http" else {"type": "websocket.connect"}
        await self.leaving.wait()
        return {"type": "http.disconnect" if self.kind == "http" else "websocket.disconnect"}

    async def _send(self, message: Any) -> None:
        await self.reads.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self._sse(message["body"].decode())
        elif message["type"] == "websocket.send":
            for one in json.loads(message["text"])["events"]:
                self._arrived.put_nowait(one)
        elif message["type"] == "websocket.close":
            self.close_code = message["code"]

    def _sse(self, text: str) -> None:
        self.raw += text
        if self.status != 200:
            return
        for block in text.split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if "event" in fields:
                self._arrived.put_nowait({**fields, "data": json.loads(fields["data"])})


def sse(site: Site, headers: dict[str, str] | None = None, **parameters: str) -> Client:
    return Client(site.front, site, "http", headers or {}, parameters)


def socket(site: Site, headers: dict[str, str] | None = None, **parameters: str) -> Client:
    async def otherwise(*_: Any) -> None:
        raise AssertionError("another websocket")

    return Client(site.front.with_sockets(otherwise), site, "websocket", headers or {}, parameters)


@pytest.mark.parametrize("listen", [sse, socket])
async def test_what_changes_under_a_filter_arrives_and_a_listener_resumes(site: Site, listen: Any) -> None:
    client = listen(site, q="n > 1", snapshot="true")
    ready = await client.event("ready")
    assert ready["data"] == {"complete": True, "missing": []}
    await site.put("r1", {"n": "1"})
    await site.put("r2", {"n": "2"}, broker=1)
    stored = await client.event("stored")
    (row,) = (await site.list(id_pattern="r2"))["results"]
    assert {**stored["data"], "age_ms": 0} == {**row, "age_ms": 0}
    await site.put("r1", {"n": "5"})
    assert (await client.event("stored"))["data"]["entity"] == "r1"
    await client.leave()

    await site.put("r1", {"n": "0"})
    await site.delete("r2")
    await site.list()
    again = listen(site, {"Last-Event-ID": stored["id"]}, q="n > 1", snapshot="true")
    assert (await again.event("ready"))["id"] == stored["id"]
    assert [(await again.event(name))["data"]["entity"] for name in ("stored", "left", "withdrawn")] == [
        "r1",
        "r1",
        "r2",
    ]
    await again.leave()
    assert len(site.front.streams) == 0
    assert not site.front.streams._feeds


async def test_a_snapshot_comes_first_and_an_unknown_id_is_a_reset(site: Site) -> None:
    for number in range(3):
        await site.put(f"r{number}")
    client = sse(site, {"Last-Event-ID": "7-7"}, snapshot="true", id_pattern="r[01]")
    assert "no longer known" in (await client.event("reset"))["data"]["sentence"]
    assert [(await client.event("snapshot"))["data"]["entity"] for _ in range(2)] == ["r0", "r1"]
    listed = await site.list()
    assert (await client.event("ready"))["id"] == listed["last_event_id"]
    await client.leave()


async def test_an_entry_that_expires_is_reported(site: Site) -> None:
    client = sse(site)
    await client.event("ready")
    await site.put("r1", valid_ms=200)
    await client.event("stored")
    gone = (await client.event("expired"))["data"]
    assert {name: gone[name] for name in ("type", "entity", "scope", "provider")} == {
        "type": "room",
        "entity": "r1",
        "scope": "temp",
        "provider": "p",
    }
    await client.leave()


async def test_a_listener_that_reads_nothing_is_ended_and_loses_nothing(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SLOW_S", 0.1)
    slow, good = sse(site), sse(site)
    first = await slow.event("ready")
    await good.event("ready")
    slow.reads.clear()
    for number in range(3):
        await site.put(f"r{number}")
        await good.event("stored")
    await slow.ended()
    again = sse(site, {"Last-Event-ID": first["id"]})
    await again.event("ready")
    assert [(await again.event("stored"))["data"]["entity"] for _ in range(3)] == ["r0", "r1", "r2"]
    for one in (good, again):
        await one.leave()


async def test_there_is_a_sign_of_life_with_an_id(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEARTBEAT_S", 0.0)
    client, other = sse(site, type="none"), socket(site, type="none")
    await client.event("ready")
    await other.event("ready")
    await site.put("r1")
    last = (await site.list())["last_event_id"]
    async with asyncio.timeout(BOUND_S):
        while f": heartbeat\nid: {last}\n\n" not in client.raw:
            await other.event("heartbeat")
    for one in (client, other):
        await one.leave()


@pytest.mark.parametrize("listen", [sse, socket])
async def test_a_revoked_token_ends_its_stream(site: Site, listen: Any) -> None:
    client = listen(site)
    await client.event("ready")
    await sync_to_async(Token.objects.all().delete)()
    site.clock.now += 1
    if listen is sse:
        assert (await client.event("end"))["data"]["code"] == "permission_denied"
    await client.ended()
    assert client.close_code in (0, 4000)
    refused = listen(site)
    site.clock.now += 1
    await refused.ended()
    assert (refused.status, refused.close_code) in ((401, 0), (0, 4401))


async def test_signs_of_life_go_on_while_the_database_fails_until_rights_are_too_old(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEARTBEAT_S", 0.0)
    client, slow = sse(site, type="none"), sse(site, type="none")
    hanging, asked = asyncio.Event(), asyncio.Event()

    async def authorize(_: Any) -> Any:
        asked.set()
        await hanging.wait()
        raise DatabaseError("It does not answer.")

    for one in (client, slow):
        await one.event("ready")
    monkeypatch.setattr(site.front.streams, "_authorize", authorize)
    async with asyncio.timeout(BOUND_S):
        await asked.wait()
    for _ in range(2):  # while the database hangs, and while it fails
        beats = client.raw.count("heartbeat")
        async with asyncio.timeout(BOUND_S):
            while client.raw.count("heartbeat") < beats + 3:
                await asyncio.sleep(0)
        hanging.set()
    monkeypatch.setattr(module, "SLOW_S", 0.0)
    slow.reads.clear()
    await slow.ended()
    monkeypatch.setattr(module, "SLOW_S", 10.0)
    monkeypatch.setattr(rights, "UNCHECKED_S", 0.0)
    assert (await client.event("end"))["data"]["code"] == "not_checked"
    await client.ended()


async def test_a_stopped_network_ends_its_streams_and_brokers_that_come_are_followed(site: Site) -> None:
    await site.mark(1, state="down")
    client = sse(site)
    assert (await client.event("ready"))["data"]["complete"] is False
    await site.mark(1, state="up")
    await site.put("r1", broker=1)
    assert (await client.event("stored"))["data"]["entity"] == "r1"
    from brokerweb.networks.models import Network

    await Network.objects.filter(pk=site.network).aupdate(state="stopped")
    site.clock.now += 1
    assert (await client.event("end"))["data"]["code"] == "not_running"
    await client.ended()
    stopped = sse(site)
    await stopped.ended()
    assert (stopped.status, json.loads(stopped.raw)["code"]) == (409, "conflict")


async def test_limits_and_mistakes_are_told_before_anything_is_sent(site: Site, settings: Any) -> None:
    settings.STREAMS_OF_ONE_ACCOUNT = 1
    client = sse(site)
    await client.event("ready")
    for listen, parameters, status in [
        (sse, {}, 429),
        (sse, {"q": "n >"}, 400),
        (sse, {"snapshot": "maybe"}, 400),
        (sse, {"colour": "red"}, 400),
        (socket, {}, 429),
        (socket, {"q": "n >"}, 400),
        (socket, {"colour": "red"}, 400),
    ]:
        refused = listen(site, **parameters)
        await refused.ended()
        assert status in (refused.status, refused.close_code - 4000), parameters
    await client.leave()
    free = socket(site)
    await free.event("ready")
    await free.leave()


async def test_a_listener_is_told_to_begin_again_if_it_missed_too_much(site: Site) -> None:
    client = sse(site)
    await client.event("ready")
    (feed,) = site.front.streams._feeds.values()
    feed.following.view.log._most_items = 2  # type: ignore[attr-defined]
    client.reads.clear()
    for number in range(5):
        await site.put(f"r{number}")
    await site.list()
    client.reads.set()
    names = []
    while not names or names[-1] != "reset":
        async with asyncio.timeout(BOUND_S):
            names.append((await client._arrived.get())["event"])
    assert set(names) <= {"stored", "reset"}
    await client.event("ready")
    await client.leave()
