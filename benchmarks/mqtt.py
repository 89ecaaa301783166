"""Section (o): the MQTT bridge, both ways: messages a second, and processor time of the bridge per message.

A burst in: a client publishes with quality of service 1, until the broker has acknowledged all to the bridge. A burst
out: a client provides by UDP, until another has all as messages. Mosquitto, one broker and the clients are on one core,
the bridge is on the other.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from benchmarks.figures import Figure, Unavailable, figure
from benchmarks.servers import CLIENT_CORE, SERVER_CORE, START_S, Server, brokers, scratch
from brokerweb.up.environment import find_mosquitto
from overlay.core.addresses import Address, parse_address
from overlay.programs.context_broker.pool import PoolClient
from overlay.runtime.lifeline import die_with_parent
from overlay.runtime.redis_server import free_port

TITLE = "MQTT bridge: messages into a network and out of it"

BURST = 2_000
"""Messages of a burst, each of another entity."""
AT_ONCE = 64
"""Updates in flight of the client that provides."""
WAIT_S = 60.0
PATTERNS = {
    "in": {"pattern": "in/{entity}/{scope}", "type": "in"},
    "out": {"pattern": "out/{entity}/{scope}", "type": "out"},
}

Burst = tuple[float, float]
"""Messages a second, and the bridge's processor time per message (us)."""


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Yield the figures of the section. Raises ``Unavailable`` without Mosquitto."""
    with brokers(1) as (broker,), _mosquitto() as port, _bridge(port, broker.address) as bridge:
        broker.pin(CLIENT_CORE)
        for way, burst in {"in": _burst_in, "out": _burst_out}.items():
            say(f"messages {way}")
            shoot = partial(burst, port, parse_address(broker.address), bridge)
            shoot(0)
            bursts = [shoot(number) for number in range(1, rounds + 1)]
            yield figure("mqtt", f"messages {way}", "1/s", [rate for rate, _ in bursts], "higher")
            yield figure("mqtt", f"messages {way}, processor", "us", [spent for _, spent in bursts], "lower")


class Bridge:
    """The process, and the last of its reports."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.server = Server("", process.pid)
        self._process = process
        self._counters: dict[str, int] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def count(self, name: str) -> int:
        return self._counters.get(name, 0)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            report: dict[str, Any] = json.loads(line)
            self._counters = report["counters"]


def _burst_in(port: int, broker: Address, bridge: Bridge, number: int) -> Burst:
    client = _client(port)
    before, provided = bridge.server.processor_ns(), bridge.count("provided")
    began = time.monotonic()
    for entity in range(BURST):
        client.publish(f"in/e{entity}/s", json.dumps({"v": number, "valid_ms": 3_600_000}), qos=1)
    _until(lambda: bridge.count("provided") >= provided + BURST)
    return _burst(began, before, bridge, client)


def _burst_out(port: int, broker: Address, bridge: Bridge, number: int) -> Burst:
    client, heard = _client(port), set[str]()
    client.on_message = lambda client, data, message: heard.add(message.topic) if not message.retain else None
    client.subscribe("out/#", qos=1)
    _until(lambda: client.is_connected())
    time.sleep(0.5)  # what is retained comes first
    before, began = bridge.server.processor_ns(), time.monotonic()
    asyncio.run(_provide(broker, number))
    _until(lambda: len(heard) == BURST)
    return _burst(began, before, bridge, client)


async def _provide(broker: Address, number: int) -> None:
    pool, slots = PoolClient(), asyncio.Semaphore(AT_ONCE)

    async def one(entity: int) -> None:
        async with slots:
            await pool.provide("bench", ("out", f"e{entity}", "s"), b"v=%d" % number, 3_600_000, (broker,), WAIT_S)

    await asyncio.gather(*map(one, range(BURST)))
    pool.close()


def _burst(began: float, before: int, bridge: Bridge, client: Client) -> Burst:
    took = time.monotonic() - began
    spent = bridge.server.processor_ns() - before
    client.disconnect()
    client.loop_stop()
    return BURST / took, spent / BURST / 1000


def _client(port: int) -> Client:
    client = Client(CallbackAPIVersion.VERSION2)
    client.max_inflight_messages_set(200)
    client.connect("127.0.0.1", port)
    client.loop_start()
    _until(client.is_connected)
    return client


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > end:
            raise Unavailable(f"the bridge did not pass on {BURST} messages within {WAIT_S:g} s")
        time.sleep(0.002)


@contextmanager
def _mosquitto() -> Iterator[int]:
    program = find_mosquitto()
    if program is None:
        raise Unavailable("Mosquitto is missing: apt-get install mosquitto")
    port = free_port()
    with scratch() as folder:
        file = Path(folder) / "mosquitto.conf"
        file.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\nlog_type none\n")
        with _process([program, "-c", str(file)], CLIENT_CORE):
            yield port


@contextmanager
def _bridge(port: int, broker: str) -> Iterator[Bridge]:
    with scratch() as folder:
        file = Path(folder) / "bridge.yaml"
        file.write_text(json.dumps({"mqtt": f"mqtt://127.0.0.1:{port}", "brokers": [broker], **PATTERNS}))
        arguments = ["-m", "overlay", "mqtt-bridge", "--config", str(file), "--json", "--status-s", "0.1"]
        with _process([sys.executable, *arguments], SERVER_CORE) as process:
            assert process.stdout is not None
            if not process.stdout.readline().startswith("ready"):
                raise Unavailable(f"the bridge was not ready within {START_S:g} s")
            yield Bridge(process)


@contextmanager
def _process(arguments: list[str], core: int) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, text=True, preexec_fn=partial(die_with_parent, os.getpid())
    )
    try:
        Server("", process.pid).pin(core)
        yield process
    finally:
        process.kill()
        process.wait()
