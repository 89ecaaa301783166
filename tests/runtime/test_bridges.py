"""Bridges under the supervisor: real processes, which are started, replaced, killed and ended with their network."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from brokerweb.up.environment import find_mosquitto
from overlay.core.addresses import parse_address
from overlay.core.errors import InvalidSetting
from overlay.programs.context_broker.client import ContextClient
from overlay.runtime.bridges import read_wanted
from overlay.systems.registry import SYSTEMS
from tests.mqtt.mosquitto import PASSWORD, USER, Mosquitto, free_port
from tests.runtime.hosts import Host, pids
from tests.waiting import BOUND_S, is_alive, wait_for

PATTERN = "context/{type}/{entity}/{scope}"


def bridge(port: int, revision: int = 1, **document: Any) -> dict[str, Any]:
    return {"revision": revision, "document": {"mqtt": f"mqtt://127.0.0.1:{port}", "in": [PATTERN], **document}}


def row(host: Host, **wanted: Any) -> dict[str, Any]:
    """The bridge's row, once it has these values; those of its report, too."""

    def reached() -> dict[str, Any] | None:
        (found,) = host.client.status("net")["bridges"]
        told = {**found["report"], **{name: found[name] for name in ("revision", "restarts", "reason")}}
        return found if all(str(value) in str(told.get(name)) for name, value in wanted.items()) else None

    return wait_for(reached, lambda: f"{wanted}: {host.client.status('net')['bridges']}")


def test_a_bridge_without_a_server_says_why_is_replaced_comes_back_and_ends_with_its_network(host: Host) -> None:
    host.deploy(host.network(brokers=1))
    first, second = free_port(), free_port()
    assert host.client.bridges("net", 1, {"7": bridge(first)})["bridges"][0]["number"] == 7
    one = row(host, state="connecting", reason="", revision=1)
    wait_for(lambda: "refused" in row(host)["report"].get("reason", ""), "it says why")

    host.client.bridges("net", 1, {"7": bridge(second, 2)})
    two = row(host, state="connecting", revision=2)
    wait_for(lambda: str(second) in row(host)["report"].get("reason", ""), "it tries the other one")
    assert one["pid"] != two["pid"] and not is_alive(one["pid"])

    os.kill(two["pid"], signal.SIGKILL)
    three = row(host, state="connecting", restarts=1, reason="killed by SIGKILL")
    host.client.stop("net", 1, "enough")
    host.phase("net", "stopped")
    wait_for(lambda: not is_alive(three["pid"]), "it has ended")
    (last,) = host.client.status("net")["bridges"]
    assert (last["state"], last["restarts"], last["report"]) == ("stopped", 1, {})


def test_a_bridge_is_gone_with_its_supervisor_and_with_its_row(host: Host) -> None:
    status = host.deploy(host.network(brokers=1))
    host.client.bridges("net", 1, {"1": bridge(free_port())})
    one = row(host, state="connecting")
    host.client.bridges("net", 1, {})
    wait_for(lambda: host.client.status("net")["bridges"] == [], "it is no longer listed")
    assert not is_alive(one["pid"])
    host.client.bridges("net", 1, {"1": bridge(free_port())})
    one = row(host, state="connecting")
    host.process.kill()
    host.process.wait()
    wait_for(lambda: not any(map(is_alive, [*pids(status), one["pid"]])), "everything is gone")


@pytest.mark.skipif(find_mosquitto() is None, reason="Mosquitto is missing and could not be installed")
def test_what_a_sensor_publishes_is_in_the_network_also_after_a_wrong_password_and_a_death(host: Host) -> None:
    (folder := host.directory / "mqtt").mkdir()
    server = Mosquitto(folder)
    server.start()
    broker = host.deploy(host.network(brokers=1))["brokers"][0]["address"]
    document = bridge(server.port)["document"] | {"mqtt": server.url, "username": USER, "password": "wrong"}
    document["tls"] = {name: Path(file).read_text() for name, file in server.tls.items()}
    sensor = server.client("sensor")

    def told(degrees: str) -> None:
        sensor.publish("context/room/r1/temp", f'{{"degC": {degrees}}}', qos=1).wait_for_publish(BOUND_S)
        asked = ContextClient([parse_address(broker)], deadline_s=BOUND_S)
        wait_for(lambda: f"degC={degrees}" in str(asked.entries()), f"{degrees} is stored")

    try:
        host.client.bridges("net", 1, {"1": {"revision": 1, "document": document}})
        wait_for(lambda: "Not authorized" in row(host)["report"].get("reason", ""), "it says why")
        host.client.bridges("net", 1, {"1": {"revision": 2, "document": document | {"password": PASSWORD}}})
        one = row(host, state="connected", revision=2)
        told("21.5")
        os.kill(one["pid"], signal.SIGKILL)
        row(host, state="connected", restarts=1)
        told("22.5")
    finally:
        sensor.disconnect()
        sensor.loop_stop()
        server.stop()
    row(host, state="connecting")


@pytest.mark.parametrize(
    ("system", "bridges", "said"),
    [
        ("context-broker", ["x"], "an object of at most 100"),
        ("context-broker", {"x": {}}, "has numbers as names"),
        ("context-broker", {"1": {"document": {}}}, "bridges.1: needs a revision"),
        ("context-broker", {"1": {"revision": 1}}, "bridges.1: needs a document"),
        ("radiator", {"1": {"revision": 1, "document": {}}}, "networks of Radiator have none"),
    ],
)
def test_what_is_no_bridge_is_refused(system: str, bridges: Any, said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        read_wanted(bridges, SYSTEMS[system])
