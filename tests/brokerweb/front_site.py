"""A network of brokers in the event loop of a test, seen through the web's own ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from brokerweb.accounts.services import make_token
from brokerweb.asgi import http, limits
from brokerweb.body_limits import BodyLimit
from brokerweb.front.application import Front
from brokerweb.networks.models import Network
from brokerweb.systems.context_broker.context.plane import PLANE
from brokerweb.topologies import services as topologies
from overlay.core.addresses import format_address
from tests.clients.loop_broker import LoopBroker


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Site:
    """``url`` is that of the network's context."""

    client: httpx.AsyncClient
    front: Front
    url: str
    network: str
    clock: Clock
    brokers: Sequence[LoopBroker]
    passed_on: list[str]
    """Requests that Django answered."""
    headers: dict[str, str]

    async def put(self, name: str, payload: Any = "x", provider: str = "p", **more: Any) -> httpx.Response:
        """``broker``: the index of the one that gets it."""
        body = {"provider": provider, "payload": payload, "valid_ms": more.pop("valid_ms", 600_000)}
        answer = await self.client.put(f"{self.url}room/{name}/temp/", json=body, params=more)
        assert answer.status_code == 200, answer.text
        return answer

    async def get(self, name: str, **headers: str) -> httpx.Response:
        return await self.client.get(f"{self.url}room/{name}/temp/", headers=headers)

    async def list(self, **parameters: Any) -> Any:
        answer = await self.client.get(self.url, params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def delete(self, name: str, headers: Any = None, **parameters: Any) -> httpx.Response:
        return await self.client.delete(f"{self.url}room/{name}/temp/", params=parameters, headers=headers)

    async def mark(self, index: int, **fields: Any) -> None:
        """What is observed of a broker, known at once."""
        network = await Network.objects.aget(pk=self.network)
        network.brokers[index].update(fields)
        await network.asave()
        self.clock.now += 1.0


@asynccontextmanager
async def network_site(operator: User, brokers: int = 2) -> AsyncIterator[Site]:
    """Brokers that are no neighbours of each other."""
    made = [LoopBroker() for _ in range(brokers)]
    network = await sync_to_async(_deployed)([format_address(one.address) for one in made])
    headers = {"Authorization": f"Bearer {(await sync_to_async(make_token)(operator))[1]}"}
    clock, passed_on = Clock(), []

    async def django(scope: Any, receive: Any, send: Any) -> None:
        passed_on.append(f"{scope['method']} {scope['path']}")
        await http(scope, receive, send)

    front = Front(django, partial(BodyLimit, limits=limits), clock)
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(front), headers=headers) as client:
            url = f"http://localhost/api/networks/{network.pk}/context/"
            yield Site(client, front, url, str(network.pk), clock, made, passed_on, headers)
    finally:
        PLANE._close_all()
        for one in made:
            one.close()


def _deployed(addresses: Sequence[str]) -> Network:
    topology = topologies.create(name="them", kind="full-mesh", brokers=len(addresses))
    rows = [
        {"index": index, "address": address, "state": "up", "reason": "", "pid": 100 + index}
        for index, address in enumerate(addresses)
    ]
    return Network.objects.create(
        name="them", topology=topology, deployed=topologies.document(topology), state="running", brokers=rows
    )
