"""Nodes and applications for programs, and commands, in a network of one gateway with a real log."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from queue import Queue
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from overlay.programs.contextnet import commands
from overlay.programs.contextnet.application import Application
from overlay.programs.contextnet.logs import NetworkLog, find
from overlay.programs.contextnet.node import Inbox, NoAnswer, Node
from overlay.programs.running import DONE, FAILED, UNANSWERED, WRONG_USAGE
from overlay.runtime.logs.engines import VARIABLE, engine_at
from overlay.runtime.logs.valkey import instance
from overlay.systems.contextnet import message_json
from overlay.systems.contextnet.nodes.node import Received
from overlay.systems.contextnet.records.records import Credential
from tests.contextnet.standing import Standing, standing
from tests.waiting import BOUND_S, wait_for

BUS, TRAM, CAR = (name.ljust(16, b"-") for name in (b"bus", b"tram", b"car"))


@pytest.fixture(scope="module")
def network() -> Iterator[Standing]:
    with instance.own_instance() as url, standing(url, group_fields="line", mqtt_proxies=1) as network:
        yield network


def run(*arguments: str) -> int:
    try:
        return commands.main(arguments[0], list(arguments[1:]))
    except SystemExit as error:
        return int(error.code or 0)


def within(story: Any) -> None:
    asyncio.run(asyncio.wait_for(story, BOUND_S))


def mobile(network: Standing, id: bytes, inbox: Inbox | None = None, **more: Any) -> Node:
    on_event = None if inbox is None else inbox.put
    return Node(network.gateways, id=id, secret=network.secret(id), on_event=on_event, **more)


async def received(inbox: Inbox) -> Any:
    async for event in inbox:
        if isinstance(event, Received):
            return event.message
    raise AssertionError


def test_a_node_and_an_application_talk_and_what_a_node_misses_waits(network: Standing) -> None:
    async def story() -> None:
        inbox = Inbox()
        async with Application(network.log, within_s=BOUND_S) as application:
            async with mobile(network, BUS, inbox) as bus:
                sent = await bus.send(b"at the station")
                async for heard in application.messages():
                    assert (heard.message.id, heard.gateway) == (sent, "gateway-0")
                    answer = await application.send(BUS, b"thank you")
                    assert answer.topic == "gateway.0"
                    application.settle(heard)
                    break
                assert (await received(inbox)).payload == b"thank you"
            await application.line.until(lambda: not application.nodes[BUS].connected, BOUND_S)
            assert (await application.send(BUS, b"come back", ttl_s=60)).topic == "unsent"
            async with mobile(network, BUS, inbox):
                assert (await received(inbox)).payload == b"come back"

    within(story())


def test_a_message_that_was_not_settled_is_heard_by_the_next_application(network: Standing) -> None:
    async def story() -> None:
        async def heard() -> list[bytes]:
            found = []
            async with Application(network.log, group="careful", topics=("inbound",), within_s=BOUND_S) as application:
                async for one in application.messages():
                    found.append(one.message.payload)
                    if one.message.payload == b"last":
                        return found
            return found

        async with mobile(network, TRAM) as tram:
            for text in (b"first", b"last"):
                await tram.send(text)
        assert (await heard())[-2:] == [b"first", b"last"]
        assert await heard() == [b"last"]

    within(story())


def test_a_group_is_made_of_what_nodes_say_of_themselves(network: Standing) -> None:
    async def story() -> None:
        red, green = Inbox(), Inbox()
        async with (
            Application(network.log, topics=(), within_s=BOUND_S) as application,
            mobile(network, BUS, red, context=message_json.context_read({"line": "red"})),
            mobile(network, TRAM, green, context=message_json.context_read({"line": "green"})),
        ):
            got = asyncio.create_task(received(red))
            while not got.done():  # its group may still be on its way
                await application.cast("line/red", b"to the depot")
                await asyncio.wait([got], timeout=0.05)
            assert got.result().destination == "line/red"
            await application.cast("*", b"to all")
            assert (await received(green)).payload == b"to all"

    within(story())


def test_commands_send_and_listen_and_list(network: Standing, capsys: Any) -> None:
    log = ("--log", network.log.url)
    who = ("node", network.gateway, "--id", BUS.hex(), "--secret", network.secret(BUS).hex())

    async def story() -> None:
        echo = asyncio.create_task(asyncio.to_thread(run, "listen", *log, "--group", "echo", "--echo", "--count", "1"))
        assert await asyncio.to_thread(run, *who, "--text", "hello", "--count", "1") == DONE
        assert await echo == DONE

    within(story())
    capsys.readouterr()
    assert run(*who, "--text", "hello") == DONE
    assert run("listen", *log, "--group", "new", "--count", "1", "--json") == DONE
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[-1])["gateway"] == "gateway-0"
    assert run("send", *log, BUS.hex(), "good bye", "--json") == DONE
    assert json.loads(capsys.readouterr().out)["topic"] == "unsent"
    assert run("send", *log, "--all", "good bye") == DONE
    assert capsys.readouterr().out.endswith("broadcast\n")
    assert run(*who, "--count", "1", "--seconds", "60", "--json", "--text", "back") == DONE
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["text"] in ("good bye", "come back")
    assert run("nodes", *log, "--json") == DONE
    assert BUS.hex() in {json.loads(line)["node"] for line in capsys.readouterr().out.splitlines()}


def test_what_is_wrong_is_said(network: Standing, capsys: Any, monkeypatch: Any) -> None:
    log = ("--log", network.log.url)
    monkeypatch.delenv(VARIABLE, raising=False)
    assert run("send", "--all", "x") == WRONG_USAGE
    assert run("send", *log, "bus", "x") == WRONG_USAGE
    assert "send: the id of a node must be 32 hexadecimal digits, not 'bus'" in capsys.readouterr().err
    assert run("send", *log) == WRONG_USAGE
    assert "Name a NODE, --group or --all" in capsys.readouterr().err
    assert run("listen", *log, "--network", "none") == FAILED
    assert capsys.readouterr().err.endswith(f"The log at {network.log.where} has no network none, but n1.\n")
    assert run("nodes", "--log", "redis://127.0.0.1:9/0") == UNANSWERED
    assert run("node", network.gateway, "--id", BUS.hex(), "--deadline", "0.5", "--text", "x") == UNANSWERED
    assert "is the secret that of node" in capsys.readouterr().err
    away = Application(NetworkLog("redis://127.0.0.1:9/0", "n1", 3), within_s=0.2)

    async def enter() -> None:
        async with away:
            pass

    with pytest.raises(NoAnswer, match="did not answer"):
        asyncio.run(enter())


def test_a_network_goes_by_its_name_where_no_other_has_it(network: Standing, capsys: Any) -> None:
    url, where = network.log.url, network.log.where
    network.log.call("fleet")
    assert find(url, "fleet") == find(url, "n1") == find(url) == network.log
    with standing(url, "n2") as second:
        wait_for(lambda: len(engine_at(url).partitions_read("gateway-0", "presence")) == 2, "its gateway reads")
        assert run("nodes", "--log", url) == FAILED
        assert capsys.readouterr().err.endswith(
            f"The log at {where} has several: fleet (n1), n2. Name one by --network.\n"
        )
        assert run("send", "--log", url, "--network", "fleet", "--all", "x") == DONE
        assert run("nodes", "--log", url, "--network", "rooms") == FAILED
        assert capsys.readouterr().err.endswith(f"The log at {where} has no network rooms, but fleet (n1), n2.\n")
        second.log.call("fleet")
        assert run("send", "--log", url, "--network", "fleet", "--all", "x") == FAILED
        sentence = f"The log at {where} has 2 networks with the name fleet: n1, n2. Give the id of one.\n"
        assert capsys.readouterr().err.endswith(sentence)
        assert run("send", "--log", url, "--network", "n2", "--all", "x") == DONE
        second.log.call("rooms")
        assert find(url, "rooms").network == "n2"
    engine_at(url).erase("n2")
    assert find(url).name() == "fleet"


def test_a_command_whose_secret_is_revoked_ends_and_says_so(network: Standing, capsys: Any) -> None:
    secret = network.secret(CAR).hex()
    who = ("node", network.gateway, "--id", CAR.hex(), "--secret", secret, "--seconds", "60", "--text", "here")

    async def story() -> None:
        async with Application(network.log, group="cars", within_s=BOUND_S) as application:
            ended = asyncio.create_task(asyncio.to_thread(run, *who))
            async for heard in application.messages():
                if heard.message.source == CAR.hex():
                    break
            await asyncio.to_thread(network.log.tell, Credential(CAR, 0, is_revoked=True))
            assert await ended == FAILED

    within(story())
    assert "The node's secret is not known any more" in capsys.readouterr().err


def test_an_application_answers_a_client_of_mqtt_until_its_secret_is_revoked(network: Standing) -> None:
    client = paho.Client(CallbackAPIVersion.VERSION2, TRAM.hex(), protocol=paho.MQTTv311)
    client.username_pw_set("a tram", network.secret(TRAM).hex())
    client.reconnect_delay_set(1, 1)
    answers, refused = Queue[bytes](), Queue[str]()
    client.on_message = lambda _, data, message: answers.put(message.payload)
    client.on_connect_fail = client.on_disconnect = lambda *_: None
    client.on_connect = lambda *said: refused.put(str(said[3])) if said[3].is_failure else None
    client.on_subscribe = lambda *_: client.publish("trams/7", b"at the station", qos=1)

    async def story() -> None:
        async with Application(network.log, topics=["mqtt.inbound"], group="trams", within_s=BOUND_S) as application:
            client.connect(*network.addresses[network.names.index("mqtt-0")])
            client.subscribe(f"clients/{TRAM.hex()}")
            client.loop_start()
            heard = await anext(application.messages())
            assert heard.message.destination == "trams/7"
            sent = await application.answer(heard.message, b"on to the depot")
            assert sent.topic == "mqtt_down"
            assert await asyncio.to_thread(answers.get, timeout=BOUND_S) == b"on to the depot"
            await asyncio.to_thread(network.log.tell, Credential(TRAM, 0, is_revoked=True))
            assert await asyncio.to_thread(refused.get, timeout=BOUND_S) == "Bad user name or password"

    within(story())
    client.disconnect()
    client.loop_stop()
