"""A bridge, a broker and Mosquitto: data in and out over TLS, and a restart of the server in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import Client

from brokerweb.up.environment import find_mosquitto
from overlay.programs.context_broker.client import NotFound
from overlay.programs.context_broker.mqtt.connection import Connection, NotConnected
from overlay.programs.context_broker.mqtt.options import PASSWORD, USERNAME, read_options
from overlay.programs.context_broker.mqtt.process import BridgeProcess
from overlay.programs.context_broker.pool import PoolClient
from tests.clients.loop_broker import LoopBroker
from tests.mqtt import mosquitto
from tests.mqtt.mosquitto import Mosquitto
from tests.mqtt.world import PATTERN
from tests.waiting import BOUND_S

pytestmark = pytest.mark.skipif(find_mosquitto() is None, reason="Mosquitto is missing and could not be installed")

SECRETS = {USERNAME: mosquitto.USER, PASSWORD: mosquitto.PASSWORD}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Mosquitto]:
    one = Mosquitto(tmp_path)
    one.start()
    yield one
    one.stop()


def process_for(server: Mosquitto, broker: LoopBroker, said: list[str], **document: Any) -> BridgeProcess:
    settings = {"mqtt": server.url, "tls": server.tls, "brokers": ["{}:{}".format(*broker.address)]}
    settings |= {"in": PATTERN, "out": PATTERN, "status_topic": "status", **document}
    environment = document.pop("environment", SECRETS)
    settings.pop("environment", None)
    return BridgeProcess(read_options(settings, environment, "host"), said.append, lambda: said.append("ready"))


async def until(condition: Callable[[], Any], what: str) -> None:
    async with asyncio.timeout(BOUND_S):
        while not condition():
            await asyncio.sleep(0.01)
    assert condition(), what


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
async def test_data_in_and_out_and_a_restart_of_the_server(server: Mosquitto, protocol: str) -> None:
    broker, pool, said = LoopBroker(), PoolClient(), list[str]()
    process = process_for(server, broker, said, protocol=protocol)
    running = asyncio.create_task(process.run())
    loop, shown = asyncio.get_running_loop(), dict[str, bytes]()
    sensor = server.client("sensor")
    reader = server.client("reader")
    reader.on_message = lambda client, data, message: shown.update({message.topic: message.payload})
    reader.subscribe("#", qos=1)

    async def publish(topic: str, payload: str, sensor: Client = sensor) -> None:
        info = sensor.publish(topic, payload, qos=1)
        await loop.run_in_executor(None, info.wait_for_publish, BOUND_S)

    async def ask(entity: str) -> tuple[str, bytes]:
        while True:
            try:
                found = await pool.ask(("t", entity, "s"), (broker.address,), BOUND_S)
            except NotFound:
                await asyncio.sleep(0.01)
                continue
            return found.provider, found.payload

    try:
        await until(lambda: "ready" in said, "the bridge connects")
        await publish("c/t/r1/s", '{"degC": 21.5, "provider": "sensor-1"}')
        async with asyncio.timeout(BOUND_S):
            assert await ask("r1") == ("sensor-1", b"degC=21.5")
        await pool.provide("udp", ("t", "r/2", "s"), b"degC=19.50", 900_000, (broker.address,), BOUND_S)
        await until(lambda: "c/t/r%2F2/s" in shown, "an entry becomes a message")
        message = json.loads(shown["c/t/r%2F2/s"])
        assert (message["degC"], message["provider"]) == (19.5, "udp")

        await loop.run_in_executor(None, server.stop)
        await until(lambda: process.status()["state"] == "reconnecting", "the bridge notices")
        await pool.provide("udp", ("t", "r3", "s"), b"v=1", 900_000, (broker.address,), BOUND_S)
        await loop.run_in_executor(None, server.start)
        await until(lambda: process.status()["connections"] == 2, "the bridge connects again")
        shown.clear()
        late = server.client("late")
        late.on_message = lambda client, data, message: shown.update({message.topic: message.payload})
        late.subscribe("#", qos=1)
        await until(lambda: {"c/t/r%2F2/s", "c/t/r3/s"} <= shown.keys(), "both are retained")
        async with asyncio.timeout(BOUND_S):
            await publish("c/t/r4/s", "7", late)
            assert await ask("r4") == ("mqtt", b"value=7")
        assert json.loads(shown["status"])["state"] == "online"

        process.stop()
        await running
        await until(lambda: json.loads(shown["status"])["state"] == "offline", "it says goodbye")
        await publish("c/t/r5/s", '{"v": "while it was away"}', late)
        again = process_for(server, broker, said, protocol=protocol)
        running = asyncio.create_task(again.run())
        async with asyncio.timeout(BOUND_S):
            assert await ask("r5") == ("mqtt", b"v=while it was away")
        again.stop()
        await running
        late.loop_stop()
    finally:
        running.cancel()
        for client in (sensor, reader):
            client.loop_stop()
        pool.close()
        broker.close()


async def test_a_wrong_password_and_an_unknown_authority_end_it(server: Mosquitto) -> None:
    broker, said = LoopBroker(), list[str]()
    wrong = process_for(server, broker, said, environment={**SECRETS, PASSWORD: "x"})
    with pytest.raises(NotConnected, match="refused the connection: Not authorized"):
        await wrong.run()
    files = {name: file for name, file in server.tls.items() if name != "ca"}
    with pytest.raises(NotConnected, match="certificate verify failed"):
        await process_for(server, broker, said, tls=files).run()
    assert said == []
    broker.close()


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
async def test_a_session_forgets_what_is_no_longer_subscribed(server: Mosquitto, protocol: str) -> None:
    document = {"mqtt": server.url, "tls": server.tls, "brokers": "127.0.0.1:9", "in": PATTERN, "protocol": protocol}
    options = read_options(document, SECRETS, "host").server
    heard: list[str] = []

    def connection() -> Connection:
        return Connection(options, 10, lambda topic, *_: heard.append(topic), lambda *_: None)

    first, second = connection(), connection()
    await first.open(("old/#", "kept/#"), b"gone")
    first.close()
    await second.open(("kept/#", "new/#"), b"gone", ("old/#", "kept/#"))
    sensor = server.client("sensor")
    for topic in ("old/1", "kept/1", "new/1"):
        sensor.publish(topic, "1", qos=1)
    await until(lambda: len(heard) >= 2, "what is subscribed arrives")
    assert heard == ["kept/1", "new/1"]
    second.close()
    sensor.disconnect()
    sensor.loop_stop()
