"""A bridge as a part of a network: what a sensor publishes by MQTT is read through REST, whatever is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import Client

from brokerweb.up.environment import find_mosquitto
from tests.mqtt import mosquitto
from tests.mqtt.mosquitto import Mosquitto
from tests.stack.house import House, kill
from tests.test_rest_journey import Api
from tests.thorough import thoroughly
from tests.waiting import BOUND_S, is_alive, wait_for

pytestmark = [
    pytest.mark.stack,
    pytest.mark.skipif(find_mosquitto() is None, reason="Mosquitto is missing and could not be installed"),
]
PATTERN = "context/{type}/{entity}/{scope}"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Mosquitto]:
    one = Mosquitto(tmp_path)
    one.start()
    yield one
    one.stop()


def told(sensor: Client, api: Api, path: str, degrees: float) -> None:
    """Publish a value, and read it through REST."""
    said = sensor.publish("context/room/r1/temp", json.dumps({"degC": degrees, "valid_ms": 600_000}), qos=1)
    said.wait_for_publish(BOUND_S)

    def found() -> bool:
        answer = api.http.get(f"{path}context/room/r1/temp/")
        return answer.status_code == 200 and float(answer.json()["payload"]["degC"]) == degrees

    wait_for(found, f"{degrees} is read", every=0.3)


@thoroughly
def test_it_comes_back_with_its_process_and_with_its_network_and_leaves_nothing(
    api: Api, house: House, ring: str, server: Mosquitto
) -> None:
    path = f"/networks/{api.post('/networks/', {'name': 'bridged', 'topology': ring})['id']}/"
    api.wait(path, lambda found: found["state"] == "running")
    tls = {name: Path(file).read_text() for name, file in server.tls.items()}
    account = {"username": mosquitto.USER, "password": mosquitto.PASSWORD}
    body = {"mqtt": server.url, "in": [PATTERN], "out": [PATTERN], "tls": tls}
    one = f"{path}bridges/{api.post(f'{path}bridges/', {**body, **account, 'password': 'wrong'})['number']}/"

    def reached(state: str, **wanted: Any) -> dict[str, Any]:
        return api.wait(one, lambda found: {"state": state, **wanted}.items() <= found.items())

    assert "Not authorized" in api.wait(one, lambda found: "refused" in found["reason"])["reason"]
    assert api.http.patch(one, json=account).is_success
    bridge, sensor = reached("connected"), server.client("sensor")
    try:
        told(sensor, api, path, 21.5)
        kill(bridge["pid"])
        bridge = reached("connected", restarts=1)
        told(sensor, api, path, 22.5)
        api.wait(one, lambda found: found["counters"]["messages_in"] > 0)

        api.post(f"{path}stop/")
        api.wait(path, lambda found: found["state"] == "stopped")
        reached("stopped", pid=None)
        assert not is_alive(bridge["pid"])
        api.post(f"{path}start/")
        bridge = reached("connected")
        told(sensor, api, path, 23.5)

        assert api.http.delete(one).status_code == 204
        wait_for(lambda: not is_alive(bridge["pid"]), "its process has ended")
        told_after = [entry["action"] for entry in api.get(f"/changes/?object_id={path.split('/')[2]}")["results"]]
        assert told_after[0] == "delete bridge" and "change bridge" in told_after
    finally:
        sensor.disconnect()
        sensor.loop_stop()
        api.post(f"{path}stop/")
    api.wait(path, lambda found: found["state"] == "stopped")
    assert api.http.delete(path).status_code == 204
    wait_for(lambda: not house.tree().nodes, lambda: f"nothing is left: {house.tree().nodes}")
