"""Applications in a network of SilboPS over HTTP: real brokers, a real web server, real receivers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

import pytest
from django.contrib.auth.models import User

from brokerweb.systems.silbops.doors.host import HOST
from overlay.systems.silbops.system import SYSTEM
from tests.brokerweb.hosted_site import Site, Stranger, hosted_site

pytestmark = pytest.mark.django_db(transaction=True)
NEAR = "this.x - 20 <= pub.x <= this.x + 20"
FIRE = {"where": [["kind", "=", "fire"]], "scope": NEAR}


@pytest.fixture
async def site(operator: User) -> AsyncIterator[Site]:
    async with hosted_site(operator, system=SYSTEM) as made:
        yield made


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    made = Stranger()
    yield made
    made.close()


async def fire(site: Site, x: float, **more: object) -> None:
    await site.json("pubsub/publish/", {"notification": {"kind": "fire", **more}, "context": {"x": x}}, 202)


async def put(site: Site, path: str, body: object) -> dict[str, object]:
    answer = await site.client.put(path, json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


async def test_a_context_changes_what_comes_without_another_subscription(site: Site, stranger: Stranger) -> None:
    await put(site, "pubsub/clients/publisher/", {"broker": 0})
    await put(site, "pubsub/clients/car/", {"broker": 2, "context": {"x": 0}})
    made = await site.json("pubsub/subscriptions/", {**FIRE, "client": "car", "url": stranger.url})
    assert (made["state"], made["scope"]) == ("active", NEAR)
    async with site.stream(made) as events:
        await fire(site, 90, at="far")
        await fire(site, 10, at="near")
        event = await anext(events)
        assert event["event"] == "notification"
        assert event["data"]["subscription"] == made["id"]
        assert event["data"]["notification"] == {"at": "near", "kind": "fire"}
        await put(site, "pubsub/clients/car/", {"context": {"x": 100}})
        await put(site, "pubsub/clients/car/", {"broker": 1})
        await fire(site, 90, at="moved")
        assert (await anext(events))["data"]["notification"]["at"] == "moved"
    sent = [json.loads((await stranger.next())[2]) for _ in range(2)]
    assert [one["notification"]["at"] for body in sent for one in body["notifications"]] == ["near", "moved"]
    shown = await site.until(lambda one: one["delivered"] == 2, f"pubsub/subscriptions/{made['id']}/")
    assert (shown["notified"], shown["given_up"]) == (2, 0)
    assert (await site.client.delete(f"pubsub/subscriptions/{made['id']}/")).status_code == 204
    assert (await site.client.delete("pubsub/clients/car/")).status_code == 204
    assert [one["name"] for one in (await site.client.get("pubsub/clients/")).json()["results"]] == ["publisher"]
    assert HOST._rows == {}


async def test_a_dry_publication_says_who_says_no_and_is_not_sent(site: Site) -> None:
    await put(site, "pubsub/clients/publisher/", {"broker": 0})
    await put(site, "pubsub/clients/car/", {"broker": 2, "context": {"x": 0}})
    made = await site.json("pubsub/subscriptions/", {**FIRE, "client": "car"})
    asked = {"notification": {"kind": "fire"}, "context": {"x": 90}, "subscription": made["id"]}
    found = await site.json("pubsub/why/", asked, 200)
    assert not found["delivered"]
    assert [one["broker"] for one in found["brokers"]] == ["b0", "b1", "b2"]
    assert [one["to"] for one in found["brokers"]] == [[], [], []]
    (row,) = found["brokers"][2]["rows"]
    assert (row["subscription"], row["link"]["client"]) == (made["id"], "car")
    assert "pub.x" in row["says_no"]
    assert (await site.client.get("pubsub/clients/publisher/")).json()["context"] is None, "nor was its context set"
    near = await site.json("pubsub/why/", {**asked, "context": {"x": 9}}, 200)
    assert near["delivered"]
    assert near["brokers"][2]["to"][0]["client"] == "car"
    other = await site.json("pubsub/why/", {**asked, "notification": {"kind": "water"}}, 200)
    assert other["brokers"][2]["rows"][0]["says_no"] == "kind is 'water', not = 'fire'"
    shown = (await site.client.get(f"pubsub/subscriptions/{made['id']}/")).json()
    assert shown["notified"] == 0, "nothing was sent"


WRONG = [
    ("subscriptions", {"where": [["kind", "~", "fire"]]}, "where"),
    ("subscriptions", {"where": "kind = fire"}, "where"),
    ("subscriptions", {"scope": "this.x <="}, "scope"),
    ("subscriptions", {"context": {"x": None}}, "context"),
    ("subscriptions", {"url": "ftp://x"}, "url"),
    ("publish", {"notification": {}}, "notification"),
    ("publish", {"notification": {"k": 1}, "context": {"@x": 1}}, "context"),
    ("publish", {"notification": {"k": 1}, "scope": "pub.x < 3"}, "scope"),
    ("why", {"notification": {"k": [1]}}, "notification"),
]


async def test_what_is_wrong_is_named_and_changes_nothing(site: Site) -> None:
    for path, body, field in WRONG:
        refused = await site.client.post(f"pubsub/{path}/", json=body)
        assert (refused.status_code, refused.json()["field"]) == (400, field), refused.text
    refused = await site.client.put("pubsub/clients/car/", json={"broker": 99})
    assert (refused.status_code, refused.json()["field"]) == (400, "broker")
    assert (await site.client.get("pubsub/clients/")).json()["count"] == 0
    missing = await site.client.post("pubsub/why/", json={"notification": {"k": 1}, "subscription": "none"})
    assert missing.status_code == 404
    assert (await site.client.get("subscriptions/")).status_code == 404, "those are of another system"
