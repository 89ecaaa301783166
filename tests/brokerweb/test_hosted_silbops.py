"""Applications in a network of SilboPS over HTTP: real brokers, a real web server, real receivers."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.accounts.services import make_token
from brokerweb.networks.models import Network
from brokerweb.systems.silbops.doors.host import HOST
from overlay.programs.silbops.client import Client as Roamer
from overlay.systems.silbops.clients.terms import Site as At
from overlay.systems.silbops.system import SYSTEM
from tests.brokerweb.hosted_site import Site, Stranger, hosted_site
from tests.thorough import thoroughly
from waxwing import ApiError, AsyncClient, NotFound

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


async def test_a_publication_without_a_context_leaves_that_of_its_client(site: Site) -> None:
    await put(site, "pubsub/clients/van/", {"context": {"x": 5}})
    made = await site.json("pubsub/subscriptions/", {**FIRE, "client": "van"})
    async with site.stream(made) as events:
        await site.json("pubsub/publish/", {"notification": {"kind": "news"}, "client": "van"}, 202)
        assert (await site.client.get("pubsub/clients/van/")).json()["context"] == {"x": 5}
        await fire(site, 6, at="near")
        assert (await anext(events))["data"]["notification"]["at"] == "near"


async def test_a_stream_is_told_that_its_subscription_or_client_was_removed(site: Site) -> None:
    for path in ("pubsub/subscriptions/{id}/", "pubsub/clients/car/"):
        made = await site.json("pubsub/subscriptions/", {**FIRE, "client": "car"})
        async with site.stream(made) as events:
            assert (await site.client.delete(path.format(id=made["id"]))).status_code == 204
            event = await anext(events)
            assert (event["event"], event["data"]["subscription"]) == ("ended", made["id"])
            assert event["data"]["end"] == "removed"


async def test_a_stream_of_a_subscription_that_is_not_there_is_refused(site: Site, operator: User) -> None:
    made = await site.json("pubsub/subscriptions/", {**FIRE, "client": "car"})
    unknown = (404, "This account has no subscription 'nosuch' in this network.")
    assert await site.refused_stream(subscription="nosuch") == unknown
    assert await site.refused_stream(subscription=f"{made['id']},nosuch") == unknown
    other = await sync_to_async(User.objects.create_user)("oscar", is_staff=True)
    site.client.headers["Authorization"] = f"Bearer {(await sync_to_async(make_token)(other))[1]}"
    status, sentence = await site.refused_stream(subscription=made["id"])
    assert (status, made["id"] in sentence) == (404, True), "it is another account's"


async def test_a_wrong_parameter_of_a_stream_is_refused_with_the_names_of_this_stream(site: Site) -> None:
    made = await site.json("pubsub/subscriptions/", {**FIRE, "client": "car"})
    for wrong in ("subscriptoin", "type", "client"):
        refused = await site.refused_stream(subscription=made["id"], **{wrong: "x"})
        known = "subscription, last_event_id, snapshot"
        assert refused == (400, f"Unknown parameter '{wrong}'; known parameters: {known}.")


async def test_a_stream_that_resumes_is_told_of_what_was_removed_meanwhile(site: Site) -> None:
    made = await site.json("pubsub/subscriptions/", {**FIRE, "client": "car"})
    assert (await site.client.delete(f"pubsub/subscriptions/{made['id']}/")).status_code == 204
    async with site.stream(made) as events:
        event = await anext(events)
        assert (event["event"], event["data"]["end"]) == ("ended", "removed")
    assert (await site.refused_stream(subscription=made["id"], last_event_id=event["id"]))[0] == 404


async def test_a_dry_publication_changes_nothing(site: Site) -> None:
    asked = {"notification": {"kind": "fire"}, "context": {"x": 9}, "client": "camera"}
    refused = await site.client.post("pubsub/why/", json=asked)
    assert (refused.status_code, refused.json()["sentence"]) == (
        404,
        "This account has no client 'camera' in this network.",
    )
    assert (await site.client.get("pubsub/clients/")).json()["count"] == 0
    before = await put(site, "pubsub/clients/camera/", {})
    advice = "yet, and a dry publication advertises nothing. Publish it once first."
    refused = await site.client.post("pubsub/why/", json=asked)
    assert (refused.status_code, refused.json()["sentence"]) == (409, f"Client camera has published nothing {advice}")
    assert (await site.client.get("pubsub/clients/camera/")).json() == before, "it is still no publisher"
    await site.json("pubsub/publish/", asked, 202)
    await site.json("pubsub/why/", asked, 200)
    refused = await site.client.post("pubsub/why/", json={**asked, "context": {"x": 9, "y": 8}})
    assert (refused.status_code, refused.json()["sentence"]) == (409, f"Client camera advertises no y {advice}")
    assert (await site.client.get("pubsub/clients/camera/")).json()["variables"] == ["x"]


async def test_a_dry_publication_says_who_says_no_and_is_not_sent(site: Site) -> None:
    await put(site, "pubsub/clients/publisher/", {"broker": 0})
    await fire(site, 1_000)
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
    shown = (await site.client.get("pubsub/clients/publisher/")).json()
    assert shown["context"] == {"x": 1_000}, "nor was its context set"
    near = await site.json("pubsub/why/", {**asked, "context": {"x": 9}}, 200)
    assert near["delivered"]
    assert near["brokers"][2]["to"][0]["client"] == "car"
    assert near["brokers"][2]["to"][0]["away_s"] is None, "it is attached"
    async with Roamer(At("b1", site.brokers.addresses[1]), id=b"gone".ljust(16)) as gone:
        await gone.subscribe([["kind", "=", "water"]])
    water = await site.json("pubsub/why/", {"notification": {"kind": "water"}, "context": {}}, 200)
    (to,) = water["brokers"][1]["to"]
    assert (to["client"], to["away_s"] >= 0) == (None, True)
    other = await site.json("pubsub/why/", {**asked, "notification": {"kind": "water"}}, 200)
    assert other["brokers"][2]["rows"][0]["says_no"] == "kind is 'water', not = 'fire'"
    shown = (await site.client.get(f"pubsub/subscriptions/{made['id']}/")).json()
    assert shown["notified"] == 0, "nothing was sent"


async def test_operators_see_tables_queues_and_clients_of_each_broker(site: Site, operator: User) -> None:
    await put(site, "pubsub/clients/publisher/", {"broker": 0})
    await put(site, "pubsub/clients/car/", {"broker": 2, "context": {"x": 0}})
    await site.json("pubsub/subscriptions/", {**FIRE, "client": "car"})
    await fire(site, 10)
    own = (await site.client.get("brokers/0/")).json()["own"]
    assert (own["gauges"]["rows_subscriptions"], own["gauges"]["clients"], own["counters"]["in_publish"]) == (1, 1, 1)
    assert [(one["index"], one["state"]) for one in own["neighbours"]] == [(1, "joined")]
    browser = Client()
    await sync_to_async(browser.force_login)(operator)
    panel = await sync_to_async(browser.get)(f"/networks/{site.network}/brokers/2/")
    said = re.sub(r"<[^>]+>|\s+", " ", panel.content.decode())
    for words in (
        r"Subscriptions 1 told to neighbours: 1",
        r"Contexts 1 ",
        r"Neighbour Subscriptions told Queue b1 1 0",
    ):
        assert re.search(words.replace(" ", r"\s+"), said), words
    listed = (await site.client.get("clients/")).json()
    assert [(one["own"]["broker"], one["own"]["subscriptions"]) for one in listed["results"]] == [(0, 0), (2, 1)]
    assert (await site.client.get("clients/?reachable=false")).json()["count"] == 0
    assert (await site.client.get("pending/")).json()["results"] == []


async def test_the_python_client_in_the_arm_that_writes_contexts_into_subscriptions(operator: User) -> None:
    """What applications see is the same in both arms."""
    async with hosted_site(operator, brokers=2, system=SYSTEM, arm="siena") as site, library(site) as waxwing:
        roads = waxwing.pubsub(site.network)
        car = await roads.set_client("car", {"x": 0}, broker=1)
        assert (car.name, car.context, car.broker) == ("car", {"x": 0}, 1)
        made = await roads.subscribe([("kind", "=", "fire")], NEAR, client="car")
        assert (made.client, made.scope, made.state) == ("car", NEAR, "active")
        await roads.publish({"kind": "fire", "at": "far"}, {"x": 90})
        asked = await roads.why({"kind": "fire"}, {"x": 90}, subscription=made.id)
        assert not asked.delivered
        assert asked.says_no == ("@x is 90, not <= 20.0",)
        async with contextlib.aclosing(roads.watch(made)) as told:
            assert (await roads.publish({"kind": "fire", "at": "far"}, {"x": 90})).client == "publisher"
            await roads.publish({"kind": "fire", "at": "near"}, {"x": 9}, key="once")
            await roads.publish({"kind": "fire", "at": "near"}, {"x": 9}, key="once")
            first = await anext(told)
            assert (first.kind, first.subscription) == ("notification", made.id)
            assert first.notification == {"at": "near", "kind": "fire"}, "the application's, without the context"
            await roads.set_client("car", {"x": 100})
            await roads.publish({"kind": "fire", "at": "far"}, {"x": 90})
            second = await anext(told)
            assert second.notification["at"] == "far", "the repeated request published nothing"
            assert second.number > first.number
        assert [one.id for one in await roads.subscriptions()] == [made.id]
        await roads.unsubscribe(made.id)
        await roads.end_client("car")
        assert [one.name for one in await roads.clients()] == ["publisher"]
        with pytest.raises(NotFound):
            await roads.subscription(made.id)
        with pytest.raises(ApiError, match="publisher_scope"):
            await roads.publish({"kind": "fire"}, {"x": 9}, scope="this.x > 3")


async def test_a_publisher_says_whose_context_may_get_it(operator: User) -> None:
    async with hosted_site(operator, brokers=2, system=SYSTEM, publisher_scope=True) as site, library(site) as waxwing:
        roads = waxwing.pubsub(site.network)
        made = await roads.subscribe(client="old", context={"age": 40})
        young = await roads.subscribe(client="young", context={"age": 9})
        adults = "this.age > 17"
        await roads.publish({"film": "a"}, scope="this.age > 99")
        asked = await roads.why({"film": "a"}, scope=adults, subscription=young.id)
        assert (asked.delivered, asked.says_no) == (False, ("function of the publisher: this.age > 17 is false",))
        async with contextlib.aclosing(roads.watch([made, young])) as told:
            await roads.publish({"film": "a"}, scope=adults)
            await roads.publish({"film": "b"})
            got = [await anext(told) for _ in range(3)]
        assert sorted((one.notification["film"], one.subscription) for one in got) == sorted(
            [("a", made.id), ("b", made.id), ("b", young.id)]
        )


@thoroughly  # the new broker waits 5 s for the old one
async def test_a_client_whose_broker_dies_goes_on_at_another_one(site: Site) -> None:
    async with library(site) as waxwing:
        roads = waxwing.pubsub(site.network)
        await roads.set_client("publisher", broker=0)
        await roads.set_client("car", {"x": 0}, broker=2)
        made = await roads.subscribe([("kind", "=", "fire")], NEAR, client="car")
        async with contextlib.aclosing(roads.watch(made)) as told:
            await roads.publish({"kind": "fire", "at": "before"}, {"x": 9})
            assert (await anext(told)).notification["at"] == "before"
            await died(site, 2)
            await roads.set_client("car", {"x": 100})
            await roads.publish({"kind": "fire", "at": "near no more"}, {"x": 9})
            await roads.publish({"kind": "fire", "at": "after"}, {"x": 90})
            assert (await anext(told)).notification["at"] == "after"


async def died(site: Site, index: int) -> None:
    """As a supervisor observes it."""
    site.brokers.servers[index].close()
    brokers = [{**row, "state": "down"} if row["index"] == index else row for row in site.brokers.rows]
    await Network.objects.filter(pk=site.network).aupdate(brokers=brokers)


@asynccontextmanager
async def library(site: Site) -> AsyncIterator[AsyncClient]:
    """The client for Python, with the operator's token."""
    token = site.client.headers["Authorization"].partition(" ")[2]
    async with AsyncClient(site.url, token) as waxwing:
        yield waxwing


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
    for name in ("a/b", ".."):
        refused = await site.client.post("pubsub/publish/", json={"notification": {"k": 1}, "client": name})
        assert (refused.status_code, refused.json()["field"]) == (400, "client"), refused.text
    assert (await site.client.get("pubsub/clients/")).json()["count"] == 0
    missing = await site.client.post("pubsub/why/", json={"notification": {"k": 1}, "subscription": "none"})
    assert missing.status_code == 404
    assert (await site.client.get("subscriptions/")).status_code == 404, "those are of another system"
