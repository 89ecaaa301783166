"""A network of federated brokers, in use by applications while brokers and parts of the installation die.

Published by a client with datagrams and over REST; subscribed by a client, as server-sent events, and by a webhook. All
of it goes to all of them.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

import httpx

from overlay.core.addresses import parse_address
from overlay.core.errors import WaxwingError
from overlay.programs.federation.client import ConsumerClient, Content, ProviderClient, Wanted, by_service
from overlay.systems.federation.clients.events import Event, Notified
from tests.service.clients import PATIENCE_S
from tests.service.disturbances import Disturbances
from tests.service.ledger import Ledger
from tests.service.notified import DELIVER_S, SETTLE_S, Broken, Notices, Number, Published, Verdict
from tests.stack.house import House
from tests.test_rest_journey import Api
from tests.waiting import wait_for

SCOPE, TYPE = "count", "service"
EVERY_S = 0.25
"""Between two notifications of one publisher."""
WAYS = ("client", "stream", "webhook")
"""Of subscribing."""


@dataclass
class Outcome:
    took_s: float
    disturbances: list[str]
    verdicts: dict[str, Verdict]
    refused: dict[str, list[str]]

    @property
    def share(self) -> float:
        """Of all notifications due, how many came."""
        due = sum(one.due for one in self.verdicts.values())
        return sum(one.notified for one in self.verdicts.values()) / due if due else 0.0

    @property
    def is_whole(self) -> bool:
        """Every way was notified of something."""
        return all(one.due for one in self.verdicts.values())

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "share_notified": self.share}


class Service:
    """One network, with clients of all kinds until ``end``."""

    def __init__(self, api: Api, path: str, end: float) -> None:
        self._api, self._path, self._end = api, path, end
        self.notices = Notices()
        self._address = parse_address(api.get(path)["brokers"][-1]["address"])
        self._until = (datetime.now(UTC) + timedelta(hours=2)).isoformat()

    def run(self) -> list[threading.Thread]:
        """Returns its threads once all subscriptions are acknowledged."""
        is_subscribed = threading.Event()
        threads = [threading.Thread(target=lambda: asyncio.run(self._client(is_subscribed)))]
        threads[0].start()
        stream = self._subscribe({})["stream"].removeprefix("/api")
        self._api.post(f"{self._path}providers/", {"name": "rest-publisher", "scopes": [SCOPE]})
        threads += [
            threading.Thread(target=self._read_stream, args=(stream,)),
            threading.Thread(target=self._publish_over_rest),
        ]
        assert is_subscribed.wait(PATIENCE_S)
        for thread in threads[1:]:
            thread.start()
        return threads

    def subscribe_webhook(self, url: str) -> None:
        self._subscribe({"url": url})

    def _subscribe(self, more: dict[str, Any]) -> dict[str, Any]:
        body = {"scopes": [SCOPE], "expression": f"{SCOPE} > 0", "expires": self._until}
        return self._api.post(f"{self._path}subscriptions/", {**body, **more})

    # ---- a client with datagrams

    async def _client(self, is_subscribed: threading.Event) -> None:
        terms = by_service(self._address)
        expires = round(time.time() * 1_000) + 7_200_000
        async with AsyncExitStack() as stack:
            consumer = await stack.enter_async_context(ConsumerClient(terms, "client-consumer", self._notified))
            await consumer.subscribe([Wanted((SCOPE,), expires)])
            provider = await stack.enter_async_context(ProviderClient(terms, "client-publisher", [SCOPE]))
            is_subscribed.set()
            number = 0
            while time.monotonic() < self._end:
                number += 1
                content = Content(TYPE, "client", SCOPE, expires, {SCOPE: number})
                begun = time.monotonic()
                try:
                    await provider.publish(content, within_s=PATIENCE_S)
                except WaxwingError as error:
                    self.notices.refused["client"].append(repr(error))
                else:
                    self._published("client", number, begun)
                await asyncio.sleep(EVERY_S)
            await asyncio.sleep(DELIVER_S)

    def _notified(self, event: Event) -> None:
        if isinstance(event, Notified):
            self._heard("client", event.notification.entity_id, event.notification.data)

    # ---- over REST

    def _publish_over_rest(self) -> None:
        number = 0
        while time.monotonic() < self._end:
            number += 1
            body = {"provider": "rest-publisher", "entity_type": TYPE, "entity_id": "rest", "scope": SCOPE}
            begun = time.monotonic()
            try:
                answer = self._api.http.post(
                    f"{self._path}publish/", json={**body, "data": {SCOPE: number}, "valid_ms": 600_000}
                )
                answer.raise_for_status()
            except httpx.HTTPError as error:
                self.notices.refused["rest"].append(repr(error)[:200])
            else:
                self._published("rest", number, begun)
            time.sleep(EVERY_S)

    def _read_stream(self, address: str) -> None:
        """With ``Last-Event-ID`` after each end of the connection."""
        last = ""
        while time.monotonic() < self._end + DELIVER_S:
            headers = {"Last-Event-ID": last} if last else {}
            try:
                with self._api.http.stream("GET", address, headers=headers, timeout=1.0) as answer:
                    for line in answer.iter_lines():
                        name, _, value = line.partition(": ")
                        if name == "id":
                            last = value
                        elif name == "data":
                            self._heard_json("stream", json.loads(value))
            except httpx.HTTPError:
                time.sleep(0.1)

    def take_post(self, told: dict[str, Any]) -> None:
        """Of the webhook."""
        for one in told["notifications"]:
            self._heard_json("webhook", one)

    def _heard_json(self, way: str, told: dict[str, Any]) -> None:
        one = told.get("notification", told)
        if "data" in one:
            self._heard(way, one["entity_id"], one["data"])

    def _heard(self, way: str, publisher: str, data: Any) -> None:
        self.notices.heard[way][Number(publisher, data[SCOPE])] += 1

    def _published(self, way: str, number: int, begun: float) -> None:
        self.notices.published.append(Published(Number(way, number), begun, time.monotonic()))


@contextmanager
def webhook(take: Callable[[dict[str, Any]], None]) -> Iterator[str]:
    """A server that takes POSTs; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            take(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def network_of(api: Api, brokers: int) -> str:
    """A running network of so many brokers and a registration service; its path."""
    body = {
        "name": f"tree of {brokers}",
        "kind": "waxman",
        "brokers": brokers,
        "params": {"mean_degree": 3.0},
        "seed": 7,
    }
    topology = api.post("/topologies/", body)
    wanted = {"name": "federation", "topology": topology["id"], "system": "federation"}
    path = f"/networks/{api.post('/networks/', wanted)['id']}/"
    wait_for(lambda: api.get(path)["state"] == "running", "the network runs", every=0.5)
    return path


def drive(house: House, api: Api, path: str, seconds: float, seed: int = 1, *, calm: bool = False) -> Outcome:
    """Use the network of ``path`` for so long; ``calm``: without disturbances."""
    began = time.monotonic()
    service = Service(api, path, began + seconds)
    with webhook(service.take_post) as url:
        service.subscribe_webhook(url)
        threads = service.run()
        disturbances = Disturbances(house, api, path, Ledger(), Random(seed), has_changes=False)
        if not calm:
            disturbances.until(began + seconds - SETTLE_S - DELIVER_S)
        for thread in threads:
            thread.join()
    service.notices.broken = [Broken(one.begun, one.mended) for one in disturbances.done]
    done = [f"{one.mended - began:.1f} s: {one.name}" for one in disturbances.done]
    verdicts = {way: service.notices.verdict(way) for way in WAYS}
    return Outcome(time.monotonic() - began, done, verdicts, dict(service.notices.refused))
