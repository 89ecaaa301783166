"""A live run with a proxy, for clients of MQTT: a real Valkey, and an application that answers."""

from __future__ import annotations

import socket
from contextlib import contextmanager

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from overlay.core.addresses import parse_address
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.log.topics import Append
from overlay.runtime.logs.engines import engine_at
from overlay.systems.contextnet.keys import network_secret, node_secret
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.names import MQTT_DOWN
from overlay.systems.contextnet.records.records import Message, Outbound
from tests.contextnet.mqtt import bytes_of as b
from tests.log.live import LiveLog
from tests.log.reader import Reader
from tests.waiting import BOUND_S, wait_for

SEED = 3
CONNECTIONS = 50
SETTINGS = {"mqtt_proxies": 1, "mqtt_topics": '[["sensors/#", "sensors"]]', "mqtt_connections": CONNECTIONS}
WORKLOAD = {"nodes": 1, "rate_per_min": 0.02, "duration_s": 3_600, "connect_interval_ms": 0}
"""One node, which sends once an hour."""


def id_of(name):
    """A client is a node."""
    return name.encode().ljust(16, b".").hex()


def password_of(client):
    return node_secret(network_secret(SEED), bytes.fromhex(client)).hex()


class Teller(Reader):
    """An application that writes to clients."""

    def tell(self, client, payload):
        message = Message(bytes(16), "teller", f"mqtt:{client}", 1, payload=payload)
        self._appends.append(Append(MQTT_DOWN, client.encode(), codec.write(Outbound(message)), payload))


class Payloads(Reader):
    """An application that reads messages of clients."""

    def __init__(self, *subscriptions):
        super().__init__(*subscriptions)
        self.payloads = []

    def receive_records(self, records, now):
        for record in records:
            self.payloads.append(codec.read(record.topic, record.value).message.payload)
            self.progress.read(record)
            self.progress.settle(record.topic, record.partition, record.position)


class Site:
    """The proxy is the last server of the run."""

    def __init__(self, supervisor, url, directory):
        document = {"name": "mqtt", "topology": None, "system": "contextnet", "engine": "live", "record_mb": 20}
        (configuration,) = checked({**document, "settings": SETTINGS, "workload": WORKLOAD}, {}.get)[1]
        self.document = run_document(configuration, run="r1", seed=SEED, directory=str(directory), lease_s=3_600)
        self._supervisor, self._url = supervisor, url
        supervisor.deploy(self.document)
        wait_for(lambda: self.status["phase"] == "measuring", lambda: str(self.status))

    @property
    def status(self):
        return self._supervisor.status("r1")

    @property
    def address(self):
        return parse_address(self.status["brokers"][-1]["address"])

    def kill(self):
        self._supervisor.fault("r1", 0, self.status["brokers"][-1]["index"])

    def end(self):
        self._supervisor.stop("r1", 0, "tested")
        wait_for(lambda: not any(one["pid"] for one in self.status["brokers"]), lambda: str(self.status))

    def mosquitto(self, program, client, *arguments, password=None):
        """The command with its arguments."""
        host, port = self.address
        secret = ["-u", client, "-P", password or password_of(client)]
        return [program, "-h", host, "-p", str(port), "-i", client, *secret, *arguments]

    def paho(self, name):
        """Not yet connected."""
        client_id = id_of(name)
        client = paho.Client(CallbackAPIVersion.VERSION2, client_id, protocol=paho.MQTTv311)
        client.username_pw_set(client_id, password_of(client_id))
        client.reconnect_delay_set(1, 1)
        return client

    def said_to(self, *packets):
        """All that a connection gets that writes these, and then reads until it is closed."""
        with socket.create_connection(self.address, BOUND_S) as one:
            one.sendall(b"".join(packets))
            found = b""
            while data := one.recv(4_096):
                found += data
            return found

    def connect(self, name="raw"):
        client = id_of(name)
        return b.connect(client, user=name, password=password_of(client).encode())

    @contextmanager
    def log(self):
        """Its log, for members of a test's own."""
        deployment = Deployment.from_json(self.document)
        log = LiveLog(None, deployment.system.log_of(deployment.setup))
        log.make = lambda name, node: engine_at(self._url).open(log.spec, "r1", name, node)
        yield log
        for name in list(log.nodes):
            log.end(name)
