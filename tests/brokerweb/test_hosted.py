"""Applications in a network of federated brokers over HTTP: real brokers, a real web server, real receivers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from brokerweb.accounts.services import make_token
from brokerweb.hosting.models import HostLease
from brokerweb.systems.federation.doors.host import HOST
from brokerweb.systems.federation.models import HostedSubscription
from overlay.systems.federation.contextml.documents import read_document
from overlay.systems.federation.wire.messages import Code
from tests.brokerweb.hosted_site import Site, Stranger, content, hosted_site, subscription
from waxwing import AsyncClient, InvalidMessage, NotFound

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def site(operator: User) -> AsyncIterator[Site]:
    async with hosted_site(operator) as made:
        yield made


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    made = Stranger()
    yield made
    made.close()


async def test_a_notification_comes_by_stream_and_by_webhook_over_three_brokers(site: Site, stranger: Stranger) -> None:
    await site.provider(broker=0)
    made = await site.subscribe("temperature > 25", url=stranger.url)
    assert (made["state"], made["expression"]) == ("active", ["temperature", ">", 25])
    async with site.stream(made) as events:
        await site.publish("r16", temperature=20)
        told = await site.publish("r17", temperature=26.5)
        event = await anext(events)
    notification = {**told, "data": {"temperature": 26.5}}
    assert event["event"] == "notification"
    assert event["data"]["notification"] == notification
    path, headers, body = await stranger.next()
    assert (path, headers["content-type"]) == ("/told", "application/json")
    assert json.loads(body) == {"subscription": made["id"], "notifications": [notification]}
    found = await site.json("query/", {"scopes": ["climate"], "entity_id": "r17"}, 200)
    assert found["notifications"] == [notification], "its provider has no URL, but has published it"
    unknown = await site.client.post("query/", json={"scopes": ["climate"], "entity_id": "r18"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "no_provider")
    shown = await site.until(lambda one: one["delivered"] == 1, f"subscriptions/{made['id']}/")
    assert (shown["notified"], shown["given_up"], shown["state"]) == (1, 0, "active")
    tried = await site.json("subscription-dry-run/", {"expression": "temperature > 25"}, 200)
    (row,) = (one for one in tried["rows"] if one["holds"])
    assert row.items() >= notification.items(), "what brokers remember has the same form"
    assert (await site.client.delete(f"subscriptions/{made['id']}/")).status_code == 204
    assert (await site.client.get("subscriptions/")).json()["count"] == 0
    assert HOST._rows == {}


async def test_a_stream_has_all_since_its_subscription_was_made_though_rows_were_read_before_it(site: Site) -> None:
    begins = await HOST.position(site.network)
    await HOST.look()  # as every few seconds: it finds no subscription yet
    made = await site.subscribe()
    async with site.stream({"stream": f"{made['stream'].partition('&')[0]}&last_event_id={begins}"}) as events:
        await site.provider()
        await site.publish("r1", x=1)
        assert (await anext(events))["data"]["subscription"] == made["id"]


async def test_what_was_subscribed_and_registered_is_taken_up_again_by_the_next_web_process(
    site: Site, stranger: Stranger
) -> None:
    await site.provider(broker=2)
    made = await site.subscribe(url=stranger.url)
    async with site.stream(made) as events:
        await site.publish("r1", x=1)
        last = (await anext(events))["id"]
    await stranger.next()
    await HOST.stop()
    HOST.start()
    while made["id"] not in HOST._rows or len(HOST._hosted) < 2:
        await asyncio.sleep(0.01)
    # The notification of the new process has an id of another log, so the stream says that some may be missing.
    answer = site.client.stream("GET", "stream/", params={"subscription": made["id"]}, headers={"Last-Event-ID": last})
    async with answer as stream:
        assert "event: reset" in [line async for line in _head(stream)]
    # The broker's cache answers the new registration with what it had sent to the former one.
    assert json.loads((await stranger.next())[2])["notifications"][0]["data"] == {"x": 1}
    await site.publish("r1", x=2)
    assert json.loads((await stranger.next())[2])["notifications"][0]["data"] == {"x": 2}


async def _head(answer: httpx.Response) -> AsyncIterator[str]:
    async for line in answer.aiter_lines():
        yield line
        if line == "event: ready":
            return


async def test_only_the_holder_of_the_lease_hosts(site: Site) -> None:
    await HOST.stop()
    later = timezone.now() + timedelta(hours=1)
    await HostLease.objects.aupdate_or_create(pk="federation", defaults={"holder": "elsewhere|1|x", "expires": later})
    HOST.start()
    refused = await site.client.post("subscriptions/", json=subscription())
    assert (refused.status_code, refused.json()["code"]) == (503, "hosted_elsewhere")
    assert refused.headers["Retry-After"] == "5"
    assert (await site.client.get("stream/", params={"subscription": "abc"})).status_code == 503
    assert await HostedSubscription.objects.acount() == 0
    await HostLease.objects.filter(pk="federation").aupdate(expires=timezone.now())
    assert (await site.subscribe())["state"] == "active"


async def test_a_stream_begins_only_where_something_may_come(site: Site, stranger: Stranger) -> None:
    stranger.answer = json.dumps({"entity_type": "room", "data": {"temperature": 21}, "valid_ms": 60_000})
    await site.provider(url=stranger.url)
    once, warm = await site.subscribe("entity.id = r18", kind="once"), await site.subscribe()
    async with site.stream(once) as events:
        assert [(await anext(events))["event"] for _ in range(2)] == ["notification", "ended"]
    await site.until(lambda one: one["state"] == "satisfied", f"subscriptions/{once['id']}/")
    ended = f"Subscription {once['id']} has ended (satisfied)."
    assert await site.refused_stream(subscription=once["id"]) == (404, ended)
    both = {"stream": f"/api/networks/{site.network}/stream/?subscription={once['id']},{warm['id']}"}
    async with site.stream(both) as events:
        await site.publish("r1", x=1)
        assert (await anext(events))["data"]["subscription"] == warm["id"], "the other one goes on"
    unknown = "This account has no subscription 'nosuch' in this network."
    assert await site.refused_stream(subscription="nosuch") == (404, unknown)


async def test_a_provider_with_a_url_is_asked_by_get(site: Site, stranger: Stranger) -> None:
    stranger.answer = json.dumps({"entity_type": "room", "data": {"temperature": 21}, "valid_ms": 60_000})
    await site.provider(url=f"{stranger.url}?house=1")
    found = await site.json("query/", {"scopes": ["climate"], "entity_id": "r17"}, 200)
    (one,) = found["notifications"]
    assert (one["provider"], one["entity_id"], one["data"]) == ("cxp-7", "r17", {"temperature": 21})
    assert (await stranger.next())[0] == "/told?house=1&entity=r17&scope=climate"

    stranger.kind = "application/xml"
    stranger.answer = context("cxp-7", "r18", 22)
    asked = '<entity type="room" id="r18"/><scopes><scope>climate</scope></scopes>'
    answer = await site.xml("query", f'<contextML><ctxQuery id="7" ms="5000">{asked}</ctxQuery></contextML>', 200)
    (response,) = read_document(answer).responses
    assert (response.req, response.code, response.notifications[0].data) == (7, Code.GOOD, {"temperature": 22})

    made = await site.subscribe("entity.id = r18", kind="once")
    async with site.stream(made) as events:
        assert (await anext(events))["data"]["notification"]["data"] == {"temperature": 22}
        event = await anext(events)
        assert (event["event"], event["data"]["end"]) == ("ended", "satisfied")
    shown = await site.until(lambda one: one["state"] == "satisfied", f"subscriptions/{made['id']}/")
    assert shown["notified"] == 1

    stranger.status = 500
    refused = await site.client.post("query/", json={"scopes": ["climate"], "entity_id": "r19"})
    assert (refused.status_code, refused.json()["code"]) == (404, "no_provider")


async def test_a_failed_webhook_is_tried_again_and_private_addresses_are_refused(
    site: Site, stranger: Stranger, settings: Any
) -> None:
    stranger.status = 500
    await site.provider()
    made = await site.subscribe(url=stranger.url)
    await site.publish("r1", x=1)
    assert json.loads((await stranger.next())[2])["notifications"][0]["data"] == {"x": 1}
    stranger.status = 200
    await site.publish("r1", x=2)
    datas = [one["data"] for one in json.loads((await stranger.next())[2])["notifications"]]
    assert datas == [{"x": 1}, {"x": 2}]
    shown = await site.until(lambda one: one["delivered"] == 2, f"subscriptions/{made['id']}/")
    assert shown["failure"].startswith("Answered 500")

    settings.WEBHOOK_NETWORKS = []
    for url in (stranger.url, "http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/", "ftp://example.org/"):
        refused = await site.client.post("subscriptions/", json=subscription(url=url))
        assert (refused.status_code, refused.json()["field"]) == (400, "url"), url
        refused = await site.client.post("providers/", json={"name": "p", "scopes": ["x"], "url": url})
        assert (refused.status_code, refused.json()["field"]) == (400, "url"), url
    await site.publish("r1", x=3)  # an address that became private is not reached either
    shown = await site.until(lambda one: "private" in one["failure"], f"subscriptions/{made['id']}/")
    assert shown["delivered"] == 2


async def test_a_consumer_in_contextml_is_notified_in_contextml(site: Site, stranger: Stranger) -> None:
    await site.xml("advertise", advertisement("c3", "consumer", stranger.url))
    await site.xml("advertise", advertisement("cxp-7", "provider", "", "<scopes><scope>climate</scope></scopes>"))
    await site.xml("subscribe", subscriptions("c3-17", 25))
    await site.xml("publish", context("cxp-7", "r17", 24))
    await site.xml("publish", context("cxp-7", "r17", 26))
    _, headers, body = await stranger.next()
    assert headers["content-type"] == "application/xml"
    (one,) = read_document(body).notifications
    assert (one.id.provider, one.entity_id, one.data) == ("cxp-7", "r17", {"temperature": 26})

    found = read_document((await site.client.get("contextml/lookup", params={"scope": "climate"})).text)
    assert [one.advertisement.id for one in found.announcements] == ["cxp-7"]
    await site.xml("subscribe", subscriptions("c3-17", 25))  # renewed
    other = await site.xml("subscribe", subscriptions("c3-17", 30), 409)
    assert read_document(other).responses[0].code is Code.INVALID
    await site.xml("subscribe", '<contextML><ctxUnsubscr><ctxSubscr id="c3-17"/></ctxUnsubscr></contextML>')
    assert (await site.client.get("subscriptions/")).json()["results"] == []
    await site.xml("advertise", advertisement("c3", "consumer", "", flag="unregister"))
    unknown = await site.xml("subscribe", subscriptions("c3-18", 25), 404)
    assert read_document(unknown).responses[0].code is Code.UNKNOWN
    assert read_document(await site.xml("advertise", advertisement("c3", "consumer", flag="keepalive"), 404)).responses


async def test_what_is_sent_again_with_its_key_is_done_once(site: Site) -> None:
    wanted = subscription()

    async def send(path: str, body: Any, key: str) -> httpx.Response:
        return await site.client.post(path, json=body, headers={"Idempotency-Key": key})

    first, again = [await send("subscriptions/", wanted, "1") for _ in range(2)]
    assert (first.status_code, again.status_code, again.headers["Idempotent-Replayed"]) == (201, 201, "true")
    assert first.content == again.content
    assert (await site.client.get("subscriptions/")).json()["count"] == 1
    other = await send("subscriptions/", {**wanted, "kind": "once"}, "1")
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")
    assert (await send("providers/", {"name": "b1", "scopes": ["climate"]}, "2")).status_code == 400
    made = [(await send("providers/", {"name": "p", "scopes": ["climate"]}, "2")) for _ in range(2)]
    assert ["Idempotent-Replayed" in one.headers for one in made] == [False, True], (
        "what was refused leaves its key free"
    )
    told = {**content("r17", temperature=26), "provider": "p"}
    async with site.stream(first.json()) as events:
        sent = [await send("publish/", told, "3") for _ in range(2)]
        await site.publish("r18", provider="p", temperature=27)
        entities = [(await anext(events))["data"]["notification"]["entity_id"] for _ in range(2)]
    assert [one.status_code for one in sent] == [202, 202] and sent[0].json() == sent[1].json()
    assert entities == ["r17", "r18"]


async def test_the_python_client_subscribes_provides_and_watches(site: Site, stranger: Stranger) -> None:
    stranger.answer = json.dumps({"entity_type": "room", "data": {"lux": 300}, "valid_ms": 60_000})
    token, expires = site.client.headers["Authorization"].split()[1], timezone.now() + timedelta(hours=1)
    async with AsyncClient(site.url, token) as waxwing:
        rooms = waxwing.federation(site.network)
        await rooms.register("cxp-7", ["climate"], broker=0)
        warm = await rooms.subscribe(["climate"], "temperature > 25", expires=expires)
        once = await rooms.subscribe(["climate"], ["entity.id", "=", "r16"], expires=expires, kind="once")
        await rooms.publish("room", "r16", "climate", {"temperature": 20}, provider="cxp-7")
        told = await rooms.publish("room", "r17", "climate", {"temperature": 26.5}, provider="cxp-7")
        async with contextlib.aclosing(rooms.watch([warm, once])) as events:
            found = [await anext(events) for _ in range(3)]
        assert [(one.kind, one.subscription) for one in found] == [
            ("notification", once.id),
            ("ended", once.id),
            ("notification", warm.id),
        ]
        assert (found[2].notification, found[1].end) == (told, "satisfied")
        resumed = [one async for one in rooms.watch(once.id, last_id=found[0].id)]
        assert [one.kind for one in resumed] == ["ended"], "it ends with the last of its subscriptions"

        assert [one.id for one in await rooms.lookup("climate")] == ["cxp-7"]
        await rooms.register("cxp-8", ["light"], url=stranger.url)
        assert [one.data for one in await rooms.query(["light"], entity="r17")] == [{"lux": 300}]
        with pytest.raises(NotFound, match="no_provider"):
            await rooms.query(["tides"])
        assert [one.name for one in await rooms.providers()] == [(await rooms.provider("cxp-7")).name, "cxp-8"]
        assert {(one.id, one.state) for one in await rooms.subscriptions()} == {
            (warm.id, "active"),
            (once.id, "satisfied"),
        }
        await rooms.unsubscribe(warm)
        with pytest.raises(NotFound):
            await rooms.unsubscribe(warm.id)
        await rooms.unregister("cxp-7")
        with pytest.raises(NotFound):
            await rooms.subscription(warm.id)
        with pytest.raises(InvalidMessage, match="no time zone"):
            await rooms.subscribe(["climate"], expires=expires.replace(tzinfo=None))


async def test_the_commands_of_the_documentation(site: Site) -> None:
    docs = Path(__file__).parents[2] / "docs"
    script = blocks((docs / "federation.md").read_text(), "## On the web")[0]
    made, streamed, in_contextml = blocks((docs / "rest.md").read_text(), "## Federated brokers")[:3]
    assert "-N" in streamed, "it does not end by itself"
    told = {"NETWORK": str(site.client.base_url).rstrip("/"), "TOKEN": site.client.headers["Authorization"].split()[1]}
    command = ["bash", "-e", "-c", "\n".join((script, made, in_contextml))]
    process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **told}, stdout=PIPE, stderr=PIPE)
    out, err = await process.communicate()
    assert process.returncode == 0, (out, err)
    assert out.count(b'<ctxResp id="0" code="good"/>') == 4
    assert b'"id":"cxp-7"' in out
    assert b'<ctxAdv id="sensor-1"' in out
    shown = await site.until(lambda found: found["results"][1]["state"] == "satisfied", "subscriptions/")
    assert [one["state"] for one in shown["results"]] == ["active", "satisfied", "active"]
    await site.until(lambda found: found["results"][0]["notified"] == 2, "subscriptions/")


def blocks(page: str, heading: str) -> list[str]:
    """The commands of a page from a heading on."""
    return [one.partition("```")[0] for one in page.partition(heading)[2].split("```bash\n")[1:]]


BOMB = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;&b;">]><contextML>&c;</contextML>'
HOSTILE = [
    ("<contextML><ctxEls>", 400, "line 1, column 19"),
    (BOMB, 400, "a DTD, entities and external references are not accepted"),
    ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><contextML/>', 400, "not accepted"),
    ("<a>" * 9 + "</a>" * 9, 400, "nested more than 8 deep"),
    ("<contextML>" + "<ctxEls/>" * 2_001 + "</contextML>", 400, "more than 2,000 elements"),
    ("<contextML>" + " " * 65_536 + "</contextML>", 413, "more than 65,536 bytes"),
    ("<contextML/>", 400, "has no ctxEls"),
    ("<contextML><evil/></contextML>", 400, "unknown element, 'evil'"),
    ("\x00", 400, "it is not XML"),
]


async def test_hostile_documents_are_refused_with_where_and_change_nothing(site: Site) -> None:
    for body, status, words in HOSTILE:
        (refused,) = read_document(await site.xml("publish", body, status)).responses
        assert words in refused.words, refused
        assert refused.code is (Code.LIMIT if status == 413 else Code.BAD)
    answer = await site.client.post("contextml/publish/", content="{}", headers={"Content-Type": "application/json"})
    assert (answer.status_code, "application/xml" in answer.text) == (415, True)
    problem = await site.xml("publish", "<x/>", 400, Accept="application/problem+json")
    assert "instead of contextML" in json.loads(problem)["detail"]
    await site.xml("publish", context("nobody", "r1", 1), 404)
    assert not HOST._hosted
    asked = '<ctxQuery id="7" ms="5000"><entity type="room" id="r17"/><scopes><scope>tides</scope></scopes></ctxQuery>'
    (refused,) = read_document(await site.xml("query", f"<contextML>{asked}</contextML>", 404)).responses
    assert (refused.req, refused.code) == (7, Code.NO_PROVIDER), "the number of the query, as in an answer"


async def test_each_account_has_its_own_and_names_are_taken_once(site: Site, viewer: User, operator: User) -> None:
    await site.provider("sensor")
    made = await site.subscribe()
    other = await sync_to_async(User.objects.create_user)("oscar", is_staff=True)
    shown = {"Authorization": f"Bearer {(await sync_to_async(make_token)(other))[1]}"}
    assert (await site.client.get(f"subscriptions/{made['id']}/", headers=shown)).status_code == 404
    body = {"name": "sensor", "scopes": ["climate"]}
    assert (await site.client.post("providers/", json=body, headers=shown)).status_code == 409
    told = {**content("r1", x=1), "provider": "sensor"}
    assert (await site.client.post("publish/", json=told, headers=shown)).status_code == 404
    only_reads = {"Authorization": f"Bearer {(await sync_to_async(make_token)(viewer))[1]}"}
    assert (await site.client.post("subscriptions/", json=subscription(), headers=only_reads)).status_code == 403
    refused = await site.client.post("query/", json={"scopes": ["tides"]}, headers=only_reads)
    assert (refused.status_code, refused.json()["code"]) == (404, "no_provider")
    for wrong, field in [
        ({"expression": "x >"}, "expression"),
        ({"expression": ["not"]}, "expression"),
        ({"expires": "2020-01-01T00:00:00Z"}, "expires"),
        ({"kind": "twice"}, "kind"),
        ({"scopes": []}, "scopes"),
    ]:
        refused = await site.client.post("subscriptions/", json=subscription(**wrong))
        assert (refused.status_code, refused.json()["field"]) == (400, field), refused.text
    refused = await site.client.post("publish/", json={**told, "scope": "tides"})
    assert (refused.status_code, refused.json()["field"]) == (400, "scope")
    assert refused.json()["sentence"] == "sensor has not registered 'tides'"
    refused = await site.client.post("providers/", json={"name": "b1", "scopes": ["climate"]})
    assert (refused.status_code, refused.json()["field"]) == (400, "name")
    refused = await site.client.get("stream/", params={"subscription": "not an id"})
    assert (refused.status_code, refused.json()["field"]) == (400, "subscription")
    await User.objects.filter(pk=operator.pk).aupdate(is_active=False)  # who may not use the network has no clients
    await HOST.look()
    assert operator.pk not in {hosted.row.owner_id for hosted, _ in HOST._hosted.values()}


async def test_a_provider_is_found_and_deleted_at_its_address_whatever_its_name(site: Site) -> None:
    for name in ("a/b", "ü/?#", "a%2Fb", "<script>alert(1)</script>"):
        made = await site.client.post("providers/", json={"name": name, "scopes": ["climate"]})
        assert made.status_code == 201, made.text
        address = made.headers["Location"]
        assert (await site.client.get(address)).json()["name"] == name
        assert (await site.client.delete(address)).status_code == 204
    printable, address = "must have printable characters only", "must not be '.' or '..', as it is a part of addresses"
    for name, why in {".": address, "..": address, "x\ny": printable, "\x1b[31m": printable}.items():
        refused = await site.client.post("providers/", json={"name": name, "scopes": ["climate"]})
        assert (refused.status_code, refused.json()["field"], refused.json()["sentence"]) == (400, "name", why)
    assert (await site.client.get("providers/")).json()["count"] == 0


def advertisement(name: str, role: str, url: str = "", scopes: str = "", flag: str = "register") -> str:
    adv = f'<ctxAdv id="{name}" role="{role}" url="{url}" flag="{flag}">{scopes}</ctxAdv>'
    return f"<contextML><ctxAdvs>{adv}</ctxAdvs></contextML>"


def subscriptions(id: str, above: int) -> str:
    expires = (timezone.now() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    pred = f'<constraint><pred n="temperature" op="gt" t="n">{above}</pred></constraint>'
    one = f'<ctxSubscr id="{id}" expires="{expires}"><scopes><scope>climate</scope></scopes>{pred}</ctxSubscr>'
    return f"<contextML><ctxSubscrs>{one}</ctxSubscrs></contextML>"


def context(provider: str, entity: str, temperature: float) -> str:
    now = timezone.now()
    begin, end = (at.strftime("%Y-%m-%dT%H:%M:%SZ") for at in (now, now + timedelta(minutes=10)))
    who = f'<contextProvider id="{provider}"/><entity type="room" id="{entity}"/><scope>climate</scope>'
    times = f"<timestamp>{begin}</timestamp><expires>{end}</expires>"
    data = f'<dataPart><par n="temperature" t="n">{temperature}</par></dataPart>'
    return f"<contextML><ctxEls><ctxEl>{who}{times}{data}</ctxEl></ctxEls></contextML>"
