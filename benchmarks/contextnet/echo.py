"""All nodes of a peer and its application: ``python -m benchmarks.contextnet.echo KIND PORT NODES RATE SECONDS``.

Counterpart: ``peers``. Each of ``NODES`` sends a message of 264 bytes ``RATE`` times a minute, at instants of its own,
for ``SECONDS``, and gets it back. Kinds:

- ``mqtt``   QoS 1 all the way and kept sessions: nodes publish to ``inbound/NODE``, an application that is subscribed
  to all of these publishes to ``clients/NODE``
- ``udp``    each node has a socket, and the server sends datagrams back
- ``serve``  that server, in Python; it prints its address

Prints ``ready`` once all nodes are connected, waits for a line, and prints one line of JSON: messages, answers, and
their times from when they were due, in ms.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import socket
import sys
import time
from collections.abc import Iterator
from random import Random
from select import EPOLLIN, epoll
from typing import Protocol

from benchmarks.radiator.fanout import mqtt_frame, mqtt_text, until
from overlay.runtime.lifeline import die_with_parent

SIZE = 264
DRAIN_S = 5.0
CHUNK = 1 << 16
PATIENCE_S = 20.0
CONNECT, PUBLISH, PUBACK, SUBSCRIBE = 0x10, 0x32, 0x40, 0x82
"""First bytes of packets; a PUBLISH of QoS 1."""


class Wire(Protocol):
    def open(self, number: int) -> socket.socket: ...
    def send(self, connection: socket.socket, number: int, payload: bytes) -> None: ...
    def heard(self, connection: socket.socket) -> Iterator[bytes]:
        """The payloads that a node got."""
        ...


class Udp:
    def __init__(self, port: int) -> None:
        self._server = "127.0.0.1", port

    def open(self, number: int) -> socket.socket:
        connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        connection.connect(self._server)
        return connection

    def send(self, connection: socket.socket, number: int, payload: bytes) -> None:
        connection.send(payload)

    def heard(self, connection: socket.socket) -> Iterator[bytes]:
        yield connection.recv(CHUNK)


class Mqtt:
    """Version 3.1.1. Number -1 is the application."""

    def __init__(self, port: int) -> None:
        self._server = "127.0.0.1", port
        self._bytes: dict[socket.socket, bytearray] = {}
        self._packets = 0
        self.application = self.open(-1)

    def open(self, number: int) -> socket.socket:
        connection = socket.create_connection(self._server, PATIENCE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name, topic = (b"application", b"inbound/+") if number < 0 else (b"node-%d" % number, b"clients/%d" % number)
        connection.sendall(mqtt_frame(CONNECT, b"\0\4MQTT\4\0\4\0" + mqtt_text(name)))  # a kept session
        until(connection, b"\x20\2\0\0")
        connection.sendall(mqtt_frame(SUBSCRIBE, b"\0\1" + mqtt_text(topic) + b"\1"))
        until(connection, b"\x90\3\0\1\1")
        self._bytes[connection] = bytearray()
        return connection

    def send(self, connection: socket.socket, number: int, payload: bytes) -> None:
        self._publish(connection, b"inbound/%d" % number, payload)

    def _publish(self, connection: socket.socket, topic: bytes, payload: bytes) -> None:
        self._packets = self._packets % 65_535 + 1
        connection.sendall(mqtt_frame(PUBLISH, mqtt_text(topic) + self._packets.to_bytes(2, "big") + payload))

    def heard(self, connection: socket.socket) -> Iterator[bytes]:
        chunk = connection.recv(CHUNK)
        if not chunk:
            raise ConnectionError("the server closed a connection")
        waiting = self._bytes[connection]
        waiting += chunk
        while (packet := _packet(waiting)) is not None:
            kind, body = packet
            if kind >> 4 != PUBLISH >> 4:
                continue
            end = 2 + int.from_bytes(body[:2], "big")
            topic, payload = body[2:end], body[end + 2 :]
            if kind & 6:
                connection.sendall(bytes([PUBACK, 2]) + body[end : end + 2])
            if connection is self.application:
                self._publish(connection, b"clients" + topic[topic.index(b"/") :], payload)
            else:
                yield payload


def _packet(waiting: bytearray) -> tuple[int, bytes] | None:
    """The first whole packet, which is taken out."""
    length = 0
    for i in range(1, min(5, len(waiting))):
        length |= (waiting[i] & 127) << 7 * (i - 1)
        if waiting[i] < 128:
            end = i + 1 + length
            if len(waiting) < end:
                return None
            found = waiting[0], bytes(waiting[i + 1 : end])
            del waiting[:end]
            return found
    return None


def played(wire: Wire, nodes: int, rate_per_min: float, seconds: float) -> dict[str, float]:
    poll, connections = epoll(), dict[int, socket.socket]()
    for number in range(nodes):
        connection = wire.open(number)
        connections[connection.fileno()] = connection
    of = list(connections.values())
    if isinstance(wire, Mqtt):
        connections[wire.application.fileno()] = wire.application
    for descriptor in connections:
        poll.register(descriptor, EPOLLIN)
    print("ready", flush=True)
    sys.stdin.readline()
    gc.disable()
    interval, chance = 60 / rate_per_min, Random(1)
    phases = [chance.random() * interval for _ in range(nodes)]
    due = sorted(
        (phase + turn * interval, number)
        for turn in range(round(seconds / interval))
        for number, phase in enumerate(phases)
    )
    began, sent, times = time.monotonic(), 0, dict[int, float]()
    while len(times) < len(due) and time.monotonic() < began + seconds + DRAIN_S:
        now = time.monotonic() - began
        while sent < len(due) and due[sent][0] <= now:
            number = due[sent][1]
            wire.send(of[number], number, sent.to_bytes(8, "big").ljust(SIZE, b"x"))
            sent += 1
        wait = due[sent][0] - now if sent < len(due) else 0.1
        for descriptor, _ in poll.poll(max(0.0, min(wait, 0.1))):
            for payload in wire.heard(connections[descriptor]):
                order = int.from_bytes(payload[:8], "big")
                times.setdefault(order, time.monotonic() - began - due[order][0])
    took = sorted(times.values()) or [0.0]
    return {
        "messages": len(due),
        "answers": len(times),
        "p50_ms": took[len(took) // 2] * 1e3,
        "p99_ms": took[len(took) * 99 // 100] * 1e3,
    }


def serve() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        print(f"127.0.0.1:{sock.getsockname()[1]}", flush=True)
        while True:
            data, source = sock.recvfrom(CHUNK)
            sock.sendto(data, source)


def main(kind: str, *rest: str) -> None:
    die_with_parent(os.getppid())
    if kind == "serve":
        serve()
    port, nodes, rate, seconds = rest
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    wire = Mqtt(int(port)) if kind == "mqtt" else Udp(int(port))
    print(json.dumps(played(wire, int(nodes), float(rate), float(seconds))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
