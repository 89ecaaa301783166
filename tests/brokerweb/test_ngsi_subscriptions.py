"""Subscriptions of both standards, delivered to a real HTTP server."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from brokerweb.ngsi.ld.terms import link_to
from brokerweb.ngsi.models import Subscription
from brokerweb.ngsi.subscriptions.notifier import NOTIFIER
from tests.brokerweb.test_ngsi_v2 import context
from tests.waiting import BOUND_S

pytestmark = pytest.mark.django_db(transaction=True)


class Receiver:
    """Answers notifications with ``status`` and keeps them."""

    def __init__(self) -> None:
        self.status = 200
        self.received: Queue[tuple[dict[str, str], Any]] = Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.put(({k.lower(): v for k, v in self.headers.items()}, json.loads(body)))
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/told"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    async def next(self) -> tuple[dict[str, str], Any]:
        found: tuple[dict[str, str], Any] = await sync_to_async(self.received.get, thread_sensitive=False)(
            True, BOUND_S
        )
        return found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
async def notifier(ngsi: httpx.AsyncClient) -> AsyncIterator[None]:
    yield
    await NOTIFIER.stop()


def subscription(receiver: Receiver, **more: Any) -> dict[str, Any]:
    return {
        "subject": {"entities": [{"idPattern": "^s", "type": "Room"}], "condition": {"attrs": ["degC"]}},
        "notification": {"http": {"url": receiver.url}, "attrsFormat": "keyValues"},
        **more,
    }


async def store(ngsi: httpx.AsyncClient, value: str, entity: str = "s1") -> None:
    body = {"provider": "sensor", "payload": {"degC": value}, "valid_ms": 600_000}
    assert (await ngsi.put(context(ngsi, f"Room/{entity}/temp"), json=body)).status_code == 200


async def test_changes_are_notified_as_each_standard_says_and_counted(
    ngsi: httpx.AsyncClient, notifier: None, receiver: Receiver
) -> None:
    await store(ngsi, "1")
    made = await ngsi.post("/v2/subscriptions", json=subscription(receiver))
    assert made.status_code == 201, made.text
    id = made.headers["location"].rpartition("/")[2]
    body = {
        "type": "Subscription",
        "entities": [{"type": "Room"}],
        "q": "degC>5",
        "notification": {"endpoint": {"uri": receiver.url, "accept": "application/ld+json"}},
    }
    of_ld = (await ngsi.post("/ngsi-ld/v1/subscriptions", json=body)).headers["location"].partition("/ngsi/")[2]
    NOTIFIER.start()
    await NOTIFIER.load()
    await store(ngsi, "2")
    headers, told = await receiver.next()
    assert (headers["ngsiv2-attrsformat"], told) == (
        "keyValues",
        {"subscriptionId": id, "data": [{"id": "s1", "type": "Room", "degC": 2}]},
    )
    await ngsi.patch("/v2/entities/s1/attrs?options=keyValues", json={"degC": 7})
    both = sorted([await receiver.next(), await receiver.next()], key=lambda one: "data" in one[1] and "type" in one[1])
    assert both[0][1]["data"] == [{"id": "s1", "type": "Room", "degC": 7}]
    assert both[1][0]["content-type"] == "application/ld+json"
    assert both[1][1]["data"][0]["degC"] == {"type": "Property", "value": 7}
    shown = (await ngsi.get(f"/v2/subscriptions/{id}")).json()
    while shown["notification"].get("timesSent", 0) < 2:
        shown = (await ngsi.get(f"/v2/subscriptions/{id}")).json()
    assert (shown["status"], "lastSuccess" in shown["notification"]) == ("active", True)
    assert (await ngsi.get(f"/{of_ld}")).json()["status"] == "active"
    assert (await ngsi.delete(f"/{of_ld}")).status_code == 204


async def test_a_failed_delivery_is_tried_again_with_the_latest_state(
    ngsi: httpx.AsyncClient, notifier: None, receiver: Receiver
) -> None:
    receiver.status = 500
    id = (await ngsi.post("/v2/subscriptions", json=subscription(receiver))).headers["location"].rpartition("/")[2]
    NOTIFIER.start()
    await NOTIFIER.load()
    await store(ngsi, "1", "s2")
    assert (await receiver.next())[1]["data"][0]["degC"] == 1
    receiver.status = 200
    await store(ngsi, "2", "s2")
    assert (await receiver.next())[1]["data"][0]["degC"] == 2
    shown = (await ngsi.get(f"/v2/subscriptions/{id}")).json()
    while shown["status"] != "active" or "lastSuccess" not in shown["notification"]:
        shown = (await ngsi.get(f"/v2/subscriptions/{id}")).json()
    assert shown["notification"]["lastFailureReason"].startswith("Answered 500")


async def test_a_change_keeps_scopes_and_context_unless_it_names_others(
    ngsi: httpx.AsyncClient, notifier: None, receiver: Receiver
) -> None:
    body = {
        "type": "Subscription",
        "entities": [{"type": "Room"}],
        "notification": {"endpoint": {"uri": receiver.url}},
    }
    headers = {"Fiware-ServicePath": "/temp", "Link": link_to("https://example.org/one.jsonld")}
    made = await ngsi.post("/ngsi-ld/v1/subscriptions", json=body, headers=headers)
    path = made.headers["location"].partition("/ngsi/")[2]
    assert (await ngsi.patch(f"/{path}", json={"description": "of rooms"})).status_code == 204
    row = await Subscription.objects.aget()
    assert (row.scopes, row.context) == ("/temp", "https://example.org/one.jsonld")
    NOTIFIER.start()
    await NOTIFIER.load()
    other = {"Link": link_to("https://example.org/two.jsonld")}
    assert (await ngsi.patch(f"/{path}", json={}, headers=other)).status_code == 204
    row = await Subscription.objects.aget()
    assert (row.scopes, row.context) == ("/temp", "https://example.org/two.jsonld")
    await store(ngsi, "1", "s3")
    assert "two.jsonld" in (await receiver.next())[0]["link"]


async def test_subscriptions_are_listed_changed_and_bounded_and_end_with_the_right_to_read(
    ngsi: httpx.AsyncClient, receiver: Receiver, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = (await ngsi.post("/v2/subscriptions", json=subscription(receiver))).headers["location"].rpartition("/")[2]
    assert (
        await ngsi.patch(f"/v2/subscriptions/{id}", json={"status": "inactive", "throttling": 5})
    ).status_code == 204
    shown = (await ngsi.get(f"/v2/subscriptions/{id}")).json()
    assert (shown["status"], shown["throttling"], shown["subject"]) == (
        "inactive",
        5,
        subscription(receiver)["subject"],
    )
    assert (await ngsi.patch(f"/v2/subscriptions/{id}", json={"expires": "2020-01-01T00:00:00Z"})).status_code == 204
    listed = await ngsi.get("/v2/subscriptions?options=count")
    assert (listed.headers["fiware-total-count"], listed.json()[0]["status"]) == ("1", "expired")
    for path, wrong in [(f"/v2/subscriptions/{id}", {"status": "x"}), (f"/v2/subscriptions/{id}", {"throttling": -1})]:
        assert (await ngsi.patch(path, json=wrong)).status_code == 400
    assert (await ngsi.get("/v2/subscriptions/nowhere")).status_code == 404
    assert (await ngsi.get(f"/ngsi-ld/v1/subscriptions/urn:ngsi-ld:Subscription:{id}")).status_code == 404, "of v2"
    await ngsi.patch(f"/v2/subscriptions/{id}", json={"status": "active", "expires": ""})
    monkeypatch.setattr("brokerweb.ngsi.subscriptions.rows.MOST_OF_NETWORK", 1)
    assert (await ngsi.post("/v2/subscriptions", json=subscription(receiver))).status_code == 413

    await NOTIFIER.load()
    assert len(NOTIFIER._live) == 1
    await sync_to_async(User.objects.filter(pk=operator.pk).update)(is_active=False)
    await NOTIFIER.load()
    assert len(NOTIFIER._live) == len(NOTIFIER._watches) == 0
