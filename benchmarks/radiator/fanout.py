"""All clients of NATS or Mosquitto in one process: ``python -m benchmarks.radiator.fanout PROTOCOL PORT PLAN``.

Counterpart: ``peers``. One connection publishes, ``clients`` others are subscribed. ``PLAN`` is a file of JSON:
``clients``, ``payloads`` (base64) and ``due_s``, for each payload the instants at which its messages are due; it is
published at the last of them, as a publisher that batches does. Prints ``ready`` once all are subscribed, waits for a
line, and prints one line of JSON: deliveries, bytes received, and the lag of each message at each subscriber from when
it was due, as percentiles in ms.

Payloads come in order and their lengths are known, so counting bytes is enough to know what has arrived. This keeps the
process cheap: it is not what is measured.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import socket
import sys
import time
from base64 import b64decode
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path
from select import EPOLLIN, epoll
from typing import Any, Protocol

from overlay.runtime.lifeline import die_with_parent

TOPIC = b"contexts"
PATIENCE_S = 5.0
CHUNK = 1 << 16
DRAIN_S = 3.0


class Wire(Protocol):
    """What a protocol needs: subscribing, and a message as it is published and as it arrives."""

    def subscribe(self, connection: socket.socket, number: int) -> None: ...
    def published(self, payload: bytes) -> bytes: ...
    def received(self, payload: bytes) -> int: ...
    def answered(self, connection: socket.socket, chunk: bytes) -> int:
        """How many bytes of ``chunk`` are no message; those that ask for an answer get one."""
        ...


class Nats:
    def subscribe(self, connection: socket.socket, number: int) -> None:
        until(connection, b"\r\n")
        connection.sendall(b'CONNECT {"verbose":false,"pedantic":false}\r\nSUB %b 1\r\nPING\r\n' % TOPIC)
        until(connection, b"PONG\r\n")

    def published(self, payload: bytes) -> bytes:
        return b"PUB %b %d\r\n%b\r\n" % (TOPIC, len(payload), payload)

    def received(self, payload: bytes) -> int:
        return len(b"MSG %b 1 %d\r\n\r\n" % (TOPIC, len(payload))) + len(payload)

    def answered(self, connection: socket.socket, chunk: bytes) -> int:
        if b"PING\r\n" not in chunk:
            return 0
        connection.sendall(b"PONG\r\n")
        return len(b"PING\r\n")


class Mqtt:
    """Version 3.1.1, QoS 0."""

    def subscribe(self, connection: socket.socket, number: int) -> None:
        name = b"client-%05d" % number
        connection.sendall(mqtt_frame(0x10, b"\0\4MQTT\4\2\0\0" + mqtt_text(name)))
        until(connection, b"\x20\2\0\0")
        connection.sendall(mqtt_frame(0x82, b"\0\1" + mqtt_text(TOPIC) + b"\0"))
        until(connection, b"\x90\3\0\1\0")

    def published(self, payload: bytes) -> bytes:
        return mqtt_frame(0x30, mqtt_text(TOPIC) + payload)

    def received(self, payload: bytes) -> int:
        return len(self.published(payload))

    def answered(self, connection: socket.socket, chunk: bytes) -> int:
        return 0


def until(connection: socket.socket, end: bytes) -> None:
    heard = b""
    while not heard.endswith(end):
        more = connection.recv(4096)
        if not more:
            raise ConnectionError(f"hung up: {heard!r}")
        heard += more


def mqtt_text(text: bytes) -> bytes:
    return len(text).to_bytes(2, "big") + text


def mqtt_frame(kind: int, rest: bytes) -> bytes:
    left, length = len(rest), bytearray()
    while True:
        length.append(left & 127 | (128 if left > 127 else 0))
        left >>= 7
        if not left:
            return bytes([kind]) + bytes(length) + rest


WIRES: dict[str, Wire] = {"nats": Nats(), "mqtt": Mqtt()}


class Fanout:
    """The connections, and when how many bytes have arrived at each."""

    def __init__(self, wire: Wire, port: int, plan: dict[str, Any]) -> None:
        payloads = [b64decode(payload) for payload in plan["payloads"]]
        self._wire, self._due = wire, plan["due_s"]
        self._published = [wire.published(payload) for payload in payloads]
        self._ends = list(accumulate(map(wire.received, payloads)))
        self._publisher = _connect(port)
        wire.subscribe(self._publisher, 0)
        self._poll = epoll()
        self._connections: dict[int, socket.socket] = {}
        for number in range(1, plan["clients"]):
            connection = _connect(port)
            wire.subscribe(connection, number)
            self._connections[connection.fileno()] = connection
        self._connections[self._publisher.fileno()] = self._publisher
        for descriptor, connection in self._connections.items():
            connection.setblocking(False)
            self._poll.register(descriptor, EPOLLIN)
        self._got = dict.fromkeys(self._connections, 0)
        self._lags: list[float] = []
        self._extra = 0

    def run(self) -> dict[str, float]:
        began, last = time.monotonic(), self._due[-1][-1]
        published, due = 0, len(self._connections) * sum(map(len, self._due))
        while len(self._lags) < due and time.monotonic() < began + last + DRAIN_S:
            now = time.monotonic() - began
            while published < len(self._due) and self._due[published][-1] <= now:
                self._publish(self._published[published])
                published += 1
            wait = self._due[published][-1] - now if published < len(self._due) else 0.1
            for descriptor, _ in self._poll.poll(max(0.0, min(wait, 0.1))):
                self._receive(descriptor, began)
        lags = sorted(self._lags) or [0.0]
        return {
            "deliveries": len(self._lags),
            "due": due,
            "bytes": sum(self._got.values()) + self._extra,
            "p50_ms": lags[len(lags) // 2] * 1e3,
            "p95_ms": lags[len(lags) * 95 // 100] * 1e3,
        }

    def _publish(self, frame: bytes) -> None:
        self._publisher.setblocking(True)
        self._publisher.sendall(frame)
        self._publisher.setblocking(False)

    def _receive(self, descriptor: int, began: float) -> None:
        connection, before = self._connections[descriptor], self._got[descriptor]
        chunk = connection.recv(CHUNK)
        if not chunk:
            raise ConnectionError("the server closed a connection")
        extra = self._wire.answered(connection, chunk)
        self._extra += extra
        got = self._got[descriptor] = before + len(chunk) - extra
        now = time.monotonic() - began
        for number in range(bisect_right(self._ends, before), bisect_right(self._ends, got)):
            self._lags += [now - due for due in self._due[number]]


def _connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def main(protocol: str, port: str, plan: str) -> None:
    die_with_parent(os.getppid())
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    fanout = Fanout(WIRES[protocol], int(port), json.loads(Path(plan).read_text(encoding="utf-8")))
    print("ready", flush=True)
    sys.stdin.readline()
    gc.disable()
    print(json.dumps(fanout.run()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
