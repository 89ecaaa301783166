"""Applications in a network of ContextNet over HTTP: a real gateway, log and web server, real nodes and receivers."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient as Browser

from brokerweb.networks import services
from brokerweb.networks.models import Network
from brokerweb.systems.contextnet.doors import naming
from brokerweb.systems.contextnet.doors.host import HOST
from overlay.programs.contextnet.application import Application, Denied
from overlay.programs.contextnet.logs import NetworkLog, find
from overlay.programs.contextnet.node import Inbox, Node, Refused
from overlay.runtime.logs.engines import VARIABLE, engine_at
from overlay.runtime.logs.valkey import instance
from overlay.systems.contextnet.nodes.node import Received
from overlay.systems.contextnet.system import SYSTEM
from tests.brokerweb.hosted_site import Site, Stranger, deployed, site_of
from tests.contextnet.standing import QUICK, standing
from tests.waiting import BOUND_S
from waxwing import AsyncClient, NotFound

pytestmark = pytest.mark.django_db(transaction=True)
BUS, TRAM = b"bus".ljust(16, b"-"), b"tram".ljust(16, b"-")


@pytest.fixture(scope="module")
def log() -> Iterator[str]:
    with instance.own_instance() as url:
        yield url


@pytest.fixture
async def site(operator: User, log: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    monkeypatch.setenv(VARIABLE, log)
    row = await sync_to_async(deployed)(SYSTEM, {**QUICK, "allowed_topics": "alarms"})
    with standing(log, str(row.pk), bytes.fromhex(row.secret), allowed_topics="alarms") as network:
        async with site_of(operator, row, network) as made:
            yield made


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    made = Stranger()
    yield made
    made.close()


def mobile(site: Site, id: bytes, inbox: Inbox | None = None, **more: Any) -> Node:
    network = site.brokers
    on_event = None if inbox is None else inbox.put
    return Node(network.gateways, id=id, secret=network.secret(id), on_event=on_event, **more)


async def received(inbox: Inbox) -> Any:
    async for event in inbox:
        if isinstance(event, Received):
            return event.message
    raise AssertionError


async def test_messages_go_both_ways_and_wait_for_a_node_that_is_away(site: Site, stranger: Stranger) -> None:
    inbox = Inbox()
    made = await site.json("mobile/subscriptions/", {"url": stranger.url})
    assert (made["topic"], made["application"]) == ("inbound", "application")
    async with mobile(site, BUS, inbox) as bus, site.stream(made) as events:
        sent = await bus.send(b"at the station")
        event = await anext(events)
        assert event["event"] == "notification"
        assert event["data"]["subscription"] == made["id"]
        heard = event["data"]["message"]
        assert (heard["id"], heard["source"], heard["text"]) == (sent.hex(), BUS.hex(), "at the station")
        assert (heard["gateway"], heard["topic"]) == ("gateway-0", "inbound")
        answer = await site.json("mobile/send/", {"node": BUS.hex(), "text": "thank you"}, 202)
        assert (answer["topic"], answer["is_stored"]) == ("gateway.0", False)
        assert (await received(inbox)).id.hex() == answer["id"]
        await site.json("mobile/send/", {"all": True, "base64": "AP8="}, 202)
        assert (await received(inbox)).payload == b"\x00\xff"
    body = json.loads((await stranger.next())[2])
    assert [one["text"] for one in body["notifications"]] == ["at the station"]
    shown = await site.until(lambda one: one["delivered"] == 1, f"mobile/subscriptions/{made['id']}/")
    assert (shown["notified"], shown["given_up"]) == (1, 0)
    await site.until(lambda one: not one["connected"], f"mobile/nodes/{BUS.hex()}/")
    away = await site.json("mobile/send/", {"node": BUS.hex(), "text": "come back", "ttl_s": 60}, 202)
    assert away["is_stored"]
    async with mobile(site, BUS, inbox):
        assert (await received(inbox)).payload == b"come back"
        await site.until(lambda found: found["count"] == 1, "mobile/nodes/?connected=true&gateway=gateway-0")
        assert (await site.client.get("mobile/nodes/?gateway=0")).json()["count"] == 1
        assert (await site.client.get("mobile/nodes/?gateway=1")).json()["count"] == 0
    assert (await site.client.delete(f"mobile/subscriptions/{made['id']}/")).status_code == 204
    assert (await site.client.delete("mobile/applications/application/")).status_code == 204
    assert (await site.client.get("mobile/applications/")).json()["count"] == 0
    assert HOST._rows == {}


async def test_a_stream_of_a_subscription_that_is_not_there_is_refused(site: Site) -> None:
    unknown = "This account has no subscription 'nosuch' in this network."
    assert await site.refused_stream(subscription="nosuch") == (404, unknown)


async def test_a_subscription_hears_its_topic_and_node_only(site: Site) -> None:
    alarms = await site.json("mobile/subscriptions/", {"topic": "alarms", "node": BUS.hex()})
    all = await site.json("mobile/subscriptions/", {"application": "archive"})
    async with mobile(site, BUS) as bus, mobile(site, TRAM) as tram, site.stream(alarms) as events:
        await tram.send(b"mine", to="alarms")
        await bus.send(b"to others")
        await bus.send(b"fire", to="alarms")
        assert (await anext(events))["data"]["message"]["text"] == "fire"
    await site.until(lambda one: one["notified"] == 1, f"mobile/subscriptions/{all['id']}/")


async def test_what_a_url_did_not_get_comes_again_to_the_next_process(site: Site, stranger: Stranger) -> None:
    stranger.status = 503
    made = await site.json("mobile/subscriptions/", {"url": stranger.url})
    async with mobile(site, BUS) as bus:
        await bus.send(b"at the station")
        await stranger.next()
        await site.until(lambda one: "503" in one["failure"], f"mobile/subscriptions/{made['id']}/")
        await HOST.stop()  # as a process that ends
        stranger.status = 200
        HOST.start()
        body = json.loads((await stranger.next())[2])
    assert [one["text"] for one in body["notifications"]] == ["at the station"]
    await site.until(lambda one: one["delivered"] == 1, f"mobile/subscriptions/{made['id']}/")


async def test_what_expired_is_listed(site: Site) -> None:
    assert (await site.client.get("mobile/discarded/")).json()["results"] == []
    async with mobile(site, BUS):
        await site.until(lambda found: found["count"] == 1, "mobile/nodes/?connected=true")
    await site.until(lambda one: not one["connected"], f"mobile/nodes/{BUS.hex()}/")
    sent = [await site.json("mobile/send/", {"node": BUS.hex(), "text": "soon", "ttl_s": 1}, 202) for _ in range(2)]
    found = await site.until(lambda found: found["count"] == 2, "mobile/discarded/")
    assert {one["id"] for one in found["results"]} == {one["id"] for one in sent}
    assert {(one["node"], one["reason"]) for one in found["results"]} == {(BUS.hex(), "expired")}
    for query, count in ((f"node={BUS.hex()}", 2), (f"node={TRAM.hex()}", 0), ("reason=evicted", 0)):
        assert (await site.client.get(f"mobile/discarded/?{query}")).json()["count"] == count
    for query, field in (("node=bus", "node"), ("reason=late", "reason"), ("why=late", "why")):
        refused = await site.client.get(f"mobile/discarded/?{query}")
        assert (refused.status_code, refused.json()["field"]) == (400, field)
    token = site.client.headers["Authorization"].split()[1]
    async with AsyncClient(site.url, token) as waxwing:
        (newest, before) = await waxwing.contextnet(site.network).discarded(reason="expired")
    assert newest.at and before.at and newest.at >= before.at


async def test_an_operator_gives_a_node_its_secret_and_revokes_it(site: Site) -> None:
    path, inbox = f"mobile/nodes/{BUS.hex()}/", Inbox()

    async def given() -> bytes:
        answer = await site.client.post(f"{path}secret/")
        assert answer.status_code == 200, answer.text
        return bytes.fromhex(answer.json()["secret"])

    secret = await given()
    assert secret == site.brokers.secret(BUS) == await given()
    async with mobile(site, BUS, inbox) as bus:
        assert (await site.client.delete(f"{path}secret/")).status_code == 204
        await bus.line.until(lambda: not bus.core.is_open, BOUND_S)
    with pytest.raises(Refused, match="revoked"):
        async with mobile(site, BUS, within_s=BOUND_S):
            pass
    assert (await site.client.get(path)).json()["is_revoked"]
    another = await given()
    assert another != secret
    async with Node(site.brokers.gateways, id=BUS, secret=another, within_s=BOUND_S) as bus:
        await bus.send(b"I am back")
    changes = (await site.client.get(f"{site.url}/api/changes/?kind=network")).json()["results"]
    assert [one["action"] for one in changes][:2] == ["give secret of a node", "revoke secret of a node"]
    assert secret.hex() not in str(changes)

    log = site.brokers.log
    await sync_to_async(engine_at(log.url).erase)(log.network)  # as at a start of the network
    await HOST.look()
    assert (await sync_to_async(log.credentials)())[BUS].generation == 1


async def test_the_page_of_a_network_shows_nodes_and_gives_out_and_revokes_secrets(site: Site, operator: User) -> None:
    browser, page = Browser(), f"/contextnet/networks/{site.network}/nodes/"
    await browser.aforce_login(operator)
    async with mobile(site, BUS):
        await site.until(lambda found: found["count"] == 1, "mobile/nodes/?connected=true")
        assert BUS.hex() in (await browser.get(page)).content.decode()
        shown = await browser.post(f"{page}{BUS.hex()}/secret/new/")
        assert site.brokers.secret(BUS).hex() in shown.content.decode()
        assert "no-store" in shown.headers["Cache-Control"]
        assert (await browser.post(f"{page}{BUS.hex()}/secret/delete/")).status_code == 302
    await site.until(lambda one: not one["connected"], f"mobile/nodes/{BUS.hex()}/")
    assert "away, revoked" in (await browser.get(page)).content.decode()
    assert (await browser.post(f"{page}bus/secret/delete/")).status_code == 404


async def test_an_operator_grants_an_application_a_user_of_its_own_and_revokes_it(site: Site) -> None:
    put = {"topics": ["inbound", "alarms"], "group": "shops", "to": ["nodes", "groups"]}
    assert (await site.client.get("mobile/users/")).json()["results"] == []
    answer = await site.client.put("mobile/users/shop/", json=put)
    made = answer.json()
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store"), answer.text
    address = made.pop("log")
    assert made == {"name": "shop", **put, "is_kept": False}
    assert address.startswith(f"redis://{site.network}.shop:")
    assert (await site.client.get("mobile/users/")).json()["results"] == [{"name": "shop", **put}]
    log = await sync_to_async(find)(address)
    async with Application(log, group="shops", within_s=BOUND_S) as shop, mobile(site, BUS) as bus:
        await bus.send(b"open?")
        async for heard in shop.messages():
            assert heard.message.payload == b"open?"
            break
        with pytest.raises(Denied, match="may not write to topic broadcast"):
            await shop.cast("*", b"to all")

    again = (await site.client.put("mobile/users/shop/", json={})).json()
    assert (again["topics"], again["group"], again["to"]) == (["inbound"], "applications", ["nodes"])
    with pytest.raises(Denied, match="WRONGPASS"):
        await sync_to_async(find)(address)
    assert (await site.client.delete("mobile/users/shop/")).status_code == 204
    gone = await site.client.delete("mobile/users/shop/")
    assert (gone.status_code, gone.json()["sentence"]) == (404, "rooms has granted nothing to shop.")
    with pytest.raises(Denied, match="WRONGPASS"):
        await sync_to_async(find)(again["log"])

    changes = (await site.client.get(f"{site.url}/api/changes/?kind=network")).json()["results"]
    assert [one["action"].partition(" ")[0] for one in changes][:3] == ["revoke", "grant", "grant"]
    assert changes[2]["after"] == {"application": "shop", **put}
    assert address.partition("shop:")[2].partition("@")[0] not in str(changes)


NO_USER = [
    ("a b", {}, "name"),
    ("shop", {"group": "*"}, "group"),
    ("shop", {"topics": ["alarm"]}, "topics"),
    ("shop", {"topics": ["presence"]}, "topics"),
    ("shop", {"topics": "inbound"}, "topics"),
    ("shop", {"to": ["servers"]}, "to"),
    ("shop", {"password": "mine"}, "password"),
]


async def test_what_cannot_be_granted_is_named_and_changes_nothing(site: Site) -> None:
    for name, body, field in NO_USER:
        refused = await site.client.put(f"mobile/users/{name}/", json=body)
        assert (refused.status_code, refused.json()["field"]) == (400, field), refused.text
    topic = await site.client.put("mobile/users/shop/", json={"topics": ["alarm"]})
    assert topic.json()["sentence"] == "must be of inbound, alarms, not 'alarm'"
    assert (await site.client.get("mobile/users/")).json()["count"] == 0
    changes = (await site.client.get(f"{site.url}/api/changes/?kind=network")).json()["results"]
    assert [one["action"] for one in changes] == ["deploy"]


async def test_an_engine_without_users_says_who_has_them(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    await Network.objects.filter(pk=site.network).aupdate(settings={**site.brokers.settings, "log_engine": "nats"})
    monkeypatch.setenv(VARIABLE, "nats://127.0.0.1:1")
    for ask in ("get", "put", "delete"):
        path = "mobile/users/" if ask == "get" else "mobile/users/shop/"
        refused = await site.client.request(ask, path, **({"json": {}} if ask == "put" else {}))
        assert refused.status_code == 409
        assert refused.json()["sentence"].startswith("NATS has its users and their permissions in the configuration")
    changes = (await site.client.get(f"{site.url}/api/changes/?kind=network")).json()["results"]
    assert [one["action"] for one in changes] == ["deploy"]


async def test_the_page_of_a_network_grants_users_and_revokes_them(site: Site, operator: User) -> None:
    browser, page = Browser(), f"/contextnet/networks/{site.network}/users/"
    await browser.aforce_login(operator)
    empty = (await browser.get(page)).content.decode()
    assert "No application has a user of its own in the log" in empty
    assert "Grant a user to an application" in empty
    form = {"name": "shop", "topics": ["inbound", "alarms"], "group": "shops", "to": ["nodes"]}
    shown = await browser.post(f"{page}new/", form)
    (address,) = re.findall(r"redis://[^<]*", shown.content.decode())
    assert "no-store" in shown.headers["Cache-Control"]
    assert (await sync_to_async(find)(address)).application == "shop"
    listed = (await browser.get(page)).content.decode()
    assert "inbound, alarms" in listed
    assert address not in listed
    back = await browser.post(f"{page}new/", {**form, "name": "the shop"}, follow=True)
    assert "Nothing was granted. Name: " in back.content.decode()
    back = await browser.post(f"{page}shop/delete/", follow=True)
    assert "The user of shop is revoked." in back.content.decode()
    assert "Users of applications" in back.content.decode()
    assert "No application has a user" in (await browser.get(page)).content.decode()


async def test_commands_find_a_network_by_its_name_also_after_it_was_renamed_and_started_again(site: Site) -> None:
    url = site.brokers.log.url
    await HOST.look()
    assert await sync_to_async(site.brokers.log.name)() == "rooms"
    assert (await site.client.patch("", json={"name": "fleet"})).status_code == 200
    await HOST.look()
    assert (await sync_to_async(find)(url, "fleet")).network == site.network
    await sync_to_async(engine_at(url).erase)(site.network)
    assert await sync_to_async(site.brokers.log.name)() == ""
    await HOST.look()
    assert await sync_to_async(site.brokers.log.name)() == "fleet"


async def test_a_message_with_a_key_is_sent_once(site: Site) -> None:
    inbox, body = Inbox(), {"node": BUS.hex(), "text": "once"}
    async with mobile(site, BUS, inbox):
        await site.until(lambda found: found["count"] == 1, "mobile/nodes/?connected=true")
        answers = [
            await site.client.post("mobile/send/", json=body, headers={"Idempotency-Key": "k"}) for _ in range(2)
        ]
        assert answers[0].json() == answers[1].json()
        await site.json("mobile/send/", {**body, "text": "last"}, 202)
        assert [(await received(inbox)).payload for _ in range(2)] == [b"once", b"last"]


async def test_the_python_client_sends_watches_and_lists(site: Site) -> None:
    inbox, token = Inbox(), site.client.headers["Authorization"].split()[1]
    async with AsyncClient(site.url, token) as waxwing, mobile(site, BUS, inbox) as bus:
        network = waxwing.contextnet(site.network)
        made = await network.subscribe(node=BUS.hex())
        await bus.send(b"\x00\xff")
        async with contextlib.aclosing(network.watch(made)) as events:
            heard = await anext(events)
        assert heard.message is not None
        assert (heard.subscription, heard.message.source, heard.message.payload) == (made.id, BUS.hex(), b"\x00\xff")
        sent = [await network.send(BUS.hex(), "one"), await network.send_to_all(b"\xff")]
        assert [one.topic for one in sent] == ["gateway.0", "broadcast"]
        assert {(await received(inbox)).payload for _ in sent} == {b"one", b"\xff"}
        assert (await network.send_to_group("line/red", "two", application="other")).topic == "groupcast"
        assert [one.node for one in await network.nodes(connected=True)] == [BUS.hex()]
        assert (await network.node(BUS.hex())).gateway == "gateway-0"
        assert await network.secret(TRAM.hex()) == site.brokers.secret(TRAM).hex()
        await network.revoke(TRAM.hex())
        assert [one.id for one in await network.subscriptions()] == [made.id]
        await network.unsubscribe(made.id)
        await network.unregister("other")
        user = await network.grant_user("shop", topics=["alarms"], to=[])
        assert (user.group, user.is_kept, user.log.partition(":")[0]) == ("applications", False, "redis")
        assert [(one.name, one.topics, one.to, one.log) for one in await network.users()] == [
            ("shop", ("alarms",), (), "")
        ]
        await network.revoke_user("shop")
        with pytest.raises(NotFound):
            await network.subscription(made.id)


WRONG = [
    ("send", {"text": "x"}, "node"),
    ("send", {"node": "bus", "text": "x"}, "node"),
    ("send", {"node": BUS.hex(), "all": True, "text": "x"}, "node"),
    ("send", {"all": True}, "text"),
    ("send", {"all": True, "base64": "%"}, "base64"),
    ("send", {"all": True, "text": "x" * 60_001}, "text"),
    ("send", {"all": True, "text": "x", "ttl_s": 5}, "ttl_s"),
    ("send", {"group": "a" * 129, "text": "x", "application": ""}, "application"),
    ("subscriptions", {"topic": "presence"}, "topic"),
    ("subscriptions", {"node": "bus"}, "node"),
    ("subscriptions", {"url": "ftp://x"}, "url"),
]


async def test_what_is_wrong_is_named_and_changes_nothing(site: Site) -> None:
    for path, body, field in WRONG:
        refused = await site.client.post(f"mobile/{path}/", json=body)
        assert (refused.status_code, refused.json()["field"]) == (400, field), refused.text
    assert (await site.client.get("mobile/applications/")).json()["count"] == 0
    assert (await site.client.get(f"mobile/nodes/{TRAM.hex()}/")).status_code == 404
    assert (await site.client.get("mobile/nodes/?connected=maybe")).json()["field"] == "connected"
    for gateway in ("poa-0", "gateway-", "first", "-1"):
        refused = (await site.client.get(f"mobile/nodes/?gateway={gateway}")).json()
        assert refused["sentence"] == f"must be a gateway such as 0 or gateway-0, not '{gateway}'"
    assert (await site.client.get("pubsub/clients/")).status_code == 404, "those are of another system"


def test_an_engine_that_is_away_is_asked_once_and_told_the_names_later(
    log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [services.deploy(name=name, system=SYSTEM.name, settings={}) for name in ("fleet", "trams")]
    Network.objects.update(state="running")
    asked, read = list[str](), NetworkLog.name

    def noted(one: NetworkLog) -> str:
        asked.append(one.network)
        return read(one)

    monkeypatch.setattr(NetworkLog, "name", noted)
    monkeypatch.setenv(VARIABLE, "redis://127.0.0.1:9/0")
    naming.tell_all()
    assert len(asked) == 1
    monkeypatch.setenv(VARIABLE, log)
    naming.tell_all()
    assert {read(NetworkLog(log, row.pk, 3)) for row in made} == {"fleet", "trams"}
