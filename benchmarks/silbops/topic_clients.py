"""All clients of Redis, NATS or Mosquitto: ``python -m benchmarks.silbops.topic_clients PROTOCOL PORT PLAN``.

Counterpart: ``topics``. ``PLAN`` is a file of JSON: ``topics``, those of each subscriber; ``moves``, of each the number
of the subscriber, topics it leaves and topics it joins; ``publications``, the topics of each. Prints ``ready`` once all
are subscribed. For the line ``publish`` or ``move`` it does all of these and prints one line of JSON: ``received``, for
each subscriber the numbers of the publications that came, as often as they came, and ``bytes``.

Payloads are numbers between marks that no protocol has, so they are found without reading the protocols.
"""

from __future__ import annotations

import json
import os
import re
import resource
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from benchmarks.radiator.fanout import mqtt_frame, mqtt_text, until
from overlay.runtime.lifeline import die_with_parent

END = 99_999_999
EVERYBODY = "end"
"""A topic of all subscribers."""
PATIENCE_S = 30.0
_PAYLOAD = re.compile(rb"#(\d{8})#")


class Wire(Protocol):
    pong: bytes
    ping: bytes

    def greet(self, connection: socket.socket, number: int) -> None: ...
    def subscribe(self, topics: Sequence[str]) -> bytes: ...
    def unsubscribe(self, topics: Sequence[str]) -> bytes: ...
    def publish(self, topic: str, payload: bytes) -> bytes: ...


class Redis:
    ping, pong = b"*1\r\n$4\r\nPING\r\n", b"pong\r\n$0\r\n\r\n"

    def greet(self, connection: socket.socket, number: int) -> None:
        pass

    def subscribe(self, topics: Sequence[str]) -> bytes:
        return _command("SUBSCRIBE", *topics)

    def unsubscribe(self, topics: Sequence[str]) -> bytes:
        return _command("UNSUBSCRIBE", *topics) if topics else b""

    def publish(self, topic: str, payload: bytes) -> bytes:
        return _command("PUBLISH", topic, payload.decode())


class Nats:
    ping, pong = b"PING\r\n", b"PONG\r\n"

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def greet(self, connection: socket.socket, number: int) -> None:
        until(connection, b"\r\n")
        connection.sendall(b'CONNECT {"verbose":false,"pedantic":false}\r\n')

    def subscribe(self, topics: Sequence[str]) -> bytes:
        return b"".join(b"SUB %b %d\r\n" % (topic.encode(), self._id(topic)) for topic in topics)

    def unsubscribe(self, topics: Sequence[str]) -> bytes:
        return b"".join(b"UNSUB %d\r\n" % self._id(topic) for topic in topics)

    def publish(self, topic: str, payload: bytes) -> bytes:
        return b"PUB %b %d\r\n%b\r\n" % (topic.encode(), len(payload), payload)

    def _id(self, topic: str) -> int:
        return self._ids.setdefault(topic, len(self._ids))


class Mqtt:
    """Version 3.1.1, QoS 0."""

    ping, pong = b"\xc0\0", b"\xd0\0"

    def greet(self, connection: socket.socket, number: int) -> None:
        connection.sendall(mqtt_frame(0x10, b"\0\4MQTT\4\2\0\0" + mqtt_text(b"client-%05d" % number)))
        until(connection, b"\x20\2\0\0")

    def subscribe(self, topics: Sequence[str]) -> bytes:
        return mqtt_frame(0x82, b"\0\1" + b"".join(mqtt_text(topic.encode()) + b"\0" for topic in topics))

    def unsubscribe(self, topics: Sequence[str]) -> bytes:
        return mqtt_frame(0xA2, b"\0\1" + b"".join(mqtt_text(topic.encode()) for topic in topics)) if topics else b""

    def publish(self, topic: str, payload: bytes) -> bytes:
        return mqtt_frame(0x30, mqtt_text(topic.encode()) + payload)


WIRES: dict[str, type[Wire]] = {"redis": Redis, "nats": Nats, "mqtt": Mqtt}


class Clients:
    def __init__(self, wire: Wire, port: int, plan: dict[str, Any]) -> None:
        self._wire, self._plan = wire, plan
        self._publisher = self._connect(port, 0)
        self._subscribers = [self._connect(port, number + 1) for number in range(len(plan["topics"]))]
        for connection, topics in zip(self._subscribers, plan["topics"], strict=True):
            self._told(connection, wire.subscribe([EVERYBODY, *topics]))

    def publish(self) -> dict[str, Any]:
        wire, publications = self._wire, self._plan["publications"]
        for number, topics in enumerate(publications):
            self._publisher.sendall(b"".join(wire.publish(topic, b"#%08d#" % number) for topic in topics))
            self._drain()
        self._publisher.sendall(wire.publish(EVERYBODY, b"#%08d#" % END))
        heard = [self._until_end(connection) for connection in self._subscribers]
        self._drain()
        received = [[int(one) for one in _PAYLOAD.findall(each) if int(one) != END] for each in heard]
        return {"received": received, "bytes": sum(map(len, heard))}

    def move(self) -> dict[str, Any]:
        for number, left, joined in self._plan["moves"]:
            self._told(self._subscribers[number], self._wire.unsubscribe(left) + self._wire.subscribe(joined))
        return {"received": [], "bytes": 0}

    def _told(self, connection: socket.socket, words: bytes) -> None:
        connection.sendall(words + self._wire.ping)
        until(connection, self._wire.pong)

    def _drain(self) -> None:
        """What the server answers to who publishes."""
        self._publisher.setblocking(False)
        try:
            while self._publisher.recv(1 << 16):
                pass
        except BlockingIOError:
            pass
        finally:
            self._publisher.settimeout(PATIENCE_S)

    def _until_end(self, connection: socket.socket) -> bytes:
        heard = b""
        while b"#%08d#" % END not in heard:
            more = connection.recv(1 << 16)
            if not more:
                raise ConnectionError("the server closed a connection")
            heard += more
        return heard

    def _connect(self, port: int, number: int) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wire.greet(connection, number)
        return connection


def _command(*words: str) -> bytes:
    return f"*{len(words)}\r\n".encode() + b"".join(b"$%d\r\n%b\r\n" % (len(word), word.encode()) for word in words)


def main(protocol: str, port: str, plan: str) -> None:
    die_with_parent(os.getppid())
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    clients = Clients(WIRES[protocol](), int(port), json.loads(Path(plan).read_text(encoding="utf-8")))
    print("ready", flush=True)
    acts = {"publish": clients.publish, "move": clients.move}
    for line in sys.stdin:
        print(json.dumps(acts[line.strip()]()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
