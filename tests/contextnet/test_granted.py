"""Applications with users of their own in the log: what they may do, and what is refused with whose name."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from overlay.core.errors import InvalidSetting
from overlay.programs.contextnet import commands
from overlay.programs.contextnet.application import Application, Denied
from overlay.programs.contextnet.logs import NetworkLog, find
from overlay.programs.contextnet.node import Node
from overlay.programs.running import DONE, FAILED
from overlay.runtime.logs.engines import engine_at
from overlay.runtime.logs.port import NoUsers
from overlay.runtime.logs.valkey import instance
from overlay.runtime.logs.valkey.asking import NotAllowed, asking
from overlay.runtime.logs.valkey.connection import Server
from overlay.systems.contextnet.applications.rights import Use, rights_of, use_of
from tests.contextnet.standing import Standing, standing
from tests.waiting import BOUND_S, wait_for

BUS = b"bus".ljust(16, b"-")
SHOP = rights_of("shop", ("inbound",), ("nodes",), "shops")


@pytest.fixture(scope="module")
def network() -> Iterator[Standing]:
    with instance.own_instance() as url, standing(url, allowed_topics="alarms, inbound-2") as network:
        engine = engine_at(url)
        wait_for(lambda: engine.partitions_read("gateway-0", "presence"), "its gateway reads")
        yield network


def of(network: Standing, application: str = "shop", rights: Any = SHOP) -> NetworkLog:
    """The log as this application has it."""
    return find(network.log.grant(application, rights).url)


def within(story: Any) -> None:
    asyncio.run(asyncio.wait_for(story, BOUND_S))


def run(*arguments: str) -> int:
    return commands.main(arguments[0], list(arguments[1:]))


def test_it_hears_its_topic_and_answers_nodes_and_is_refused_all_else_by_name(network: Standing) -> None:
    log = of(network)
    assert (log.network, log.application) == ("n1", "shop")

    async def story() -> None:
        async with (
            Application(log, group="shops", within_s=BOUND_S) as shop,
            Node(network.gateways, id=BUS, secret=network.secret(BUS), within_s=BOUND_S) as bus,
        ):
            assert shop.core.name.startswith("shop.")
            await bus.send(b"hello")
            async for heard in shop.messages():
                assert heard.message.payload == b"hello"
                assert (await shop.answer(heard.message, b"thank you")).topic == "gateway.0"
                break
            for _ in range(2):
                with pytest.raises(Denied, match=r"refuses this: user n1\.shop may not write to topic broadcast\."):
                    await shop.cast("*", b"to all")
            assert (await shop.send(BUS, b"goes on")).topic == "gateway.0"
            with pytest.raises(Denied, match=r"user n1\.shop may not read topic alarms\."):
                await shop.listen(("inbound", "alarms"))
        with pytest.raises(Denied, match=r"user n1\.shop may not read topic inbound-2\."):
            async with Application(log, group="shops", topics=("inbound-2",), within_s=BOUND_S):
                pass
        with pytest.raises(Denied, match=r"user n1\.shop may not read topic inbound\."):
            async with Application(log, group="others", within_s=BOUND_S):
                pass

    within(story())


def test_its_user_sees_nothing_of_other_keys(network: Standing) -> None:
    log = of(network)
    with asking(Server.of(log.url), 5) as ask:
        for request in (
            ("XADD", "n1 s inbound 0", "*", "k", "x"),
            ("XADD", "n1 s presence 0", "*", "k", "x"),
            ("HSET", "n1 h presence 0", "k", "x"),
            ("XREAD", "STREAMS", "n1 s alarms 0", "0"),
            ("XREAD", "STREAMS", "n1 s inbound-2 0", "0"),
            ("XREAD", "STREAMS", "n2 s inbound 0", "0"),
            ("HGETALL", "n1 h credentials 0"),
            ("EVAL", "return redis.call('HGETALL', 'n1 h credentials 0')", 0),
            ("SCAN", "0"),
            ("ACL", "LIST"),
            ("CONFIG", "GET", "*"),
        ):
            with pytest.raises(NotAllowed, match=r"\(user n1\.shop\)$"):
                ask(*request)


def test_whoever_is_revoked_is_told_so_while_it_listens(network: Standing) -> None:
    log = of(network)

    async def story() -> None:
        async with Application(log, group="shops", within_s=BOUND_S) as shop:
            assert network.log.granted() == {"shop": Use(("inbound",), "shops", ("nodes",))}
            assert network.log.revoke("shop")
            with pytest.raises(Denied, match=r"user n1\.shop is not known, or has another password\."):
                async for _ in shop.messages():
                    pass

    within(story())
    assert (network.log.granted(), network.log.revoke("shop")) == ({}, False)
    with pytest.raises(Denied, match=r"WRONGPASS .*\(user n1\.shop\)"):
        find(log.url)


def test_with_further_rights_it_sends_to_all_and_another_grant_ends_the_former_password(network: Standing) -> None:
    before, log = of(network), of(network, rights=rights_of("shop", (), ("nodes", "all"), "shops"))
    with pytest.raises(Denied, match="WRONGPASS"):
        find(before.url)

    async def story() -> None:
        async with Application(log, topics=(), within_s=BOUND_S) as shop:
            assert (await shop.cast("*", b"to all")).topic == "broadcast"

    within(story())


def test_the_end_of_a_network_revokes_its_users_and_no_others(network: Standing) -> None:
    engine = engine_at(network.log.url)
    for deployment in ("n2", "n22"):
        engine.grant(deployment, "shop", SHOP)
    engine.erase("n2")
    assert (engine.users("n2"), engine.users("n22")) == ({}, {"shop": SHOP})
    engine.erase("n22")


def test_commands_grant_and_revoke(network: Standing, capsys: pytest.CaptureFixture[str]) -> None:
    log = "--log", network.log.url
    network.log.revoke("shop")
    assert run("grant", "bakery", *log, "--topic", "alarms", "--to", "nodes, groups") == DONE
    address, note = capsys.readouterr()
    assert "it forgets this one when it starts again" in note
    assert run("granted", *log, "--json") == DONE
    bakery = {"name": "bakery", "topics": ["alarms"], "group": "applications", "to": ["nodes", "groups"]}
    assert json.loads(capsys.readouterr().out) == bakery
    assert run("granted", *log) == DONE
    line = "bakery            listens to alarms in group applications; sends to nodes, groups\n"
    assert capsys.readouterr().out == line
    own = "--log", address.strip()
    assert run("send", *own, "--group", "line/red", "hello") == DONE
    capsys.readouterr()
    assert run("send", *own, "--all", "hello") == FAILED
    assert "user n1.bakery may not write to topic broadcast" in capsys.readouterr().err
    assert run("listen", *own, "--seconds", "1") == FAILED
    assert "user n1.bakery may not read topic inbound" in capsys.readouterr().err
    assert run("granted", *own) == FAILED
    assert "NOPERM" in capsys.readouterr().err
    assert run("revoke", "bakery", *log) == DONE
    assert run("revoke", "bakery", *log) == FAILED
    assert run("granted", *log) == FAILED
    assert "n1 has granted nothing to bakery" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"application": "a b"}, "name: 'a b' is no name of 1 to 64 letters"),
        ({"application": "a.b"}, "name: 'a.b' is no name"),
        ({"group": "*"}, r"group: '\*' is no name"),
        ({"topics": ["presence"]}, "topic: presence is of the system"),
        ({"topics": ["gateway.0"]}, "topic: 'gateway.0' is no name"),
        ({"receivers": ["servers"]}, "to: must be of nodes, groups, all, mqtt, not 'servers'"),
    ],
)
def test_names_that_are_none_are_refused(given: dict[str, Any], sentence: str) -> None:
    whole = {"application": "shop", "topics": ["inbound"], "receivers": ["nodes"], "group": "shops", **given}
    with pytest.raises(InvalidSetting, match=sentence):
        rights_of(**whole)


@pytest.mark.parametrize(("url", "sentence"), [("nats://127.0.0.1:1", "NATS has"), ("kafka://127.0.0.1:1", "of Kafka")])
def test_engines_without_users_say_who_has_them(url: str, sentence: str) -> None:
    if url.startswith("kafka"):
        pytest.importorskip("confluent_kafka", reason="Kafka's library is not installed")
    log = NetworkLog(url, "n1", 3)
    for ask in (lambda: log.grant("shop", SHOP), lambda: log.revoke("shop"), log.granted):
        with pytest.raises(NoUsers, match=sentence):
            ask()


def test_an_address_of_the_operator_is_of_no_application(network: Standing) -> None:
    assert network.log.application == ""
    assert replace(network.log, url="redis://my.user:x@127.0.0.1:1").application == ""


@pytest.mark.parametrize(
    ("topics", "receivers", "group"),
    [
        (("inbound",), ("nodes",), "shops"),
        (("inbound", "alarms", "mqtt.hall_2"), ("nodes", "groups", "all", "mqtt"), "a-b_c"),
        ((), ("all",), ""),
        (("alarms",), (), "applications"),
    ],
)
def test_what_was_granted_is_read_from_the_engine(
    network: Standing, topics: tuple[str, ...], receivers: tuple[str, ...], group: str
) -> None:
    rights = rights_of("shop", topics, receivers, group or "applications")
    network.log.grant("shop", rights)
    with asking(Server.of(network.log.url), 5) as ask:  # an operator adds a rule of their own
        ask("ACL", "SETUSER", "n1.shop", "~notes:*", "%R~n1*")
    assert engine_at(network.log.url).users("n1")["shop"] == rights
    assert network.log.granted()["shop"] == use_of("shop", rights) == Use(topics, group, receivers)
