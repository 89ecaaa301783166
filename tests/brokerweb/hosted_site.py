"""A network of brokers and a web server in the event loop of a test, and servers of other people."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any
from urllib.parse import urlencode

import httpx
import uvicorn
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from websockets.asyncio.client import connect

from brokerweb.accounts.services import make_token
from brokerweb.asgi import application
from brokerweb.networks import services
from brokerweb.networks.models import Network
from overlay.systems.contract import System
from overlay.systems.federation.system import SYSTEM as FEDERATION
from tests.federation.loop_network import LoopNetwork
from tests.waiting import BOUND_S

HOUR = {"valid_ms": 3_600_000}


@dataclass
class Site:
    """``client`` has the network's URL as its base, and the operator's token."""

    client: httpx.AsyncClient
    brokers: Any
    """The network: a ``LoopNetwork``, unless the system has another one."""
    network: str
    url: str

    async def json(self, path: str, body: Any, status: int = 201) -> Any:
        answer = await self.client.post(path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def xml(self, path: str, body: str, status: int = 202, **headers: str) -> str:
        told = {"Content-Type": "application/xml", **headers}
        answer = await self.client.post(f"contextml/{path}/", content=body, headers=told)
        assert answer.status_code == status, answer.text
        return answer.text

    async def subscribe(self, expression: Any = "true", **more: Any) -> Any:
        return await self.json("subscriptions/", {**subscription(), "expression": expression, **more})

    async def provider(self, name: str = "cxp-7", scope: str = "climate", **more: Any) -> Any:
        return await self.json("providers/", {"name": name, "scopes": [scope], **more})

    async def publish(self, entity: str, provider: str = "cxp-7", scope: str = "climate", **data: Any) -> Any:
        return await self.json("publish/", {**content(entity, scope, **data), "provider": provider}, 202)

    async def until(self, is_it: Callable[[Any], bool], path: str) -> Any:
        """The JSON at a path, once it is so."""
        async with asyncio.timeout(BOUND_S):
            while not is_it(found := (await self.client.get(path)).json()):
                await asyncio.sleep(0.01)
        return found

    @asynccontextmanager
    async def stream(self, made: Any) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """The events of the stream of a new subscription behind ``ready``."""
        async with self.client.stream("GET", f"{self.url}{made['stream']}", timeout=BOUND_S) as answer:
            assert answer.status_code == 200, await answer.aread()
            events = _events(answer)
            assert (await anext(events))["event"] == "ready"
            yield events

    async def refused_stream(self, **parameters: str) -> tuple[int, str]:
        """Status and sentence; a websocket says the same."""
        answer = await self.client.get("stream/", params=parameters)
        found = answer.status_code, answer.json()["sentence"]
        address = str(httpx.URL(self.url).copy_with(scheme="ws", path=f"/ws/networks/{self.network}/stream/"))
        told = {"Authorization": self.client.headers["Authorization"]}
        async with connect(f"{address}?{urlencode(parameters)}", additional_headers=told) as socket:
            await socket.wait_closed()
        assert socket.close_code == 4000 + found[0]
        assert found[1] in (socket.close_reason or "")
        return found


def subscription(**more: Any) -> dict[str, Any]:
    expires = datetime.now(UTC) + timedelta(hours=1)
    return {"scopes": ["climate"], "expires": expires.isoformat(), **more}


def content(entity: str, scope: str = "climate", **data: Any) -> dict[str, Any]:
    return {"entity_type": "room", "entity_id": entity, "scope": scope, "data": data, **HOUR}


async def _events(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    event: dict[str, Any] = {}
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if name in ("id", "event"):
            event[name] = value
        elif name == "data":
            event["data"] = json.loads(value)
        elif not line:
            if "data" in event:
                yield event
            event = {}


@asynccontextmanager
async def web_server() -> AsyncIterator[str]:
    """Its address."""
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning", lifespan="on"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0)
    yield f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    await task


@asynccontextmanager
async def hosted_site(
    operator: User, brokers: int = 3, system: System = FEDERATION, **settings: Any
) -> AsyncIterator[Site]:
    network = LoopNetwork(brokers, system, **settings)
    try:
        row = await sync_to_async(deployed)(network.system, network.settings)
        async with site_of(operator, row, network) as site:
            yield site
    finally:
        network.close()


@asynccontextmanager
async def site_of(operator: User, row: Network, network: Any) -> AsyncIterator[Site]:
    """``network``: with ``rows``, as a supervisor observes its servers."""
    await Network.objects.filter(pk=row.pk).aupdate(state="running", brokers=network.rows)
    headers = {"Authorization": f"Bearer {(await sync_to_async(make_token)(operator))[1]}"}
    async with web_server() as url:
        base = f"{url}/api/networks/{row.pk}/"
        async with httpx.AsyncClient(base_url=base, headers=headers, timeout=BOUND_S) as client:
            yield Site(client, network, str(row.pk), url)


def deployed(system: System, settings: Any) -> Network:
    return services.deploy(name="rooms", system=system.name, settings=settings)


class Stranger:
    """The HTTP server of an application. Answers with ``status`` and, to GET, ``answer``; keeps what it was sent."""

    def __init__(self) -> None:
        self.status, self.answer, self.kind = 200, "", "application/json"
        self.received: Queue[tuple[str, dict[str, str], str]] = Queue()
        stranger = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                stranger.received.put((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                data = stranger.answer.encode() if self.command == "GET" else b""
                self.send_response(stranger.status)
                self.send_header("Content-Type", stranger.kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/told"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    async def next(self) -> tuple[str, dict[str, str], str]:
        """Path, headers and body of the next request."""
        found: tuple[str, dict[str, str], str] = await asyncio.to_thread(self.received.get, True, BOUND_S)
        return found

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
