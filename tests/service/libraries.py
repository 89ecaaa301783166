"""The ways into a network by libraries: our Python client, PyFiware for NGSI-v2, and paho for MQTT."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyfiware import FiException, OrionConnector
from urllib3.exceptions import HTTPError

from tests.mqtt import mosquitto
from tests.mqtt.mosquitto import Mosquitto
from tests.service.clients import FIELD, PATIENCE_S, SCOPE, TYPE, Failed, Place, patiently
from tests.waiting import wait_for
from waxwing import Bridge, NotFound, WaxwingError
from waxwing import Client as Waxwing

PATTERN = "context/{type}/{entity}/{scope}"


class Python:
    """``waxwing.Client``, which repeats what it may repeat by itself."""

    name = "python"

    def __init__(self, place: Place) -> None:
        self._client = Waxwing(place.url, place.token)
        self._context = self._client.context(place.network)

    def store(self, entity: str, number: int, valid_ms: int) -> int | None:
        def put() -> int:
            values = {FIELD: str(number)}
            try:
                done = self._context.put(
                    TYPE, entity, SCOPE, values, provider=f"{entity}-{self.name}", valid_ms=valid_ms
                )
            except WaxwingError as error:
                raise Failed(repr(error)) from None
            return int(done.raw["broker_index"])

        return patiently(put)

    def query(self, entity: str) -> int | None:
        def get() -> int | None:
            try:
                return int((self._context.get(TYPE, entity, SCOPE).payload or {})[FIELD])
            except NotFound:
                return None
            except WaxwingError as error:
                raise Failed(repr(error)) from None

        return patiently(get)

    def close(self) -> None:
        self._client.close()


class Ngsi:
    """NGSI-v2 by PyFiware."""

    name = "ngsi"

    def __init__(self, place: Place) -> None:
        host = f"{place.url}/api/networks/{place.network}/ngsi"
        self._orion = OrionConnector(host, service_path=f"/{SCOPE}", oauth_connector=place)

    def store(self, entity: str, number: int, valid_ms: int) -> int | None:
        def put() -> None:
            until = (datetime.now(UTC) + timedelta(milliseconds=valid_ms)).isoformat()
            values = {FIELD: number, "dateExpires": until}
            try:
                if self._orion.get(entity, TYPE) is None:
                    self._orion.create(entity, TYPE, **values)
                else:
                    self._orion.patch(entity, TYPE, **{name: {"value": value} for name, value in values.items()})
            except (FiException, HTTPError) as error:
                raise Failed(repr(error)) from None

        patiently(put)
        return None

    def query(self, entity: str) -> int | None:
        def get() -> int | None:
            try:
                found = self._orion.get(entity, TYPE)
            except (FiException, HTTPError) as error:
                raise Failed(repr(error)) from None
            return None if found is None else int(found[FIELD]["value"])

        return patiently(get)

    def close(self) -> None:
        pass


class Mqtt:
    """A sensor and reader at an MQTT server, which a bridge connects with the network."""

    name = "mqtt"
    server: Mosquitto
    """Of all clients; see ``bridged``."""

    def __init__(self, place: Place) -> None:
        self._shown: dict[str, bytes] = {}
        self._client = self.server.client(f"sensor-{id(self)}")
        self._client.on_message = lambda client, data, message: self._shown.update({message.topic: message.payload})
        self._client.subscribe("context/#", qos=1)

    def store(self, entity: str, number: int, valid_ms: int) -> int | None:
        said = {FIELD: number, "provider": f"{entity}-{self.name}", "valid_ms": valid_ms}
        message = self._client.publish(topic_of(entity), json.dumps(said), qos=1, retain=True)
        message.wait_for_publish(PATIENCE_S)
        if not message.is_published():
            raise Failed("not acknowledged")
        return None

    def query(self, entity: str) -> int | None:
        """What was published last; empty if it was withdrawn or has expired."""
        shown = self._shown.get(topic_of(entity), b"")
        return int(json.loads(shown)[FIELD]) if shown else None

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


def topic_of(entity: str) -> str:
    return PATTERN.format(type=TYPE, entity=entity, scope=SCOPE)


@contextmanager
def bridged(place: Place, folder: Path) -> Iterator[None]:
    """A Mosquitto and a bridge of the network, meanwhile."""
    server = Mqtt.server = Mosquitto(folder)
    server.start()
    tls = {name: Path(file).read_text() for name, file in server.tls.items()}
    body = {"mqtt": server.url, "username": mosquitto.USER, "password": mosquitto.PASSWORD, "tls": tls}
    with Waxwing(place.url, place.token) as client:
        patterns = {"in": [PATTERN], "out": [PATTERN]}
        number = client.networks.add_bridge(place.network, **body, **patterns).number

        def bridge() -> Bridge:
            return client.networks.bridge(place.network, number)

        try:
            wait_for(lambda: bridge().state == "connected", lambda: f"the bridge is connected: {bridge()}", every=0.5)
            yield
        finally:
            client.networks.remove_bridge(place.network, number)
            server.stop()
